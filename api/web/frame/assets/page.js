// The pages work without this.
const $ = id => document.getElementById(id);
const store = "ushuru.history";
const read = () => { try { return JSON.parse(localStorage.getItem(store)) || []; } catch { return []; } };
const write = list => { try { localStorage.setItem(store, JSON.stringify(list)); } catch { /* no room, or not allowed */ } };

$("problem")?.focus();

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.onclick = async () => {
    const field = $(button.dataset.copy);
    field.select();
    try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand("copy"); }
    button.textContent = button.dataset.done;
  };
}

const soon = document.querySelector("[data-reload]");
if (soon) {
  document.querySelector("meta[http-equiv]").remove();
  stop(); // the reload that it began
  setTimeout(() => location.reload(), 1000 * soon.dataset.reload);
}

// The auction sheet is read after the number of its car is shown.
const reading = document.querySelector("[data-reading]");
const look = seconds => setTimeout(() => {
  const request = new XMLHttpRequest();
  request.open("GET", reading.dataset.reading);
  request.responseType = "document";
  request.onloadend = () => {
    if (request.status !== 200) return look(Math.min(2 * seconds, 60));
    for (const id of ["doubt", "send", "minds"]) $(id).replaceWith(request.response.getElementById(id));
  };
  request.send();
}, 1000 * seconds);
if (reading) look(3);

// What makes a photo smaller is loaded when a file is chosen.
for (const file of document.querySelectorAll("[data-script]")) file.addEventListener("change", () => import(file.dataset.script));

const unfold = () => document.querySelectorAll("details").forEach(part => { part.open = true; });
addEventListener("beforeprint", unfold);
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.onclick = () => { unfold(); print(); };
}

const shown = document.querySelector("[data-history]");
if (shown) {
  const at = location.pathname + location.search.replace(/.lang=\w+$|lang=\w+&/, "");
  write([{at, title: shown.dataset.history}, ...read().filter(entry => entry.at !== at)].slice(0, 30));
}

const history = $("history");
if (history && read().length) {
  const field = history.dataset.field; // of a form that takes one of the cars
  for (const {at, title} of read()) {
    if (!(field ? /^\/(e|bid)\/[A-Z2-7]{26}/ : /^\/[a-z]+\/[A-Z2-7]{26}/).test(at)) continue;
    const link = document.createElement(field ? "button" : "a");
    if (field) Object.assign(link, {name: field, value: at, className: "link"});
    else link.href = at;
    link.textContent = title;
    const row = document.createElement("li");
    row.append(link);
    history.querySelector("ul").append(row);
  }
  history.hidden = false;
  history.querySelector(":scope > button").onclick = () => { write([]); history.hidden = true; };
}
