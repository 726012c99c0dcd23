"""Write car.csv: every car there is to evaluate, and how a small decision model grades it.

The model is a hierarchy of four tables, each small enough to be read at a glance:

    price    of (buying, maint)               prohibitive, high, medium, low
    comfort  of (doors, persons, lug_boot)    poor, acceptable, good
    tech     of (comfort, safety)             bad, fair, good, best
    class    of (price, tech)                 unacc, acc, good, vgood

Run ``python data/make_car.py`` to write the file anew beside this script.
"""

import csv
from itertools import product
from pathlib import Path

BUYING = MAINT = ("vhigh", "high", "med", "low")
DOORS = ("2", "3", "4", "5more")
PERSONS = ("2", "4", "more")
LUG_BOOT = ("small", "med", "big")
SAFETY = ("low", "med", "high")
HEADER = ("buying", "maint", "doors", "persons", "lug_boot", "safety", "class")

# A row a level of buying, a column a level of maint, in the order above.
PRICE = {
    "vhigh": ("prohibitive", "prohibitive", "high", "high"),
    "high": ("prohibitive", "high", "high", "high"),
    "med": ("high", "high", "medium", "low"),
    "low": ("high", "medium", "low", "low"),
}

# A row for doors and persons, a column a level of lug_boot. A car for two is poor in any case.
COMFORT = {
    ("2", "4"): ("acceptable", "acceptable", "good"),
    ("2", "more"): ("poor", "acceptable", "good"),
    ("3", "4"): ("acceptable", "acceptable", "good"),
    ("3", "more"): ("acceptable", "good", "good"),
    ("4", "4"): ("acceptable", "good", "good"),
    ("4", "more"): ("acceptable", "good", "good"),
    ("5more", "4"): ("acceptable", "good", "good"),
    ("5more", "more"): ("acceptable", "good", "good"),
}

# A row a grade of comfort, a column a level of safety.
TECH = {
    "poor": ("bad", "bad", "bad"),
    "acceptable": ("bad", "fair", "good"),
    "good": ("bad", "good", "best"),
}

# A row a grade of price; columns tech = bad, fair, good, best.
TECH_GRADES = ("bad", "fair", "good", "best")
CLASS = {
    "prohibitive": ("unacc", "unacc", "unacc", "unacc"),
    "high": ("unacc", "unacc", "acc", "acc"),
    "medium": ("unacc", "acc", "acc", "vgood"),
    "low": ("unacc", "acc", "good", "vgood"),
}


def evaluate(buying: str, maint: str, doors: str, persons: str, lug_boot: str, safety: str) -> str:
    """Grade one car by walking the hierarchy from its features to its class."""
    price = PRICE[buying][MAINT.index(maint)]
    comfort = "poor" if persons == "2" else COMFORT[doors, persons][LUG_BOOT.index(lug_boot)]
    tech = TECH[comfort][SAFETY.index(safety)]
    return CLASS[price][TECH_GRADES.index(tech)]


def main() -> None:
    """Write all 1,728 cars, the last feature varying fastest."""
    with (Path(__file__).parent / "car.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for car in product(BUYING, MAINT, DOORS, PERSONS, LUG_BOOT, SAFETY):
            writer.writerow((*car, evaluate(*car)))


if __name__ == "__main__":
    main()
