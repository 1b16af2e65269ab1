// On the page of a new chat: what the chosen agent can do, and its examples. What is typed stays.

const byId = (id) => document.getElementById(id);
const chosen = () => byId("composer").elements.agent?.value;

export async function introduce() {
  const { agent, from } = byId("introduction")?.dataset ?? {};
  const wanted = chosen();
  if (!from || !wanted || agent === wanted) return;
  const request = { headers: { "HX-Request": "true" }, redirect: "error" };
  const answer = await fetch(`${from}?agent=${wanted}`, request).catch(() => null);
  const html = answer?.ok ? await answer.text() : "";
  // Somebody who goes through the list with the arrow keys has chosen another one since.
  if (chosen() !== wanted) return;
  if (!html) return void document.dispatchEvent(new Event("parley:failed"));
  byId("introduction").outerHTML = html;
  byId("status").textContent = byId("introduction").querySelector("p")?.textContent ?? "";
}
