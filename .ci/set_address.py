"""Write the repository's address where it is needed: set_address.py https://host/owner/name [SITE].

Until it is run, no file names an address. Run it again to replace one address by another.
"""

import re
import sys
from pathlib import Path

BADGES = """<!-- badges -->
[![tests]({url}/actions/workflows/tests.yml/badge.svg)]({url}/actions/workflows/tests.yml)
[![PyPI](https://img.shields.io/pypi/v/pybnclassify)](https://pypi.org/project/pybnclassify/)
[![license](https://img.shields.io/badge/license-MIT-blue)]({url}/blob/main/LICENSE)
[Documentation]({site}) · [Repository]({url}) · [Issues]({url}/issues)
"""

URLS = """# .ci/set_address.py writes [project.urls] here.
[project.urls]
Documentation = "{site}"
Repository = "{url}"
Issues = "{url}/issues"
Changelog = "{url}/blob/main/CHANGELOG.md"
"""

# For each file: the text from its mark to an empty line, and what replaces it.
PLACES = {
    "README.md": (r"<!-- badges -->\n(.+\n)*", BADGES),
    "pyproject.toml": (r"# \.ci/set_address\.py writes .*\n(.+\n)*", URLS),
    "CITATION.cff": (
        r"license: MIT\n(repository-code: .*\n)?",
        'license: MIT\nrepository-code: "{url}"\n',
    ),
    "vignettes/about.md": (
        r"<!-- address -->\n(The repository is .*\n)?",
        "<!-- address -->\nThe repository is [{url}]({url}).\n",
    ),
    ".ci/conda/meta.yaml": (
        r"about:\n(  home: .*\n  dev_url: .*\n)?",
        "about:\n  home: {site}\n  dev_url: {url}\n",
    ),
}


def main(root: Path, url: str, site: str) -> None:
    """Replace the mark, and what an earlier run wrote after it, in each file."""
    for name, (pattern, text) in PLACES.items():
        path = root / name
        written, n = re.subn(
            pattern, lambda _, text=text: text.format(url=url, site=site), path.read_text()
        )
        if n != 1:
            raise SystemExit(f"{name} must contain the mark once; got {n}.")
        path.write_text(written)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not sys.argv[1].startswith("https://"):
        raise SystemExit(__doc__)
    address = sys.argv[1].rstrip("/")
    main(Path(__file__).parents[1], address, sys.argv[2] if len(sys.argv) > 2 else address)
