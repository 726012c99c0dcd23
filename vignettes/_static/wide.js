// Wide pictures are first shown from the middle, where the class is.
addEventListener("load", () => {
  for (const image of document.querySelectorAll("img.wide")) {
    const page = image.parentElement;
    page.scrollLeft = (page.scrollWidth - page.clientWidth) / 2;
  }
});
