(() => {
  const element = (id) => document.getElementById(id);
  const { systems, metrics, numbers, abnormal, kinds, size } = JSON.parse(element("numbers").textContent);
  const texts = element("texts").textContent.split("\n"); // a line of JSON a study, the worst first
  const list = element("list");
  const pagers = [...document.querySelectorAll("[data-pager]")];
  let chosen = [...texts.keys()]; // places of the studies, in the order shown
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

  let plain; // what can be searched, made when somebody searches
  function matches(place, words) {
    plain ??= texts.map((line) => {
      const escaped = JSON.parse(line).replace(/<[^>]*>/g, " ");
      return escaped.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&#39;/g, "'").replace(/&#34;/g, '"').replace(/&amp;/g, "&").toLowerCase();
    });
    return words.every((word) => plain[place].includes(word));
  }

  function belongs(place) {
    const part = setting("part");
    if (part === "abnormal" || part === "normal") return Boolean(abnormal[place]) === (part === "abnormal");
    return part === "" || Boolean(kinds[place] & (1 << Number(part)));
  }

  function choose() {
    const words = element("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const inFile = setting("metric") === "";
    const sign = inFile ? 1 : Number(setting("direction"));
    element("direction").disabled = inFile;
    if (element("whose")) element("whose").disabled = inFile;
    chosen = [...texts.keys()].filter((place) => belongs(place) && (!words.length || matches(place, words)));
    const values = new Map(chosen.map((place) => [place, worth(place)]));
    chosen.sort((a, b) => {
      const [x, y] = [values.get(a), values.get(b)];
      return (x === null) - (y === null) || sign * (x - y) || a - b; // what has no score comes last
    });
    turn(0);
  }

  // --- showing

  const shown = (metric, value) =>
    value === null ? "unscored" : value.toFixed(metric.places).replace("-", "\u2212").replace(/^\u2212(0\.?0*)$/, "$1");

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
    list.innerHTML = here.map((place) => JSON.parse(texts[place])).join("");
    for (const study of list.children) addScores(study);
    drawPagers(last);
  }

  function drawPagers(last) {
    const n = chosen.length;
    const of = n === texts.length ? n.toLocaleString("en") : `${n.toLocaleString("en")} found in ${texts.length.toLocaleString("en")}`;
    const where = n ? `${page * size + 1} to ${Math.min(n, (page + 1) * size)} of ${of}` : `0 found in ${texts.length.toLocaleString("en")}`;
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
  element("words").addEventListener("change", () => list.classList.toggle("words", element("words").checked));
  list.classList.toggle("words", element("words").checked);
  element("toolbar").addEventListener("submit", (event) => event.preventDefault());
  element("toolbar").hidden = false;
  for (const study of list.children) addScores(study);
  drawPagers(Math.ceil(texts.length / size) - 1);
})();
