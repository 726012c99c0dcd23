"""Parts that docstrings have in common, and the section See Also, each written in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import cleandoc
from textwrap import fill
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def sharing(parts: Mapping[str, str]) -> Callable[[Function], Function]:
    r"""Return a decorator that replaces marks, each on a separate line, by texts in a docstring.

    >>> @sharing({"{x}": "x : int\n    A number."})
    ... def double(x):
    ...     '''Double.
    ...
    ...     {x}
    ...     '''
    >>> print(double.__doc__)
    Double.
    <BLANKLINE>
    x : int
        A number.
    """

    def decorate(function: Function) -> Function:
        if function.__doc__ is not None:  # None if Python runs with -OO
            text = cleandoc(function.__doc__)
            for mark, part in parts.items():
                text = text.replace(mark, part)
            function.__doc__ = text
        return function

    return decorate


# Each of the names before a colon refers to the names after it, except itself.
RELATED = """
AIC BIC loglik cloglik: loglik cloglik AIC BIC nparams network_score
AODE ANDE Ensemble: aode ande members predict
BNC DN: tan_cl chisq_dn lp families cpt
MBC MAODE Chain: mbc maode chain predict
Dataset Partitions: encode
Discretizer Merger Preparation: discretize merge_rare bnc
accuracy confusion exact_match hamming: predict cv confusion accuracy exact_match hamming
ande spode aode: ande aode tan_cl spode lp
anb nb from_modelstring: lp tan_cl kdb_mi modelstring
averaged_network plot_strength: arc_strength averaged_network plot_strength
bnc: lp tan_cl kdb_mi predict cv
fssj bsej tan_hc tan_hcsp kdb: search_steps plot_scores fssj bsej tan_hc tan_hcsp kdb
chisq_dn kdb_mi kdb_gain chow_liu tan_cl: lp tan_cl tan_hc kdb_mi kdb_gain chow_liu hc
hc ban: hc ban tan_cl kdb network_score search_steps
lca: search_steps explain lp
learn_blanket: markov_blanket ci_test bsej
class_var class_vars classes features vars values: class_var classes features vars values families
cmi: ci_test network_score
compare compare_ranks: cv compare compare_ranks plot_ranks
concentrations feature_weights loo_summary: lp concentrations feature_weights loo_summary
counterfactual: predict explain value_of_information
cpt params: params cpt lp plot_cpt
cv cv_predict: compare cv cv_predict stratified_folds plot_cv
discretize merge_rare encode: bnc discretize merge_rare encode
em_objectives greedy_scores search_steps: lp search_steps greedy_scores em_objectives plot_scores
explain: predict query plot_explanation plot
families feature_families modelstring narcs nparams: families modelstring markov_blanket narcs nparams plot
from_tables with_table: cpt with_table from_tables sample
impute sample: query predict sample impute
is_anb is_aode is_nb is_ode is_semi_naive: families is_nb is_anb is_ode is_semi_naive is_aode
load save: save load read_bif write_bif
load_car load_voting load_pima load_solar_flare: load_car load_voting load_pima load_solar_flare
lp update pool: bnc lp update pool cpt predict save
manb_arc_posterior min_testing_depths: lp feature_weights plot_weights
markov_blanket: families learn_blanket
mbc maode chain: mbc maode chain lp predict
members: aode ande predict
network_score: hc ban loglik BIC
plot: plot_cpt plot_explanation explain arc_strength
plot_calibration plot_confusion: calibration confusion predict cv_predict
plot_cpt plot_effect plot_explanation plot_importance: cpt explain plot plot_effect plot_importance
plot_cv plot_ranks: cv compare compare_ranks
plot_scores: greedy_scores search_steps
plot_weights: feature_weights plot_importance
predict: explain query accuracy cv_predict
preparation summary: summary preparation discretize merge_rare cv plot_importance
query: predict sample impute markov_blanket
read_bif write_bif: read_bif write_bif save load to_pgmpy
shd kl_divergence: shd kl_divergence arc_strength network_score
stratified_folds r_folds: cv cv_predict stratified_folds r_folds
scorecard Scorecard: scorecard explain plot_nomogram to_sql cv
plot_nomogram: scorecard plot_explanation plot_effect
value_of_information: predict explain query
write_page: predict explain to_sql save
to_networkx to_pgmpy to_pyagrum: to_networkx to_pgmpy to_pyagrum write_bif
to_sql: predict save write_page
"""


def add_see_also(objects: Mapping[str, object]) -> None:
    """Add the section, with the first sentence about each name, to docstrings that have none."""
    entries: dict[str, str] = {}
    for line in RELATED.strip().splitlines():
        sources, targets = (part.split() for part in line.split(":"))
        for name in targets:
            if name not in entries:
                sentence = (
                    (objects[name].__doc__ or "").strip().split("\n", 1)[0].split(". ")[0].removesuffix(".")
                )
                entries[name] = fill(f"{name} : {sentence}.", 84, subsequent_indent="    ")
        for name in sources:
            text = cleandoc(objects[name].__doc__ or "")
            if text and "\nSee Also\n" not in text:  # no text if Python runs with -OO
                section = "\n".join(
                    ["See Also", "--------", *(entries[other] for other in targets if other != name)]
                )
                later = re.search(r"^(Notes|References|Examples)\n-+\n", text, re.MULTILINE)
                end = later.start() if later else len(text)
                objects[name].__doc__ = f"{text[:end].rstrip()}\n\n{section}\n\n{text[end:]}"
