// Posts a form for a script, and does what the answer says: a toast, another page, or nothing.

const byId = (id) => document.getElementById(id);
let leaving = false;

// A request that is cut off because the page is left has not failed.
addEventListener("beforeunload", () => (leaving = true));

const HEADERS = () => ({ "HX-Request": "true", "HX-Current-URL": location.href });

// A redirect would lead to the log-in page, so nothing was done: that is a failure.
export async function ask(address, body) {
  const method = body ? "POST" : "GET";
  const request = { method, body, headers: HEADERS(), redirect: "error" };
  const answer = await fetch(address, request).catch(() => null);
  if (answer?.ok || answer?.status === 422) return answer;
  if (!leaving) document.dispatchEvent(new Event("parley:failed"));
  return null;
}

// Whether it was done.
export async function follow(answer) {
  if (!answer?.ok) return false;
  const away = answer.headers.get("HX-Redirect");
  if (away) {
    if (!leaving) location.assign(away);
    return false;
  }
  if (answer.status === 200) byId("toasts").insertAdjacentHTML("beforeend", await answer.text());
  return true;
}

export const post = async (address, body) => follow(await ask(address, body));
