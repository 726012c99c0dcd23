addEventListener("load", () => {
  // Printed text is wrapped, and printed tables scroll.
  for (const output of document.querySelectorAll(".cell_output pre")) {
    if (!/\S {2,}\S/.test(output.textContent)) output.style.whiteSpace = "pre-wrap";
  }
  // Wide pictures are first shown from the middle, where the class is.
  for (const image of document.querySelectorAll("img.wide")) {
    const page = image.parentElement;
    page.scrollLeft = (page.scrollWidth - page.clientWidth) / 2;
  }
});
