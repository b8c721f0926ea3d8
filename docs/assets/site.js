// What the theme leaves out for those who hear the page or have no mouse: names of landmarks, wide tables in the order of Tab.
function complete() {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav) => {
    const blocks = [...document.querySelectorAll(".highlight")];
    nav.setAttribute("aria-label", `Code block ${blocks.indexOf(nav.closest(".highlight")) + 1}`);
  });
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex]), .rg-heat:not([tabindex])").forEach((table) => {
    if (table.scrollWidth > table.clientWidth) table.setAttribute("tabindex", "0");
  });
  document.querySelectorAll("nav[aria-labelledby]").forEach((nav) => {
    const label = document.getElementById(nav.getAttribute("aria-labelledby"));
    const title = nav.querySelector(".md-nav__title");
    if (label && !label.textContent.trim() && title) {
      nav.removeAttribute("aria-labelledby");
      nav.setAttribute("aria-label", title.textContent.trim());
    }
  });
}
new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });
complete();
