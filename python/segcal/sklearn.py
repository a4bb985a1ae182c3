# SPDX-License-Identifier: Apache-2.0
"""A calibrator with the manners of scikit-learn; needs `pip install segcal[sklearn]`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._arrays import is_tensor
from ._fit import fit as _fit
from ._model import Model


class Calibrator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Turns the scores of another classifier into probabilities one can trust.

    X are predictions: (n_samples, n_classes), or dense ones such as (N, C, H, W); y are labels, of samples or
    of every pixel. For samples, column k belongs to the k-th of the sorted labels; for dense predictions labels
    are channels.

    >>> import numpy as np
    >>> from segcal.sklearn import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(2000, 3)) * 4
    >>> y = np.array(["a", "b", "c"])[(scores / 3 + rng.gumbel(size=scores.shape)).argmax(1)]
    >>> calibrator = Calibrator("ts").fit(scores, y)
    >>> calibrator.predict_proba(scores).shape
    (2000, 3)
    >>> bool(2.5 < calibrator.model_.temperature < 3.5)
    True
    """

    def __init__(self, pipeline: str = "ts(z)", *, input: str = "logits", ignore_index: int | None = None,
                 layout: str | None = None, search: int | None = None, seed: int | None = None,
                 threads: int | None = None) -> None:
        self.pipeline = pipeline
        self.input = input
        self.ignore_index = ignore_index
        self.layout = layout
        self.search = search
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: Any) -> Calibrator:
        """Fits on predictions and their labels."""
        if _is_dense(X):
            labels, classes = y, None
            self.n_features_in_ = int(X.shape[1 if self.layout is None else self.layout.index("C")])
        else:
            X, y = self._checked(X, y=y)
            labels, classes = self._encoded(y, X.shape[1])
        self.model_: Model = _fit(X, labels, self.pipeline, input=self.input, ignore_index=self.ignore_index,
                                  layout=self.layout, search=self.search, seed=self.seed, threads=self.threads,
                                  progress=False)
        self.classes_: Any = np.arange(len(self.model_.classes)) if classes is None else classes
        return self

    def _more_tags(self) -> dict[str, bool]:  # scikit-learn before 1.6
        return {"poor_score": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # its X are scores: other features say nothing
        return tags

    def _checked(self, X: Any, **given: Any) -> Any:
        """A table of scores, with y if it is given, as scikit-learn wants it."""
        given = {"dtype": [np.float32, np.float64], "reset": "y" in given, **given}
        if hasattr(self, "_validate_data"):  # scikit-learn before 1.6
            return self._validate_data(X, **given)
        from sklearn.utils.validation import validate_data
        return validate_data(self, X, **given)

    def _encoded(self, y: Any, columns: int) -> tuple[Any, Any]:
        """Labels as columns. Fewer labels than columns are allowed where they are column numbers."""
        check_classification_targets(y)
        values, places = np.unique(y, return_inverse=True)
        if len(values) == columns:
            return places, values
        numbers = np.arange(columns)
        known = numbers if self.ignore_index is None else np.append(numbers, self.ignore_index)
        if np.issubdtype(np.asarray(y).dtype, np.integer) and np.isin(values, known).all():
            return np.asarray(y), numbers
        raise ValueError(f"y has {len(values)} classes, X has {columns} columns of scores; one column for each class "
                         f"is required")

    def predict_proba(self, X: Any) -> Any:
        """Calibrated probabilities, of the shape of X."""
        check_is_fitted(self, "model_")
        if _is_dense(X):
            return self.model_.predict_proba(X, layout=self.layout, threads=self.threads)
        return self.model_.predict_proba(self._checked(X), threads=self.threads)

    def predict(self, X: Any) -> Any:
        """The most probable class."""
        check_is_fitted(self, "model_")
        if _is_dense(X):
            return self.model_.predict(X, layout=self.layout, threads=self.threads)
        return self.classes_[self.model_.predict(self._checked(X), threads=self.threads)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, over samples or pixels; ignored pixels do not count."""
        found = np.asarray(self.predict(X))
        truth = np.asarray(y).reshape(found.shape)
        counted = np.ones(found.shape) if sample_weight is None else np.asarray(sample_weight, float)
        if self.ignore_index is not None:
            counted = counted * (truth != self.ignore_index)
        return float(np.average(found == truth, weights=counted))


def _is_dense(X: Any) -> bool:
    """Whether these are images or volumes, rather than a table of samples."""
    return (isinstance(X, np.ndarray) or is_tensor(X)) and X.ndim > 2
