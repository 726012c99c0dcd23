"""Parse pages as browsers do, and list what these would mend: python check_html.py FOLDER."""

import sys
from pathlib import Path

from html5lib import HTMLParser

errors = []
for page in sorted(Path(sys.argv[1]).rglob("*.html")):
    if "_modules" not in page.parts:  # sources of the package, which Sphinx writes itself
        parser = HTMLParser()
        parser.parse(page.read_text(encoding="utf-8"))
        errors += [f"{page}:{line}: {code} {told}" for (line, _), code, told in parser.errors]
print(*errors, f"{len(errors)} errors in the HTML of the site", sep="\n")
sys.exit(bool(errors))
