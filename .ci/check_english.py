"""Fail if the text of the project has phrases that readers stumbled over."""

import re
import sys
from pathlib import Path

PATTERNS = {
    r"\ban? (row|column|figure|weight|class|model|feature|fold|data set|axis) an? ": (
        "write 'one X per Y'"
    ),
    r"(?<![Tt]here )\b(is|are) no(?= [a-z])": "write 'is not a', 'are not'",
    r"likeliest": "write 'most probable'",
    r"\banew\b": "write 'again' or 'refit'",
    r"\btells? of\b": "write 'shows' or 'reports'",
    r"with nothing said|nothing is said": "write 'by default'",
    r"\bas it comes\b": "write 'with default settings'",
    r"\bholes\b": "write 'missing values'",
    r"whatever else": "write 'regardless of'",
    r"\bTake it\b": "write 'Use it'",
    r"rows enough": "write 'enough rows'",
    r"\botherwise\.$": "begin a sentence with 'If not'",
    r"[\w}]: expected ": "write '`argument` must be ...; got ...'",
}
FOLDERS = (
    "bnclassify",
    "vignettes",
    ".github",
    "README.md",
    "CHANGELOG.md",
    "data/README.md",
    "tests/reference",
    "tests/benchmarks",
)
SUFFIXES = {".py", ".md", ".txt", ".bib", ".yml"}


def prose(path: Path) -> list[tuple[int, str]]:
    """Return the numbered lines of a file; of code, the comments and the text within quotes."""
    lines = list(enumerate(path.read_text().splitlines(), 1))
    return [(i, re.sub(r"`[^`]*`", "x", line)) for i, line in lines]


def main(root: Path) -> int:
    """Print each place and return their number."""
    found = 0
    for name in FOLDERS:
        base = root / name
        paths = (
            [base] if base.is_file() else sorted(p for p in base.rglob("*") if p.suffix in SUFFIXES)
        )
        for path in paths:
            for number, line in prose(path):
                for pattern, remedy in PATTERNS.items():
                    for match in re.finditer(pattern, line):
                        found += 1
                        print(f"{path.relative_to(root)}:{number}: '{match[0].strip()}': {remedy}")
    return found


if __name__ == "__main__":
    count = main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(f"{count} places")
    sys.exit(count > 0)
