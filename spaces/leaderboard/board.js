// Sorting and filtering of the standings; the address keeps both. Runs once; `element` and `watch` are Gradio's.
const address = () => new URLSearchParams(window.location.search);

function keep(name, value) {
  const url = new URL(window.location.href);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  window.history.replaceState(window.history.state, "", url);
}

function sort(table, column, reversed) {
  const heads = Array.from(table.querySelectorAll("thead th"));
  const at = heads.findIndex((head) => head.dataset.column === column);
  if (at < 0) return;
  const rising = (heads[at].dataset.better === "lower") !== reversed;
  const value = (row) => {
    const cell = row.cells[at];
    if (cell.dataset.text !== undefined) return cell.dataset.text;
    return cell.dataset.value === "" ? NaN : Number(cell.dataset.value);
  };
  const order = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (typeof x === "string") return rising ? x.localeCompare(y) : y.localeCompare(x);
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y); // what has no score comes last
    return rising ? x - y : y - x;
  };
  const body = table.tBodies[0];
  body.append(...Array.from(body.rows).sort(order));
  heads.forEach((head, i) => {
    if (i === at) head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
}

function filter(tag, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = Array.from(element.querySelectorAll(".standings tbody tr"));
  for (const row of rows) {
    const tagged = !tag || JSON.parse(row.dataset.tags).includes(tag);
    row.hidden = !(tagged && wanted.every((word) => row.dataset.words.includes(word)));
  }
  for (const button of element.querySelectorAll("[data-tag]"))
    button.setAttribute("aria-pressed", String(button.dataset.tag === tag));
  const shown = rows.filter((row) => !row.hidden).length;
  const count = element.querySelector(".count");
  const all = rows.length === 1 ? "1 system" : `${rows.length} systems`;
  if (count) count.textContent = shown === rows.length ? all : `${shown} of ${all}; ranks are those of the whole table`;
}

function apply() {
  const asked = address();
  const by = asked.get("sort") || "rank";
  for (const table of element.querySelectorAll(".standings")) sort(table, by.replace(/^-/, ""), by.startsWith("-"));
  const find = element.querySelector("[name=find]");
  if (find && document.activeElement !== find) find.value = asked.get("find") || "";
  filter(asked.get("tag") || "", asked.get("find") || "");
}

element.addEventListener("click", (event) => {
  const head = event.target.closest(".standings thead th");
  const tag = event.target.closest("[data-tag]");
  if (head && event.target.closest("button")) {
    const by = head.dataset.column;
    keep("sort", address().get("sort") === by || (by === "rank" && !address().get("sort")) ? `-${by}` : by);
  } else if (tag) {
    keep("tag", address().get("tag") === tag.dataset.tag ? "" : tag.dataset.tag);
  } else return;
  apply();
});
element.addEventListener("input", (event) => {
  if (event.target.name !== "find") return;
  keep("find", event.target.value.trim());
  apply();
});
watch("value", apply);
apply();
