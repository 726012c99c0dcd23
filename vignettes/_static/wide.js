const SMALLEST = 8.5; // pixels
function shrink(element, room) {
  const size = parseFloat(getComputedStyle(element).fontSize), share = 0.98 * (room.clientWidth - 16) / (room.scrollWidth - 16);
  if (room.scrollWidth > room.clientWidth) element.style.fontSize = `${Math.max(SMALLEST, Math.floor(10 * size * share) / 10)}px`;
}
addEventListener("load", () => {
  // Printed text is wrapped; printed tables are made to fit, or scroll if they would be too small to read.
  for (const output of document.querySelectorAll(".cell_output pre, .highlight-default pre, .highlight-pycon pre")) {
    const lines = output.textContent.split("\n").filter((line) => !/^(>>>|\.\.\.) /.test(line));
    if (lines.some((line) => /[^:\s] {2,}\S/.test(line))) {
      shrink(output, output);
      continue;
    }
    output.style.cssText = "white-space: pre-wrap; overflow-wrap: anywhere";
    if (innerWidth < 768 && output.closest(".cell_output")) { // lines of print(model) continue below their text
      output.textContent = output.textContent.replace(/\n {12,}(?=\S)/g, " ").replace(/: {2,}/g, ": ");
    }
  }
  for (const cell of document.querySelectorAll("table.dataframe td")) {
    if (cell.textContent.length > 30) cell.style.whiteSpace = "normal";
  }
  for (const table of document.querySelectorAll("article table")) [0, 1].forEach(() => shrink(table, table.parentElement)); // twice, as words wrap
  // Wide pictures are first shown from the middle, where the class is.
  for (const image of document.querySelectorAll("img.wide")) {
    const page = image.parentElement;
    page.scrollLeft = (page.scrollWidth - page.clientWidth) / 2;
  }
  // Pages within a page have the height of their contents and the theme of this site.
  const frames = [...document.querySelectorAll("iframe.live")].filter((frame) => frame.contentDocument);
  const isDark = () => {
    const theme = document.body.dataset.theme;
    return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  };
  for (const frame of frames) {
    const page = frame.contentDocument;
    const themed = [...page.styleSheets].flatMap((sheet) => [...sheet.cssRules])
      .filter((rule) => rule.media?.mediaText.includes("prefers-color-scheme"));
    const paint = () => {
      for (const rule of themed) rule.media.mediaText = isDark() ? "all" : "not all";
      page.documentElement.style.colorScheme = isDark() ? "dark" : "light";
    };
    const fit = () => { frame.style.height = `${page.documentElement.offsetHeight + 2}px`; };
    new MutationObserver(paint).observe(document.body, { attributeFilter: ["data-theme"] });
    new ResizeObserver(fit).observe(page.body);
    paint();
    fit();
  }
});
