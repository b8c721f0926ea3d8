/* The page of one study: counts, marks, choices; each is saved at once, and sent again until the server has it. */
"use strict";
const state = JSON.parse(document.getElementById("state").textContent);
const CLIENT = Array.from(crypto.getRandomValues(new Uint8Array(12)), b => b.toString(16).padStart(2, "0")).join("");
const RETRY_MS = 2000;
const PATIENCE_MS = 20_000; // for one answer; what is sent twice is counted once
const KEPT_ALIVE = 60_000; // characters that a browser sends even while the page is closed
const status = document.getElementById("saved");
let picked = null; // the words that are selected: {text, report, start, end}, in code points

// --- saving

function say(text, bad) {
  status.textContent = text;
  status.classList.toggle("bad", Boolean(bad));
}

class Item {
  constructor(key, { content, revision, writer }) {
    Object.assign(this, { key, content, revision, client: CLIENT, step: 0, waiting: false, sending: null, refused: "", name: `${state.store}/${key}` });
    const kept = this.kept();
    // An answer that this browser gave and the server has not confirmed: it follows what the server has, or nothing does.
    if (kept && (kept.revision === revision || kept.client === writer)) {
      Object.assign(this, { content: kept.content, client: kept.client, step: kept.step });
      this.send();
    } else if (kept) {
      localStorage.removeItem(this.name);
    }
  }

  kept() {
    try { return JSON.parse(localStorage.getItem(this.name)); } catch { return null; }
  }

  save() {
    this.step += 1;
    if (!status.classList.contains("bad")) say("Saving…");
    try {
      const { content, client, step, revision } = this;
      localStorage.setItem(this.name, JSON.stringify({ content, client, step, revision }));
    } catch { /* private windows may keep nothing */ }
    this.send();
  }

  send() {
    this.waiting = true;
    this.refused = "";
    this.sending ??= this.deliver().finally(() => { this.sending = null; });
    return this.sending;
  }

  async deliver() {
    while (this.waiting) {
      this.waiting = false;
      const { key, content, client, step, revision } = this;
      const answer = await post("save", { n: state.n, item: key, content, client, step, revision });
      if (answer?.ok) {
        this.revision = answer.reply.revision;
        this.client = CLIENT;
        if (this.waiting) continue;
        localStorage.removeItem(this.name);
        const unsaved = Object.values(items).some(item => item !== this && (item.sending || item.refused));
        if (!unsaved) say(`Saved at ${new Date().toLocaleTimeString()}.`);
      } else if (answer) {
        if ([400, 409].includes(answer.status)) localStorage.removeItem(this.name); // else it is sent at the next visit
        this.refused = `Not saved: ${answer.reply.message}`;
        say(this.refused, true);
        return;
      } else {
        this.waiting = true;
        await retryLater();
      }
    }
  }
}

// What the server answers, or null if it did not answer, broke off or is out of order: then what was sent is sent again.
async function post(path, value) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(value);
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch(path, { method: "POST", headers, body, signal, keepalive: body.length < KEPT_ALIVE });
    return answer.status < 500 ? { ok: answer.ok, status: answer.status, reply: await answer.json() } : null;
  } catch {
    return null;
  }
}

function retryLater() {
  say("Not saved yet: the server does not answer. Trying again; keep this page open.", true);
  return new Promise(resolve => setTimeout(resolve, RETRY_MS));
}

const items = Object.fromEntries(Object.entries(state.items).map(([key, held]) => [key, new Item(key, held)]));
addEventListener("beforeunload", event => {
  if (Object.values(items).some(item => item.sending)) event.preventDefault();
});

// --- texts: code points of the report as it was given ↔ places in the page

function textOf(where, report) {
  return where === "reference" ? state.reference : state.reports[report];
}

function words(where, report, start, end) {
  return Array.from(textOf(where, report)).slice(start, end).join("");
}

function write(element, where, report) {
  const text = Array.from(textOf(where, report));
  const marks = [];
  for (const [key, item] of Object.entries(items)) {
    if (report && key !== report) continue;
    for (const [kind, , own] of item.content.errors ?? []) {
      for (const [of, start, end] of own) if (of === where) marks.push({ kind, start, end });
    }
  }
  const cuts = [...new Set([0, text.length, ...marks.flatMap(mark => [mark.start, mark.end])])].sort((a, b) => a - b);
  const pieces = [];
  for (let i = 0; i + 1 < cuts.length; i++) {
    const over = marks.filter(mark => mark.start <= cuts[i] && mark.end >= cuts[i + 1]);
    const piece = text.slice(cuts[i], cuts[i + 1]).join("");
    if (!over.length) { pieces.push(piece); continue; }
    const mark = document.createElement("mark");
    mark.className = `kind-${state.kinds[over[0].kind].name}`;
    mark.textContent = piece;
    const ending = over.filter(each => each.end === cuts[i + 1]).map(each => each.kind);
    if (ending.length) mark.dataset.letter = [...new Set(ending)].join("");
    pieces.push(mark);
  }
  if (text.length === 0) {
    element.classList.add("empty");
    pieces.push("(empty report)");
  }
  element.replaceChildren(...pieces);
}

function reportOf(element) {
  return element.closest(".candidate")?.dataset.report ?? "";
}

function selected() {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const node = range.commonAncestorContainer;
  const element = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest(".report");
  if (!element || element.classList.contains("empty")) return null;
  const before = document.createRange();
  before.selectNodeContents(element);
  before.setEnd(range.startContainer, range.startOffset);
  const chosen = Array.from(range.toString());
  const blank = chosen.findIndex(char => char.trim());
  if (blank < 0) return null;
  const start = Array.from(before.toString()).length + blank;
  return { text: element.dataset.text, report: reportOf(element), start, end: start + Array.from(chosen.join("").trim()).length };
}

function select(element, start, end) {
  const place = offset => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(), left = offset; node; node = walker.nextNode()) {
      const chars = Array.from(node.data);
      if (left <= chars.length) return [node, chars.slice(0, left).join("").length];
      left -= chars.length;
    }
    return [element, element.childNodes.length];
  };
  getSelection().setBaseAndExtent(...place(start), ...place(end));
}

function step(element, event) { // by keyboard: the next word; with Shift one more word
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const text = Array.from(textOf(element.dataset.text, reportOf(element)));
  const spans = [];
  text.forEach((char, i) => {
    if (!char.trim()) return;
    if (spans.length && spans.at(-1)[1] === i) spans.at(-1)[1] = i + 1;
    else spans.push([i, i + 1]);
  });
  if (!spans.length) return;
  const chosen = selected();
  const now = chosen?.text === element.dataset.text && chosen.report === reportOf(element) ? chosen : null;
  const at = word => Math.max(0, Math.min(spans.length - 1, word));
  let first = now ? spans.findIndex(span => span[1] > now.start) : by > 0 ? -1 : spans.length;
  let last = now ? spans.findLastIndex(span => span[0] < now.end) : first;
  if (event.shiftKey && now) last = Math.max(first, at(last + by));
  else first = last = at((by > 0 ? last : first) + by);
  select(element, spans[first][0], spans[last][1]);
}

// --- errors

function takePicked(report) {
  if (!picked || (picked.text === "candidate" && picked.report !== report)) return [];
  const mark = [picked.text, picked.start, picked.end];
  getSelection().removeAllRanges();
  return [mark];
}

function change(report, errors, row = -1, button = 0) { // the focus stays where it was, though the list is new
  items[report].content.errors = errors;
  items[report].save();
  show();
  if (row < 0) return;
  const section = document.querySelector(`.candidate[data-report="${report}"]`);
  const line = section.querySelectorAll(".remarks li")[Math.min(row, errors.length - 1)];
  const buttons = (line ?? section.querySelector(".grid")).querySelectorAll("button:not(:disabled)");
  buttons[Math.min(button, buttons.length - 1)].focus();
}

function count(report, kind, significant, by) {
  const errors = [...items[report].content.errors];
  if (by > 0) {
    if (errors.length < state.most) errors.push([kind, significant, takePicked(report)]);
  } else {
    const same = error => error[0] === kind && error[1] === significant;
    let row = errors.findLastIndex(error => same(error) && !error[2].length);
    if (row < 0) row = errors.findLastIndex(same);
    if (row < 0) return;
    errors.splice(row, 1);
  }
  change(report, errors);
}

function remark(report, error, row) {
  const [kind, significant, marks] = error;
  const { name, title } = state.kinds[kind];
  const errors = () => [...items[report].content.errors];
  const line = document.createElement("li");
  line.className = `kind-${name}`;
  const tag = Object.assign(document.createElement("span"), { className: "tag", textContent: kind });
  tag.setAttribute("aria-hidden", "true");
  const quotes = marks.map(([where, start, end]) => `“${words(where, report, start, end)}”`).join(", ");
  const degree = significant ? "significant" : "not significant";
  const said = Object.assign(document.createElement("span"), { className: "words", textContent: `${title}, ${degree}${quotes ? ": " + quotes : ""}` });
  const button = (text, label, act) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    made.setAttribute("aria-label", `${label} (error ${row + 1} of report ${report}, ${title})`);
    made.addEventListener("click", act);
    return made;
  };
  const add = button("Mark words", "Mark the selected words with this error", () => {
    const mark = takePicked(report);
    if (mark.length) change(report, errors().with(row, [kind, significant, [...marks, ...mark]]), row);
  });
  add.dataset.needs = "words";
  const turn = button(significant ? "Not significant" : "Significant", `Make it ${significant ? "not significant" : "significant"}`, () =>
    change(report, errors().with(row, [kind, !significant, marks]), row));
  const remove = button("Remove", "Remove", () => change(report, errors().toSpliced(row, 1), row, 2));
  line.append(tag, said, add, turn, remove);
  return line;
}

// --- the page

function show() {
  for (const element of document.querySelectorAll(".report")) write(element, element.dataset.text, reportOf(element));
  for (const section of document.querySelectorAll(".candidate:has(.errors)")) {
    const report = section.dataset.report;
    const errors = items[report].content.errors;
    for (const cell of section.querySelectorAll(".count")) {
      const significant = cell.dataset.significant === "yes";
      const number = errors.filter(error => error[0] === cell.dataset.kind && error[1] === significant).length;
      const output = cell.querySelector("output");
      output.textContent = number;
      output.classList.toggle("some", number > 0);
      cell.querySelector("[data-step='-1']").disabled = !number;
    }
    section.querySelector(".remarks").replaceChildren(...errors.map((error, row) => remark(report, error, row)));
  }
  for (const scale of document.querySelectorAll(".scale")) {
    const value = items[scale.dataset.item].content[scale.dataset.field];
    for (const input of scale.querySelectorAll("input")) input.checked = input.value === String(value ?? "");
  }
  showPicked();
}

function showPicked() {
  for (const section of document.querySelectorAll(".candidate:has(.errors)")) {
    const fits = picked && (picked.text === "reference" || picked.report === section.dataset.report);
    const line = section.querySelector(".picked");
    const quote = fits && words(picked.text, picked.report, picked.start, picked.end);
    const text = fits ? `“${quote}” will be marked with the error that you add.` : "Select words in a report to mark them with the next error, or count errors without marks.";
    if (line.textContent !== text) line.textContent = text;
    line.classList.toggle("some", Boolean(fits));
    for (const button of section.querySelectorAll("[data-needs='words']")) button.disabled = !fits;
  }
}

document.addEventListener("selectionchange", () => {
  picked = selected();
  showPicked();
});
for (const element of document.querySelectorAll(".report")) element.addEventListener("keydown", event => step(element, event));
for (const button of document.querySelectorAll(".count button")) {
  button.addEventListener("pointerdown", event => event.preventDefault()); // the selection stays
  button.addEventListener("click", () => {
    const { kind, significant } = button.parentElement.dataset;
    count(reportOf(button), kind, significant === "yes", Number(button.dataset.step));
    if (button.disabled) button.parentElement.lastElementChild.focus();
  });
}
for (const scale of document.querySelectorAll(".scale")) {
  scale.addEventListener("change", event => {
    const { item, field } = scale.dataset;
    items[item].content[field] = field === "choice" ? event.target.value : Number(event.target.value);
    items[item].save();
  });
}
document.getElementById("finish").addEventListener("click", async () => {
  const missing = document.getElementById("missing");
  const fail = text => {
    missing.replaceChildren(Object.assign(document.createElement("p"), { className: "alert", textContent: text }));
    missing.firstChild.setAttribute("role", "alert");
    missing.focus();
  };
  missing.replaceChildren();
  await Promise.all(Object.values(items).map(item => item.sending));
  const { refused } = Object.values(items).find(item => item.refused) ?? {};
  if (refused) return fail(`The study is not finished: an answer of this page is missing. ${refused}`);
  let answer;
  while (!(answer = await post("finish", { n: state.n }))) await retryLater();
  const { ok, reply } = answer;
  if (!ok) fail(reply.message);
  else if (reply.missing.length) fail(`Missing still: ${reply.missing.join("; ")}.`);
  else location.assign(reply.next ? `study?n=${reply.next}` : "./");
});
show();
