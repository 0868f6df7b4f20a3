// Without this the page loads again by itself.
document.querySelector("meta[http-equiv]").remove();
stop();
const $ = id => document.getElementById(id);
const steps = $("steps");
const states = ["waiting", "running", "done", "failed"];
const say = (id, text) => { if ($(id).textContent !== text) $(id).textContent = text; };

const reload = seconds => setTimeout(async () => {
  try { if ((await fetch(location.href, {method: "HEAD"})).status < 500) return location.reload(); } catch { }
  say("why", steps.dataset.moment);
  reload(Math.min(2 * seconds + 1, 30));
}, 1000 * seconds);

const source = new EventSource(steps.dataset.events);
source.addEventListener("steps", event => {
  const {steps: list, why, car} = JSON.parse(event.data);
  for (const step of list) {
    const row = steps.querySelector(`[data-step="${CSS.escape(step.name)}"]`);
    if (!row || row.dataset.state === step.state) continue;
    row.dataset.state = step.state;
    const at = states.indexOf(step.state);
    row.firstElementChild.textContent = "○◐●✕"[at];
    row.lastElementChild.textContent = steps.dataset.words.split("|")[at];
  }
  document.querySelector("progress").value = list.filter(step => step.state === "done").length;
  const text = why[document.documentElement.lang] || "";
  say("why", text);
  $("late").hidden = !text;
  say("car", car);
});
source.addEventListener("end", () => { source.close(); reload(0); });
source.onerror = () => {
  say("why", steps.dataset.moment);
  if (source.readyState === EventSource.CLOSED) reload(3);
};
