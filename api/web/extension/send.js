// Reads the tab whose button was pressed, sends it to the server, and becomes the page of
// the answer. The page lies in the memory of this tab only.
import {accessTo, fill, list, say, sizeOf} from "./common.js";

const $ = id => document.getElementById(id);
const most = 4 * 1024 * 1024; // bytes of a page, as the server has it
const timeout = 120_000; // milliseconds until the server must have answered

// Failure is why nothing was estimated, as a sentence.
class Failure extends Error {}

// read returns the page of the tab, and shows what was removed from it.
async function read() {
  let page;
  try {
    const target = {tabId: Number(new URLSearchParams(location.search).get("tab"))};
    [{result: page}] = await chrome.scripting.executeScript({target, files: ["read.js"]});
  } catch {
    throw new Failure(say("cannot_read"));
  }
  if (!page || !/^https?:/.test(page.url)) throw new Failure(say("cannot_read"));
  page.bytes = new Blob([page.html]).size;
  list($("removed"), page.removed);
  $("shown").hidden = false;
  if (page.bytes > most) throw new Failure(say("too_large", sizeOf(page.bytes)));
  return page;
}

// post sends a page, and returns the address of its answer.
async function post(server, page) {
  const form = new FormData();
  form.set("u", page.url);
  form.set("page", page.html); // the last: the server reads it only when the rest is right
  let response;
  try {
    response = await fetch(`${server}/go`, {
      method: "POST", body: form, credentials: "include", headers: {Accept: "application/json"},
      signal: AbortSignal.timeout(timeout),
    });
  } catch {
    throw new Failure(say("offline", server));
  }
  const {origin, pathname} = new URL(response.url);
  if (response.redirected && origin === server && /^\/e\/[A-Z2-7]{26}$/.test(pathname)) return response.url;
  let problem = {};
  try { problem = await response.json(); } catch { /* not from Ushuru */ }
  throw new Failure(problem.text?.[say("language")] || problem.error || say("no_server", server));
}

async function send() {
  $("problem").hidden = $("actions").hidden = true;
  $("progress").hidden = false;
  try {
    const {server} = await chrome.storage.local.get("server");
    if (!server || !await chrome.permissions.contains(accessTo(server))) {
      location.replace("options.html");
      return;
    }
    $("hand").href = `${server}/hand`;
    const page = await read();
    const site = new URL(page.url).hostname;
    $("what").textContent = say("what", site, server, sizeOf(page.bytes));
    const answer = await post(server, page);
    await chrome.storage.local.set({last: {site, server, bytes: page.bytes, removed: page.removed, at: Date.now()}});
    location.replace(answer);
  } catch (error) {
    $("problem").textContent = error instanceof Failure ? error.message : say("failed");
    $("progress").hidden = true;
    $("problem").hidden = $("actions").hidden = false;
    $("problem").focus();
  }
}

fill();
$("again").onclick = send;
send();
