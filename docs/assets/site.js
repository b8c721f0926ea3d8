// Names for landmarks that the theme leaves without one, for those who hear the page.
function nameLandmarks() {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav) => {
    const blocks = [...document.querySelectorAll(".highlight")];
    nav.setAttribute("aria-label", `Code block ${blocks.indexOf(nav.closest(".highlight")) + 1}`);
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
new MutationObserver(nameLandmarks).observe(document.body, { childList: true, subtree: true });
nameLandmarks();
