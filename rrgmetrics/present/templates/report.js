(() => {
  const list = document.getElementById("studies-list");
  const studies = [...list.children].map((element) => ({
    element,
    values: element.dataset.values.split(" ").map((value) => (value === "x" ? NaN : Number(value))),
    text: [...element.querySelectorAll(".searched")].map((part) => part.textContent).join(" ").toLowerCase(),
  }));
  const control = (name) => document.getElementById(name);
  const status = control("status");

  function sort() {
    const column = Number(control("sort").value);
    const sign = column > 0 && control("direction").value === "best" ? -1 : 1;
    const order = (study) => study.values[column];
    const sorted = [...studies].sort((a, b) =>
      Number.isNaN(order(a)) - Number.isNaN(order(b)) || sign * (order(a) - order(b)) || a.values[0] - b.values[0]);
    list.append(...sorted.map((study) => study.element));
    list.dataset.metric = control("sort").selectedOptions[0].dataset.metric;
    control("direction").disabled = column === 0;
  }

  function filter() {
    const words = control("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const study of studies) {
      study.element.hidden = !words.every((word) => study.text.includes(word));
      n += !study.element.hidden;
    }
    status.textContent = words.length ? `${n} of ${studies.length} match` : "";
  }

  function mark() {
    list.dataset.marks = control("marks").value;
  }

  control("sort").addEventListener("change", sort);
  control("direction").addEventListener("change", sort);
  control("filter").addEventListener("input", filter);
  control("marks").addEventListener("change", mark);
  control("toolbar").addEventListener("submit", (event) => event.preventDefault());
  control("toolbar").hidden = false;
  sort();
  filter();
  mark();
})();
