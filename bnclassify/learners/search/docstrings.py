"""What the docstrings of the greedy learners share, told in one place and put into each."""

from __future__ import annotations

from ...base.docstrings import sharing

_DATA = """\
class_var : str
    Name of the class.
dataset : pandas.DataFrame or Dataset
    All columns but the class are features.
k : int
    Number of folds, from 2 to the number of rows."""

_SEARCH = """\
epsilon : float, default 0.01
    A step is taken if it raises the score by at least this much; 0 takes ties too.
smooth, ess, m : float, optional
    As in `lp`, for the models that are scored; at most one of them. By default ``smooth=0``, as in R.
metric : {"accuracy", "balanced_accuracy", "log_loss"}, default "accuracy"
    What is to be good in the tested rows. On unbalanced classes accuracy may be best without any
    feature; log_loss looks at the posteriors.
folds : list of arrays or array of int, optional
    Instead of folds drawn at random: the positions of the rows that each fold tests, or
    the fold number of each row.
rng : int or numpy.random.Generator, optional
    Seed of the folds. With it, ties are decided at random; without, the first candidate
    is taken.
progress : bool, default False
    Whether to show a bar with the steps, the candidates and the best score."""

_RESULT = """\
Returns
-------
BNC
    A structure; `lp` gives it parameters. `greedy_scores` and `search_steps` tell how the search went.

Raises
------
KeyError
    If ``class_var`` is not a column.
TypeError, ValueError
    If an argument is out of range, or the data has no rows.

Warns
-----
UserWarning
    If a class has fewer rows than there are folds, or rows have no class. If every row has a
    value of its own in a column. If the search ends where it began although a step would have
    raised the score, by less than ``epsilon``, or ends without a feature.

Notes
-----
The score is the mean over folds of the metric in the fold, with parameters learned on the other
folds; of a loss, such as log_loss, its negative. Scores within 1e-9 are tied. The search ends when no
step raises the score by ``epsilon``, none is left, or the score is as high as it can be. Tables are
counted over available cases, and rows with missing features predicted by summing those out exactly."""

telling = sharing({"{data}": _DATA, "{search}": _SEARCH, "{result}": _RESULT})
"""Put what all greedy learners share into the docstring of one."""
