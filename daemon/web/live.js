// The live page: asks the REST API once a second and shows what it says. Everything shown is set as text, never as
// markup, so no name or reason can act as either.

const kEvery_ms = 1000;
const kDeadline_ms = 8000;
const kTrialsShown = 15;
const kTokenKey = "brink-token";
const kOpenStates = ["pending", "running", "paused", "stopping"];
const kVerdicts = {
  sustained: ["●", "good"],
  overloaded: ["✕", "bad"],
  generator_limited: ["◐", "odd"],
  invalid: ["⊘", "odd"],
};

const kLimits = { io_idle: "IO idle", isr_churn: "ISR churn", quota: "a broker's quota", delivery: "deliveries", generator: "the load agents" };
const kAgentsEvery_ms = 10000;

const byId = (id) => document.getElementById(id);

// ---- numbers and words, as the command line writes them

function count(value) {
  if (value === null || value === undefined) return "–";
  for (const [factor, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= factor * 0.9995) return digits(value / factor) + unit;
  }
  return String(Number(digits(value)));
}
function digits(value) {
  const whole = Math.max(1, Math.floor(Math.log10(Math.max(value, 1e-9))) + 1);
  return value.toFixed(Math.max(0, 3 - whole));
}
function size(bytes) {
  for (const [factor, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (bytes >= factor && (bytes * 10) % factor === 0) return `${bytes / factor} ${unit}`;
  }
  return `${bytes} B`;
}
function share(value) {
  return `${Number((value * 100).toFixed(1))}%`;
}
function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
function words(name) {
  return name.replaceAll("_", " ");
}
function timeOfDay(date) {
  return date.toLocaleTimeString("en-GB");
}

// ---- the document

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
function setText(id, text) {
  const target = byId(id);
  // Only what changed: a screen reader would repeat it, a selection would be lost.
  if (target.textContent !== text) target.textContent = text;
}
function show(id, shown) {
  byId(id).hidden = !shown;
}
const painted = new Map();
/** Rebuilds the content of an element when the data behind it has changed. */
function paint(id, data, build) {
  const key = JSON.stringify(data);
  if (painted.get(id) === key) return;
  painted.set(id, key);
  byId(id).replaceChildren(...build());
}

// ---- asking

class NeedsToken extends Error {}

async function ask(path) {
  const token = sessionStorage.getItem(kTokenKey);
  const response = await fetch("/api/v1" + path, {
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(kDeadline_ms),
  });
  if (response.status === 401) throw new NeedsToken();
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail ?? `the controller answered ${response.status}`);
  return answer;
}

/** The sweep that was chosen, else the newest that is open, else the newest. */
function choose(sweeps) {
  const wanted = decodeURIComponent(location.hash.slice(1));
  return sweeps.find((s) => s.id === wanted) ?? sweeps.find((s) => kOpenStates.includes(s.state)) ?? sweeps[0];
}

// ---- showing

function stateLook(state) {
  if (state === "succeeded" || state === "done") return ["✓ ", "good"];
  if (state === "failed") return ["✕ ", "bad"];
  if (state === "cancelled") return ["■ ", "odd"];
  if (state === "running") return ["▶ ", "live"];
  return ["", ""];
}
function stateCell(state) {
  const [sign, look] = stateLook(state);
  return element("td", sign + state, `word ${look}`);
}

function showNow(sweep) {
  const now = sweep.progress.current;
  show("now", Boolean(now));
  if (!now) return;
  const phase = now.phase ? words(now.phase) : "between trials";
  const left = now.phase_ends_in_s === null ? "" : `, ${clock(now.phase_ends_in_s)} left`;
  const load = now.producers > 0
    ? `${size(now.message_bytes)}, trial ${now.trial}: ${now.producers} producers × ${count(now.rate_each)} = ` +
      `${count(now.producers * now.rate_each)} messages/s — `
    : "";
  setText("now-load", `${load}${phase}${left}`);
  setText("now-why", now.why ?? "");
  const figures = [];
  if (now.worst_idle !== null) {
    figures.push([now.worst_broker === null ? "IO idle, worst" : `IO idle, broker ${now.worst_broker}`, share(now.worst_idle)]);
  }
  if (now.isr_churn !== null) figures.push(["ISR churn", share(now.isr_churn)]);
  if (now.acked_msgs_per_s !== null) figures.push(["acknowledged, messages/s", count(now.acked_msgs_per_s)]);
  if (now.agent_cpu !== null) figures.push(["busiest agent, CPU", share(now.agent_cpu)]);
  paint("now-figures", figures, () => figures.map(([name, value]) => {
    const pair = element("div");
    pair.append(element("dt", name), element("dd", value));
    return pair;
  }));
}

function limitText(point) {
  const limit = point.measured_msgs_per_s ?? point.lower_msgs_per_s;
  if (limit === null) return point.upper_msgs_per_s === null ? "–" : `below ${count(point.upper_msgs_per_s)}`;
  if (point.upper_msgs_per_s === null) return point.state === "done" ? `${count(limit)}, at least` : count(limit);
  return `${count(limit)} (${count(point.lower_msgs_per_s)}–${count(point.upper_msgs_per_s)})`;
}
function pointRow(point) {
  const row = element("tr");
  const ends = point.lower_producers === null && point.upper_producers === null
    ? "–" : `${point.lower_producers ?? "–"} / ${point.upper_producers ?? "–"}`;
  const why = [point.limited_by ? kLimits[point.limited_by] ?? words(point.limited_by) : "", point.state_reason].filter(Boolean).join("; ");
  row.append(
    element("td", size(point.message_bytes), "number"), stateCell(point.state), element("td", ends, "number"),
    element("td", limitText(point), "number"), element("td", count(point.measured_mb_per_s), "number"),
    element("td", count(point.p99_ms), "number"), element("td", why || "–"),
    element("td", point.flags.join(", ") || "–"));
  return row;
}
function trialRow(trial) {
  const row = element("tr");
  const [sign, look] = kVerdicts[trial.verdict] ?? ["…", ""];
  const verdict = trial.verdict ? words(trial.verdict) : words(trial.state);
  row.append(
    element("td", String(trial.trial), "number"), element("td", size(trial.message_bytes), "number"),
    element("td", `${trial.producers} × ${count(trial.rate_each)}/s${trial.purpose === "calibration" ? ", to find the rate" : ""}`, "word"),
    element("td", `${sign} ${verdict}`, `word ${look}`), element("td", trial.reasons.join("; ") || trial.chosen_because));
  return row;
}

function showSweep(sweep, points, trials) {
  const [sign, look] = stateLook(sweep.state);
  setText("sweep-name", sweep.name || `Sweep ${sweep.id}`);
  setText("sweep-state", sign + sweep.state);
  byId("sweep-state").className = `state ${look}`;
  document.title = `${sweep.state} – ${sweep.name || sweep.id} – brink`;
  setText("sweep-about", `sweep ${sweep.id} on cluster ${sweep.cluster}, topic ${sweep.topic}`);
  setText("sweep-reason", sweep.state_reason);
  show("sweep-reason", sweep.state_reason !== "");
  const { points_total: total, points_done: done, points_failed: failed, trials_finished: finished } = sweep.progress;
  byId("sweep-progress").max = Math.max(1, total);
  byId("sweep-progress").value = done + failed;
  const left = sweep.remaining_s === null ? ""
    : `, about ${clock(sweep.remaining_s)} left (at most ${clock(sweep.remaining_worst_s)})`;
  setText("sweep-times", `${done} of ${total} sizes done${failed > 0 ? `, ${failed} failed` : ""}, ${finished} trials, ` +
    `${clock(sweep.elapsed_s)} elapsed${left}`);
  showNow(sweep);
  paint("points", points, () => points.map(pointRow));
  const latest = trials.slice(-kTrialsShown).reverse();
  paint("trials", latest, () => latest.map(trialRow));
}

function showList(sweeps, chosen) {
  const rows = sweeps.map((s) => [s.id, s.cluster, s.name, s.state, `${s.progress.points_done}/${s.progress.points_total}`,
    s.started_at ?? s.created_at, s.id === chosen.id]);
  paint("sweeps", rows, () => rows.map(([id, cluster, name, state, sizes, started, current]) => {
    const row = element("tr", undefined, current ? "chosen" : "");
    const open = element("button", id);
    open.type = "button";
    open.setAttribute("aria-label", `show sweep ${id}`);
    if (current) open.setAttribute("aria-current", "true");
    open.addEventListener("click", () => { location.hash = encodeURIComponent(id); });
    const first = element("td");
    first.append(open);
    row.append(first, element("td", cluster), element("td", name || "–"), stateCell(state),
      element("td", sizes, "number"), element("td", started ? new Date(started).toLocaleString() : "–", "word"));
    return row;
  }));
}

let emptyShown = -Infinity;
async function showEmpty() {
  // The controller asks every agent each time; that need not be once a second.
  if (performance.now() - emptyShown < kAgentsEvery_ms) return;
  const { clusters } = await ask("/clusters");
  const { agents } = await ask("/agents");
  const cluster = clusters[0]?.name ?? "NAME";
  const at = location.origin === "http://127.0.0.1:8600" ? "" : ` --controller ${location.origin}`;
  setText("command-check", `brink check ${cluster}${at}`);
  setText("command-start", `brink sweep start --cluster ${cluster} --sizes 100,1k,10k --watch${at}`);
  setText("command-plot", `brink plot${at}`);
  const missing = [];
  if (clusters.length === 0) missing.push("The configuration lists no cluster: add a [[clusters]] with its brokers' metrics addresses.");
  const ready = agents.filter((a) => a.state === "ready").length;
  if (agents.length === 0) missing.push("The configuration lists no agent: add an [[agents]] with its url.");
  else missing.push(`${ready} of ${agents.length} agents ready.`);
  setText("empty-hint", missing.join(" "));
  emptyShown = performance.now();
  document.title = "brink";
}

// ---- once a second

let lastGood = null;

/** Nothing is shown when a later look has begun meanwhile: somebody chose another sweep. */
async function refresh(isLatest) {
  const { sweeps } = await ask("/sweeps?page_size=20");
  const chosen = choose(sweeps);
  if (chosen) {
    const path = `/sweeps/${encodeURIComponent(chosen.id)}`;
    const [{ points }, { trials }] = await Promise.all([ask(`${path}/points`), ask(`${path}/trials`)]);
    if (!isLatest()) return;
    showSweep(chosen, points, trials);
    showList(sweeps, chosen);
  } else {
    await showEmpty();
  }
  show("empty", !chosen);
  show("sweep", Boolean(chosen));
  show("others", sweeps.length > 1);
  show("main", true);
}

function away(error) {
  const since = lastGood ? `reconnecting, data up to ${timeOfDay(lastGood)}` : "the controller does not answer, trying again";
  const said = error instanceof TypeError || error.name === "TimeoutError" ? "" : ` (${error.message})`;
  setText("connection", since + said);
  show("connection", true);
}

let timer = 0;
let looks = 0;
async function tick() {
  clearTimeout(timer);
  const mine = ++looks;
  const isLatest = () => mine === looks;
  try {
    await refresh(isLatest);
    lastGood = new Date();
    show("connection", false);
    show("token-form", false);
  } catch (error) {
    if (error instanceof NeedsToken) {
      askForToken();
      return; // nothing to repeat until there is a token
    }
    away(error);
  }
  if (!isLatest()) return;
  timer = setTimeout(tick, kEvery_ms);
}

function askForToken() {
  const refused = sessionStorage.getItem(kTokenKey) !== null;
  sessionStorage.removeItem(kTokenKey);
  show("main", false);
  show("connection", false);
  show("token-form", true);
  setText("token-wrong", refused ? "The controller did not accept this token." : "");
  byId("token").focus();
}

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(kTokenKey, byId("token").value.trim());
  byId("token").value = "";
  tick();
});
addEventListener("hashchange", tick);
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const code = byId(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // Without HTTPS or permission there is no clipboard: select it, for Ctrl-C.
      getSelection().selectAllChildren(code);
      button.textContent = "Press Ctrl-C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
tick();
