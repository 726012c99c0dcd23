"""The types of values that functions return, for ``isinstance`` and annotations."""

from .additive.effect_table import EffectTable as EffectTable
from .additive.scorecard import Scorecard as Scorecard
from .classifiers import BNC as BNC
from .classifiers import DN as DN
from .classifiers import Ensemble as Ensemble
from .dataset import Dataset as Dataset
from .model import Model as Model
from .numbers import Discretizer as Discretizer
from .numbers import Merger as Merger
from .numbers import Preparation as Preparation
from .parts.partitions import Partitions as Partitions
from .several.multidimensional import MAODE as MAODE
from .several.multidimensional import MBC as MBC
from .several.multidimensional import Chain as Chain
from .several.multidimensional import ChainEnsemble as ChainEnsemble
from .superparents.n_dependence import ANDE as ANDE
from .superparents.n_dependence import AODE as AODE

__all__ = sorted(name for name, value in globals().items() if isinstance(value, type))
