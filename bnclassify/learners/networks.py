"""Networks that learners return: the parents of each feature, the levels, and the recipe.

A learner of structure needs this module and counts. It is a function of the
class and the data:

- `prepare_training_data` checks and encodes the data, in memory or in parts.
  ``data.features`` are the names of the features, whose positions come before
  that of the class.
- Functions of `bnclassify.counts` count.
- `network` builds the result. The `Step` has the name of the learner, its
  function and the values of its arguments, so that `cv` repeats it.

>>> from bnclassify import bnc, cv, load_car, modelstring
>>> from bnclassify.counts import mutual_information
>>> from bnclassify.learners.networks import Step, network, prepare_training_data
>>> def star(class_var, dataset, *, least=0.0):
...     # The feature with the most information on the class is a parent of the others.
...     data = prepare_training_data(dataset, (class_var,))
...     own = len(data.features)  # the position of the class
...     nats = [mutual_information(data, i, own)[0] for i in range(own)]
...     best = data.features[nats.index(max(nats))]
...     parents = {
...         name: (best,) if name != best and value >= least else ()
...         for name, value in zip(data.features, nats)
...     }
...     return network(class_var, parents, data.schema, Step("star", star, {"least": least}))
>>> car = load_car()
>>> model = bnc(star, "class", car, smooth=1, dag_args={"least": 0.05})
>>> modelstring(model)
'[class] [doors|class] [lug_boot|class] [safety|class] [buying|safety:class]
 [maint|safety:class] [persons|safety:class]'
>>> round(cv(model, car, k=5, rng=0), 3)
0.861
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ..classifiers import BNC, Family
from ..dataset import Schema
from ..frames import prepare_training_data as prepare_training_data
from ..model import Recipe
from ..model import Step as Step
from ..tools.immutable import EMPTY


def network(
    class_var: Hashable,
    parents: Mapping[Hashable, Sequence[Hashable]],
    schema: Schema | None,
    step: Step,
    trace: Mapping[str, Any] = EMPTY,
) -> BNC:
    """Build a network from the parents of each variable.

    If ``parents`` has only features, they are the feature parents of an
    augmented naive Bayes, in which the class is a parent of each feature.
    ``schema`` is that of the data, or None if the network is built without
    data. ``step`` is the call that the recipe repeats, and ``trace`` has
    results of the search, by name.
    """
    if class_var not in parents:
        with_class = {feature: (*names, class_var) for feature, names in parents.items()}
        parents = {**with_class, class_var: ()}
    families = families_from_parents(class_var, parents)
    levels = None if schema is None else schema.select([family[0] for family in families]).levels
    return BNC(
        class_var, families, levels, recipe=Recipe.from_step(class_var, step, schema), trace=trace
    )


def families_from_parents(
    class_var: Hashable, parents: Mapping[Hashable, Sequence[Hashable]]
) -> tuple[Family, ...]:
    """Return families with that of the class at the end, and the class as the last parent."""
    ordered = dict(parents)
    ordered[class_var] = ordered.pop(class_var)
    families = []
    for variable, own in ordered.items():
        families.append((variable, *sorted(own, key=lambda parent: parent == class_var)))
    return tuple(families)
