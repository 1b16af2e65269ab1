// The switch for notifications asks the browser, which asks the person; a refusal switches it off.

const box = document.querySelector("input[name=notify]");

box?.addEventListener("change", async () => {
  if (!box.checked) return;
  const answer = window.Notification ? await Notification.requestPermission() : "denied";
  if (answer === "granted") return;
  box.checked = false;
  document.getElementById("notify-refused").hidden = false;
});
