// Times are shown in the zone of the browser, unless a person has set one: a cookie tells it to the
// server.

const root = document.documentElement;
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const cookie = `zone=${zone}`;
const isTold = () => document.cookie.split("; ").includes(cookie);

if (zone && !isTold()) document.cookie = `${cookie}; path=/; max-age=31536000; samesite=lax`;

// The first page that a browser ever sees, and that of a traveller, is drawn in another zone. It is
// loaded once more; not again and again, for the server may not know the zone.
const drawn = root.dataset.zone;
if (drawn && drawn !== zone && isTold() && sessionStorage.getItem("zone") !== zone) {
  sessionStorage.setItem("zone", zone);
  location.reload();
}
