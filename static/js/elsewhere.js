// A page without a conversation (settings, administration) keeps its tab open: an answer that the
// tab showed before goes on.
import { tabId, tellOfClosing } from "./socket.js";

const LOGGED_OUT = 4401;
let socket = null;
let retries = 0;

function say(command) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(command));
}

function connect() {
  socket = new WebSocket(`${location.origin.replace("http", "ws")}/ws/`, "parley.v1+json");
  socket.addEventListener("open", () => {
    retries = 0;
    say({ command: "attach", tab_id: tabId() });
  });
  socket.addEventListener("close", ({ code }) => {
    if (code === LOGGED_OUT) return;
    setTimeout(connect, Math.random() * 1000 * 2 ** Math.min(retries, 5));
    retries += 1;
  });
}

connect();
tellOfClosing(say);
