"""Parse pages as browsers do: list what these would mend, and links to what the site lacks.

python check_html.py FOLDER
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from html5lib import HTMLParser

LINKS = {"href", "src", "poster", "data", "action"}

Page = tuple[set[str], set[str], list[str]]


def parse(page: Path, *, whole: bool) -> Page:
    """Return the anchors of a page, or of its article, its links, and what browsers would mend."""
    parser = HTMLParser(namespaceHTMLElements=False)
    anchors, links = set(), set()
    text = page.read_text(encoding="utf-8")
    article = re.search(r"<article.*</article>", text, re.DOTALL)
    if article and not whole:
        text = f"<!DOCTYPE html><title>{page.stem}</title>{article[0]}"
    for element in parser.parse(text).iter():
        for name, value in element.attrib.items():
            if name == "id" or (name == "name" and element.tag == "a"):
                anchors.add(value)
            elif name.rpartition("}")[2] in LINKS:  # also {http://www.w3.org/1999/xlink}href
                links.add(value)
    mended = [f"{page}:{line}: {code} {told}" for (line, _), code, told in parser.errors]
    return anchors, links, mended


def leads_somewhere(page: Path, link: str, anchors: dict[Path, set[str]]) -> bool:
    """Return whether a link has a target, if it is one within the site."""
    address = urlsplit(link)
    if address.scheme or address.netloc:
        return True
    target = (page.parent / unquote(address.path)).resolve() if address.path else page
    anchor = unquote(address.fragment)
    return target.is_file() and (not anchor or anchor in anchors.get(target, ()))


folder = Path(sys.argv[1]).resolve()
found = sorted(folder.rglob("*.html"))
first = {
    page.parent: page for page in reversed(found)
}  # what surrounds articles is the same in a folder
pages = {page: parse(page, whole=page == first[page.parent]) for page in found}
anchors = {page: found for page, (found, _, _) in pages.items()}
links = {page: found for page, (_, found, _) in pages.items()}
for sheet in folder.rglob("*.css"):
    links[sheet] = set(re.findall(r"url\([\"']?([^\"')]+)", sheet.read_text(encoding="utf-8")))
errors = [error for _, _, mended in pages.values() for error in mended]
errors += [
    f"{page}: {link} leads nowhere"
    for page, found in links.items()
    for link in sorted(found)
    if not leads_somewhere(page, link, anchors)
]
count = sum(map(len, links.values()))
print(*errors, f"{len(pages)} pages, {count} links, {len(errors)} errors", sep="\n")
sys.exit(bool(errors))
