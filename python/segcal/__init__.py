# SPDX-License-Identifier: Apache-2.0
"""Trustworthy confidence for semantic segmentation.

    model = segcal.fit(logits, labels, "cms_ap")
    probabilities = model.predict_proba(new_logits)

NumPy arrays and torch tensors, in memory or files; results are those of the command line, bit for bit.
"""

from . import metrics
from ._cases import Case, Dataset, Members
from ._core import Cancelled, __version__
from ._core import list_calibrators as calibrators
from ._core import list_metrics
from ._evaluate import Evaluation, Inspection, evaluate, inspect, simulate
from ._figures import Figure
from ._fit import fit
from ._index import index, index_nnunet
from ._model import Model, load, load_models
from ._report import Report, report
from ._study import Study, compare


def save(model: Model, path: str, *, force: bool = False) -> None:
    """Writes a model file; the same as `model.save(path)`."""
    model.save(path, force=force)


__all__ = ["Cancelled", "Case", "Dataset", "Evaluation", "Figure", "Inspection", "Members", "Model", "Report", "Study",
           "__version__", "calibrators", "compare", "evaluate", "fit", "index", "index_nnunet", "inspect", "list_metrics",
           "load", "load_models", "metrics", "report", "save", "simulate"]
