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
from ._evaluate import Evaluation, evaluate, inspect, simulate
from ._figures import Figure
from ._fit import fit
from ._index import index, index_nnunet
from ._model import Model, load, load_models


def save(model: Model, path: str) -> None:
    """Writes a model file; the same as `model.save(path)`."""
    model.save(path)


__all__ = ["Cancelled", "Case", "Dataset", "Evaluation", "Figure", "Members", "Model", "__version__", "calibrators",
           "evaluate", "fit", "index", "index_nnunet", "inspect", "list_metrics", "load", "load_models", "metrics", "save", "simulate"]
