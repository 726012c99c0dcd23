"""Fail if the text of the project has phrases that readers stumbled over."""

import re
import sys
from pathlib import Path

PATTERNS = {
    r"\ban? (row|column|figure|weight|class|model|feature|fold|data set|axis) an? ": "write 'one X per Y'",
    r"(?<![Tt]here )\b(is|are) no(?= [a-z])": "write 'is not a', 'are not'",
    r"likeliest": "write 'most probable'",
    r"\banew\b": "write 'again' or 'refit'",
    r"\btells? of\b": "write 'shows' or 'reports'",
    r"with nothing said|nothing is said|\bunasked\b": "write 'by default'",
    r"\bas it comes\b|\bas they come\b": "write 'with default settings'",
    r"\bholes\b": "write 'missing values'",
    r"whatever else|whatever its|of whatever": "write 'regardless of'",
    r"\bTake it\b": "write 'Use it'",
    r"rows enough": "write 'enough rows'",
    r"\b(otherwise|else)\.$": "begin a sentence with 'By default' or 'If not'",
    r"\bsum(s|med|ming)? out\b": "write 'marginalize over'",
    r"\bin vain\b|\bis luck\b|\bsizes of luck\b": "write what is computed",
    r"\bverbs?\b": "write 'function'",
    r"\blearn(s|t)? anew\b": "write 'refit'",
    r"\bspeaks? for\b|\bspeaks? against\b": "write 'increases the log odds of'",
    r"\b(colour|licence|optimis(e|ing|ation)|discretis|normalis|maximis|favour|behaviour)": "use American spelling",  # noqa: E501
    r"\b(hands|gives) back\b|\bgive back\b": "write 'returns'",
    r"imagined row": "write 'pseudo-count'",
    r"worth its numbers": "write 'improves the score'",
    r"\byardstick\b|figure to beat": "write 'baseline'",
    r"\bthe (commonest|largest) class\b": "write 'the most frequent class'",
    r"\bwhatever\b": "write 'regardless of' or 'any'",
    r"\b(Return|Yield|Write|Say|Tell|Add|Compute|Learn|Read|Find)s? what\b": "name the result",
    r'"""What (?!.*\?)': "begin with a noun",
    r"\b(of|by|to|from|for|with|on) what\b(?! kind of)": "use a noun",
    r"\bwhat (is|are|was|were|has|have|can|to do) (there|known|learned|asked|left|needed)\b": "use a noun",
    r"\bleft[- ]out\b|\bleav(e|es|ing) out\b": "write 'held-out', 'exclude' or 'omit'",
    r"\bgo(es|ne)? through\b": "write 'iterate over' or 'read'",
    r"\bfor lack of\b": "write 'because ... has no'",
    r"\b(a|the) \w+ of (yours|theirs|its own)\b": "write 'your', 'separate'",
    r"\bright (labels|answers)\b|\blabels? (is|are) right\b": "write 'correct'",
    r"\btoo sure\b|\bhow sure\b": "write 'overconfident', 'strength' or 'uncertainty'",
    r"\bone after (the|an)other\b": "write 'one at a time' or 'concatenated'",
    r"\bdata in parts\b": "write 'partitioned data'",
    r"\bfurther (arguments|terms|columns?|parents?|results|settings|features)\b": "write 'additional'",
    r"\bsays? (of|what)\b": "write 'states' or use a noun",
    r"\bhangs? together\b|\brepeat each other\b|\bsay the same\b": "write 'dependent' or 'redundant'",
    r"\b(the|by) (most|least|greatest) (iterations|depth|weights?|variance|cost)\b": "write 'maximum'",
    r"[\w}]: expected ": "write '`argument` must be ...; got ...'",
    r"[;,] else\b(?! if)": "begin a sentence with 'If not'",
    r"\b(refuses?|refusing)\b": "write 'raises an error'",
    r"\bkinds? of models?\b": "write 'model type'",
    r"\bwith so (many|few)\b|\bat most so many\b|\bup to so many\b": "name the number",
    r"\bas (people|the data|the user) (says?|reads?|asks?)\b": "write what is done",
    r"\bmade of counts\b": "write 'follow from counts'",
    r"\b(learned|fitted) (again|once more) as\b": "write 'refitted'",
    r"\bless (the|that) (penalty|log)\b": "write 'minus'",
    r"\bloads? for (longer|as long)\b|\btakes? long to import\b": "write 'slow to import'",
    r"\bwhere (somebody|nobody|nothing|none)\b": "write 'if' or 'when'",
    r"\bto look at it\b|\bto speak of\b|\bto go by\b": "use a verb of the field",
    r"\bdrops? out of\b": "write 'is excluded'",
    r"\b(deal|dealt|deals) (rows|into)\b": "write 'assign rows to folds'",
    r"\btrees? of most\b": "write 'maximum-weight tree'",
    r"\bof (its|their|our) own\b": "write 'separate'",
    r"(?<!that )\b(says|tells|knows|wants|asks)\b": "write what is computed or stated",
    r"\bcomes? out\b|\bhands? over\b|\bgives? out\b|\bhow far\b|\bno matter\b": "use a plain verb",
    r"\bthe (least|greatest)\b(?! probable)": "write 'minimum', 'smallest', 'maximum' or 'largest'",
    r"\b(not even|mere(ly)?|sure|worth|good at)\b": "write what was measured",
    r"\bgrey\b": "use American spelling",
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
        paths = [base] if base.is_file() else sorted(p for p in base.rglob("*") if p.suffix in SUFFIXES)
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
