"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const kinds = ["gpu", "framework", "runtime"];
const chosen = {};
const has = { gpu: (r, v) => v in r.gpus || (data.gpus.includes(v) && Object.keys(r.gpus).length === 0), framework: (r, v) => v in r.frameworks, runtime: (r, v) => r.runtimes.includes(v) };
const options = {
  gpu: data.gpus, framework: [...new Set(data.releases.flatMap((r) => Object.keys(r.frameworks)))].sort(),
  runtime: [...new Set(data.releases.flatMap((r) => r.runtimes))].sort(),
};
// The page may be older than its releases: what they are is a matter of today.
const today = new Date().toISOString().slice(0, 10);
for (const r of data.releases) {
  const reached = (day) => day && day <= today;
  if (r.status === "yanked") r.standing = "yanked";
  else if (reached(r.expires)) r.standing = "expired";
  else if (r.status === "deprecated" || reached(r.deprecate_on)) r.standing = "deprecated";
  for (const shown of document.querySelectorAll(`[data-standing="${r.id}"]`)) {
    shown.className = shown.textContent = r.standing;
  }
}
const usable = data.releases.filter((r) => r.standing === "current" || r.standing === "deprecated");
const fits = (wish) => usable.filter((r) => kinds.every((kind) => !wish[kind] || has[kind](r, wish[kind])));

function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

function days(date) {
  return Math.round((Date.parse(date + "T00:00:00Z") - Date.now()) / 86400000);
}

function say(release) {
  const item = element("li");
  const link = element("a", release.title);
  link.href = "#" + release.id;
  const verdict = chosen.gpu in release.gpus ? release.gpus[chosen.gpu] + " on " + chosen.gpu : "";
  const hardware = release.hardware + (release.driver && data.driver ? ", you have " + data.driver : "");
  const rest = [release.standing, release.frameworks_text, verdict, hardware, (release.fetch_text[chosen.runtime] || release.download_text) + " to download"];
  item.append(link, ": " + rest.filter(Boolean).join("; "));
  return item;
}

function draw() {
  for (const kind of kinds) {
    const box = document.getElementById(kind);
    for (const label of [...box.querySelectorAll("label")]) label.remove();
    for (const value of ["", ...options[kind]]) {
      const label = element("label");
      const input = element("input");
      Object.assign(input, { type: "radio", name: kind, value, checked: (chosen[kind] || "") === value });
      const count = fits({ ...chosen, [kind]: value }).length;
      label.classList.toggle("out", count === 0);
      const text = value === "" ? "any" : kind === "gpu" ? data.names[value] || value : value;
      label.append(input, count ? text : text + " (no release: " + why(kind, value) + ")");
      input.addEventListener("change", () => { chosen[kind] = value; remember(); draw(); box.querySelector("input:checked").focus(); });
      box.append(label);
    }
  }
  const found = fits(chosen);
  const answer = document.getElementById("answer");
  answer.replaceChildren(found.length ? found.length + (found.length === 1 ? " release fits" : " releases fit") : "No release fits this choice.");
  const list = element("ul");
  list.append(...found.map(say));
  if (found.length) answer.append(list);
}

function why(kind, value) {
  const others = kinds.filter((other) => other !== kind && chosen[other] && !fits({ [kind]: value, [other]: chosen[other] }).length);
  return others.length ? "none of those for " + others.map((other) => chosen[other]).join(" and ") : "not with these choices together";
}

function remember() {
  const words = kinds.filter((kind) => chosen[kind]).map((kind) => kind + "=" + encodeURIComponent(chosen[kind]));
  history.replaceState(null, "", words.length ? "#" + words.join("&") : location.pathname + location.search);
}

function restore() {
  for (const word of location.hash.slice(1).split("&")) {
    const [kind, value] = word.split("=");
    if (kinds.includes(kind) && value) chosen[kind] = decodeURIComponent(value);
  }
}

document.getElementById("smi").addEventListener("input", (event) => {
  const text = event.target.value;
  const driver = text.match(/Driver Version:\s*([\d.]+)/) || text.match(/\b(\d{3}\.\d+(?:\.\d+)?)\b/);
  data.driver = driver ? driver[1] : undefined;
  const lower = text.toLowerCase();
  const found = Object.entries(data.products).find(([name]) => lower.includes(name));
  if (found && data.gpus.includes(found[1])) chosen.gpu = found[1];
  remember();
  draw();
});
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}
for (const time of document.querySelectorAll("time")) {
  const left = days(time.dateTime);
  time.after(left >= 0 ? " (in " + left + " days)" : " (" + -left + " days ago)");
}
// A page on a server knows where its repository is.
const place = location.protocol === "file:" ? decodeURIComponent(new URL(".", location.href).pathname) : new URL(".", location.href).href;
for (const shown of document.querySelectorAll("[data-place]")) shown.textContent = place;
document.getElementById("picker").hidden = false;
restore();
draw();
