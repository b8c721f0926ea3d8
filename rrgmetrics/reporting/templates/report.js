(() => {
  const element = (id) => document.getElementById(id);
  const { metrics, numbers, abnormal, kinds, size, block, often } = JSON.parse(element("numbers").textContent);
  const total = numbers.length; // of the studies, the worst first
  const blocks = [...document.querySelectorAll(".texts")]; // a line of JSON a study
  const read = new Map(); // block → its lines
  const plain = new Map(); // block → its studies as text that can be searched
  const list = element("list");
  const pagers = [...document.querySelectorAll("[data-pager]")];
  let chosen = [...numbers.keys()]; // places of the studies, in the order shown
  let page = 0;

  const setting = (id) => (element(id) ? element(id).value : "");

  // --- sorting and choosing

  const goodness = ({ sign, target }, value) =>
    value === null ? null : target === null ? sign * value : -Math.abs(value - target);

  function worth(place) { // the smallest comes first
    if (setting("metric") === "") return numbers[place];
    const metric = metrics[Number(setting("metric"))];
    const whose = setting("whose") || "0";
    const all = metric.values.map((own) => goodness(metric, own[place]));
    if (!["mean", "difference"].includes(whose)) return all[Number(whose)];
    const known = all.filter((value) => value !== null);
    if (whose === "difference") return known.length < all.length ? null : Math.min(...known) - Math.max(...known);
    return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
  }

  function html(place) {
    const at = Math.floor(place / block);
    if (!read.has(at)) read.set(at, blocks[at].textContent.split("\n"));
    return JSON.parse(read.get(at)[place % block]).replace(/[\uE000-\uE0FF]/g, (sign) => often[sign.charCodeAt(0) - 0xe000]);
  }

  const entities = { "&lt;": "<", "&gt;": ">", "&#39;": "'", "&#34;": '"', "&amp;": "&" };
  const bare = (markup) =>
    markup.replace(/<[^>]*>/g, " ").replace(/&(?:lt|gt|amp|#39|#34);/g, (entity) => entities[entity]).toLowerCase();

  const pause = () => new Promise((go) => setTimeout(go));

  async function prepare(isStale) { // block by block, so that the page stays awake
    for (let at = 0; at < blocks.length && !isStale(); at += 1) {
      if (plain.has(at)) continue;
      const last = Math.min(total, (at + 1) * block);
      plain.set(at, Array.from({ length: last - at * block }, (_, i) => bare(html(at * block + i))));
      await pause();
    }
  }

  const matches = (place, words) =>
    words.every((word) => plain.get(Math.floor(place / block))[place % block].includes(word));

  function belongs(place) {
    const part = setting("part");
    if (part === "abnormal" || part === "normal") return Boolean(abnormal[place]) === (part === "abnormal");
    return part === "" || Boolean(kinds[place] & (1 << Number(part)));
  }

  let asked = 0;
  async function choose() {
    const number = (asked += 1);
    const words = element("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const inFile = setting("metric") === "";
    const sign = inFile ? 1 : Number(setting("direction"));
    element("direction").disabled = inFile;
    if (element("whose")) element("whose").disabled = inFile;
    if (words.length) await prepare(() => number !== asked);
    if (number !== asked) return;
    chosen = [...numbers.keys()].filter((place) => belongs(place) && (!words.length || matches(place, words)));
    const values = new Map(chosen.map((place) => [place, worth(place)]));
    chosen.sort((a, b) => {
      const [x, y] = [values.get(a), values.get(b)];
      return (x === null) - (y === null) || sign * (x - y) || a - b; // what has no score comes last
    });
    turn(0);
  }

  // --- showing

  const shown = (metric, value) =>
    value === null ? "not scored" : value.toFixed(metric.places).replace("-", "\u2212").replace(/^\u2212(0\.?0*)$/, "$1");

  function node(name, content, properties = {}) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...[content].flat());
    return made;
  }

  function addScores(study) {
    const place = Number(study.dataset.place);
    const first = metrics[Number(setting("metric") || 0)];
    for (const column of study.querySelectorAll("[data-system]")) {
      const value = (metric) => shown(metric, metric.values[Number(column.dataset.system)][place]);
      const summary = node("summary", [`${first.title} `, node("b", value(first))]);
      const details = node("details", summary, { className: "scores" });
      details.addEventListener("toggle", () => {
        const rows = metrics.map((metric) => node("div", [node("dt", metric.title), node("dd", value(metric))]));
        if (details.children.length === 1) details.append(node("dl", rows));
      });
      column.append(details);
    }
  }

  function turn(to) {
    const last = Math.max(0, Math.ceil(chosen.length / size) - 1);
    page = Math.min(Math.max(0, to), last);
    const here = chosen.slice(page * size, (page + 1) * size);
    list.innerHTML = here.map(html).join("");
    for (const study of list.children) addScores(study);
    drawPagers(last);
  }

  function drawPagers(last) {
    const n = chosen.length;
    const of = n === total ? n.toLocaleString("en") : `${n.toLocaleString("en")} found in ${total.toLocaleString("en")}`;
    const where = n ? `${page * size + 1} to ${Math.min(n, (page + 1) * size)} of ${of}` : `0 found in ${total.toLocaleString("en")}`;
    for (const pager of pagers) {
      pager.querySelector(".where").textContent = where;
      pager.querySelector(".back").disabled = page === 0;
      pager.querySelector(".on").disabled = page === last;
    }
  }

  function go(to) {
    turn(to);
    element("studies").focus({ preventScroll: true });
    element("studies").scrollIntoView();
  }

  pagers.forEach((pager, number) => {
    const move = (by) => (number ? go(page + by) : turn(page + by));
    const back = node("button", "Previous", { type: "button", className: "back" });
    const on = node("button", "Next", { type: "button", className: "on" });
    const where = node("span", "", { className: "where" });
    if (!number) where.setAttribute("role", "status");
    back.addEventListener("click", () => move(-1));
    on.addEventListener("click", () => move(1));
    pager.append(back, where, on);
    pager.hidden = false;
  });
  for (const id of ["metric", "whose", "direction", "part"]) element(id)?.addEventListener("change", choose);
  let waiting;
  element("find").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(choose, 150);
  });
  element("words").addEventListener("change", () => list.classList.toggle("differing", element("words").checked));
  list.classList.toggle("differing", element("words").checked);
  element("toolbar").addEventListener("submit", (event) => event.preventDefault());
  element("toolbar").hidden = false;
  for (const study of list.children) addScores(study);
  drawPagers(Math.ceil(total / size) - 1);
})();
