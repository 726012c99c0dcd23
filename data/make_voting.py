"""Write voting.csv from the file ``vote.arff`` of the Debian package ``weka``.

    apt-get download weka && dpkg -x weka_*.deb weka
    python data/make_voting.py weka/usr/share/doc/weka/examples/vote.arff

Hyphens in attribute names become underscores, ``?`` becomes an empty field.
"""

import csv
import sys
from pathlib import Path


def main(source: str) -> None:
    """Translate the ARFF file ``source`` into voting.csv beside this script."""
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("%")]
    start = next(i for i, line in enumerate(lines) if line.lower().startswith("@data"))
    header = [
        line.split("'")[1].replace("-", "_") for line in lines[:start] if line.startswith("@attr")
    ]
    rows = [
        ["" if cell.strip(" '") == "?" else cell.strip(" '") for cell in line.split(",")]
        for line in lines[start + 1 :]
    ]
    with (Path(__file__).parent / "voting.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main(sys.argv[1])
