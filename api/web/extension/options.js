// The server that pages are sent to, and what was sent last.
import {accessTo, fill, list, originOf, say, sizeOf} from "./common.js";

const $ = id => document.getElementById(id);

const tell = (id, text) => {
  $("status").textContent = id === "status" ? text : "";
  $("problem").textContent = id === "problem" ? text : "";
  $("problem").hidden = id !== "problem";
  if (id === "problem") $("problem").focus();
};

// connect stores a server that is Ushuru, whose first page makes the visitor known, and
// gives back the permission for the one before.
async function connect(server) {
  try {
    const home = await fetch(`${server}/`, {credentials: "include", signal: AbortSignal.timeout(15_000)});
    if (!(await home.text()).includes('action="/go"')) throw new Error("another server");
  } catch {
    tell("problem", say("no_server", server));
    return;
  }
  const {server: before} = await chrome.storage.local.get("server");
  await chrome.storage.local.set({server});
  const old = before && accessTo(before);
  if (old && old.origins[0] !== accessTo(server).origins[0]) await chrome.permissions.remove(old);
  tell("status", say("saved"));
}

// The browser asks the user only while it handles the press of the button.
$("form").onsubmit = event => {
  event.preventDefault();
  const server = originOf($("server").value);
  if (!server) {
    tell("problem", say("bad_address"));
    return;
  }
  $("server").value = server;
  chrome.permissions.request(accessTo(server)).then(
    granted => granted ? connect(server) : tell("problem", say("not_allowed")),
    () => tell("problem", say("need_https")));
};

async function show() {
  const {server, last} = await chrome.storage.local.get(["server", "last"]);
  const filled = await (await fetch("server.json")).json();
  $("server").value = server || filled.server;
  if (!last) return;
  $("what").textContent = `${new Date(last.at).toLocaleString()} · ${say("what", last.site, last.server, sizeOf(last.bytes))}`;
  list($("removed"), last.removed);
  $("last").hidden = false;
}

fill();
show();
