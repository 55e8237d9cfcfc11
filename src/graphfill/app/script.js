"use strict";
const MOST_BYTES = 2 ** 30;
const LINKS_SAY = {
  "inferable": "a lot", "weakly": "a little", "not from this graph": "next to nothing",
  "unknown": "too little is known to tell",
};
const at = (selector, within = document) => within.querySelector(selector);
const all = selector => [...document.querySelectorAll(selector)];
const made = (tag, properties) => Object.assign(document.createElement(tag), properties);
const counted = number => number.toLocaleString("en");
const show = (id, on) => { at(id).hidden = !on; };
const refuse = sentence => { at("#problem").textContent = sentence; show("#problem", sentence); };

async function ask(method, path, body) {
  const answer = await fetch(path, { method, body }).catch(() => {
    throw new Error("graphfill does not answer: is it still running in the terminal?");
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

async function attempt(work) {
  refuse("");
  try { await work(); } catch (error) { refuse(error.message); }
}

async function upload(role, file) {
  const label = at(`#${role}`), said = at("output", label);
  for (const id of ["#seen", "#done"]) show(id, false);
  label.classList.remove("here");
  said.textContent = "choose another file";
  if (file.size > MOST_BYTES) throw new Error(`${file.name} is too large for this page: fill it with the command.`);
  await ask("PUT", `${role}?name=${encodeURIComponent(file.name)}`, file);
  said.textContent = "ready";
  label.classList.add("here");
  if (all(".here").length == 2) await run("check");
}

async function run(command) {
  const asked = { options: at("#options").value, intervals: at("#intervals").checked };
  const boxes = all("tbody input"), chosen = boxes.filter(box => box.checked).map(box => box.value);
  if (command == "fill") {
    if (!chosen.length) throw new Error("Choose at least one column to fill.");
    if (chosen.length < boxes.length) asked.columns = chosen;
  }
  await ask("POST", command, JSON.stringify(asked));
  show("#done", false);
  if (command == "check") show("#seen", false);
  show("#working", true);
  at("#working").scrollIntoView({ block: "nearest" });
  at("progress").removeAttribute("value");
  for (const button of all("#fill, #again")) button.disabled = true;
  let state;
  try {
    while ((state = await ask("GET", "state")).running) {
      at("#stage").textContent = state.stage || "looking at the files";
      if (state.share) at("progress").value = state.share;
      await new Promise(done => setTimeout(done, 250));
    }
  } finally {
    show("#working", false);
    for (const button of all("#fill, #again")) button.disabled = false;
  }
  if (state.error) throw new Error(state.error);
  (command == "check" ? checked : filled)(state.summary);
}

function checked(summary) {
  const rows = summary.columns.filter(column => column.n_missing).map(column => {
    const row = made("tr"), name = column.name;
    const box = made("input", { type: "checkbox", checked: true, value: name, ariaLabel: `fill ${name}` });
    row.insertCell().append(column.verdict ? box : "");
    row.append(made("th", { scope: "row", textContent: name }));
    row.insertCell().append(counted(column.n_missing));
    row.insertCell().append(LINKS_SAY[column.verdict] || "–");
    row.insertCell().append(column.note ? `${column.kind}: ${column.note}` : column.kind);
    return row;
  });
  at("tbody").replaceChildren(...rows);
  at("#seen ul").replaceChildren(...summary.notes.map(note => made("li", { textContent: note })));
  at("#seen h2").textContent = !summary.missing ? "Nothing is missing"
    : `${counted(summary.missing)} cells are missing in ${counted(summary.rows)} rows`;
  show("#seen", true);
  show("#fill", at("tbody input"));
}

function filled(summary) {
  at("#done h2").textContent = `${counted(summary.filled)} of ${counted(summary.missing)} missing cells are filled`;
  show("#done", true);
  at("iframe").src = `report?${Date.now()}`;
  at("#done").scrollIntoView();
}

for (const role of ["table", "edges"]) {
  const label = at(`#${role}`), input = at("input", label);
  input.onchange = () => input.files.length && attempt(() => upload(role, input.files[0]));
  label.ondragover = event => { event.preventDefault(); label.classList.add("over"); };
  label.ondragleave = () => label.classList.remove("over");
  label.ondrop = event => {
    label.ondragleave(event.preventDefault());
    input.files = event.dataTransfer.files;
    input.onchange();
  };
}
at("#fill").onclick = () => attempt(() => run("fill"));
at("#again").onclick = () => attempt(() => run("check"));
at("#stop").onclick = () => attempt(() => ask("POST", "stop"));
