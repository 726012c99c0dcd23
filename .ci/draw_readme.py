"""Draw the pictures of README, by ``python .ci/draw_readme.py`` and the program chromium."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from PIL import Image, PngImagePlugin

import bnclassify as bn

FOLDER = Path(__file__).parents[1] / "vignettes"
BEA = {"age": 51, "glucose": 171, "bmi": 34.2, "pregnancies": 4}
FILL = "".join(
    f"""for (const label of document.querySelectorAll(".field > label")) {{
    if (label.textContent === "{name}") document.getElementById(label.htmlFor).value = "{value}";
}}"""
    for name, value in BEA.items()
)
OPEN = '$("card").open = true; document.documentElement.style.overflow = "hidden"; refresh();'


def draw_page(x, name, height):
    """Write a picture of a page with the values of Bea; its comment is the answer on the page."""
    best = bn.predict(x, BEA, prob=True).iloc[0]
    note = PngImagePlugin.PngInfo()
    note.add_text("Comment", f"diabetes: {best.idxmax()} ({best.max():.1%})")
    with TemporaryDirectory() as folder:
        page, picture = Path(folder, "page.html"), Path(folder, "page.png")
        bn.write_page(x, page, title="Does she have diabetes?")
        start, end, rest = page.read_text("utf-8").rpartition("refresh();")
        page.write_text(f"{start}{FILL}{OPEN}{end}{rest}", "utf-8")
        options = f"--headless --no-sandbox --hide-scrollbars --window-size=900,{height}"
        scale = "--force-device-scale-factor=1.5"
        command = ["chromium", *options.split(), scale, f"--screenshot={picture}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
        colors = Image.open(picture).convert("RGB").quantize(48, dither=Image.Dither.NONE)
    colors.save(FOLDER / name, optimize=True, pnginfo=note)


def main():
    """Draw four pictures: reasons, importance, the page of the default and that of a card."""
    women = bn.load_pima()
    model = bn.bnc(class_var="diabetes", dataset=women)
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "README"}):
        charts = {
            "explained": bn.plot_explanation(model, BEA, top=6),
            "importance": bn.plot_importance(model, women),
        }
        for name, axes in charts.items():
            axes.figure.savefig(
                FOLDER / f"{name}.svg", bbox_inches="tight", metadata={"Date": None}
            )
    draw_page(model, "page.png", 800)
    additive = bn.bnc(class_var="diabetes", dataset=women, pairs=0)
    rising = bn.monotonize(additive, {"age": "increasing", "glucose": "increasing"}, women)
    draw_page(bn.scorecard(rising, most_intervals=4), "card.png", 800)


if __name__ == "__main__":
    main()
