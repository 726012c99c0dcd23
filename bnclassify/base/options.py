"""Types of options that several functions share, for editors and type checkers."""

from __future__ import annotations

from typing import Literal, TypeAlias

Unseen: TypeAlias = Literal["error", "missing"]

Learner: TypeAlias = Literal[
    "nb", "anb", "aode", "ande", "spode", "tan_cl", "chow_liu", "kdb_mi", "chisq_dn",
    "hc", "ban", "fssj", "bsej", "tan_hc", "tan_hcsp", "kdb",
]  # fmt: skip

ScoreName: TypeAlias = Literal["loglik", "aic", "bic", "bde", "k2"]

Cutting: TypeAlias = Literal["mdlp", "quantile", "width", "mixed"]

AnyCutting: TypeAlias = Cutting | Literal["averaged", "averaged5", "averaged_mdlp"]

_LabelMetric: TypeAlias = Literal["f1", "precision", "recall", "kappa", "mcc"]

SearchMetric: TypeAlias = (
    Literal["accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error", "rmse"] | _LabelMetric
)

MetricName: TypeAlias = (
    SearchMetric | Literal["auc", "loglik", "hamming", "exact_match", "joint_hamming", "joint_exact_match"]
)
