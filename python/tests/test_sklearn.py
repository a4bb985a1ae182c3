# SPDX-License-Identifier: Apache-2.0
"""The manners of scikit-learn: its own checks where they apply, and use with its tools."""

import pickle
from unittest import SkipTest

import numpy as np
import pytest
from data import draw, softmax

sklearn = pytest.importorskip("sklearn")
from segcal.sklearn import Calibrator  # noqa: E402  pylint: disable=wrong-import-position
from sklearn.base import clone  # noqa: E402  pylint: disable=wrong-import-position
from sklearn.linear_model import LogisticRegression  # noqa: E402  pylint: disable=wrong-import-position
from sklearn.model_selection import GridSearchCV  # noqa: E402  pylint: disable=wrong-import-position
from sklearn.pipeline import make_pipeline  # noqa: E402  pylint: disable=wrong-import-position
from sklearn.preprocessing import FunctionTransformer  # noqa: E402  pylint: disable=wrong-import-position
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402  pylint: disable=wrong-import-position

# scikit-learn draws X with columns that have nothing to do with the classes of y; X of a calibrator are scores,
# a column for each class. What these checks ask for cannot be answered for such X.
NOT_SCORES = "one column for each class"


def test_checks_of_scikit_learn():
    passed, inapplicable, failed = [], [], []
    for estimator, check in check_estimator(Calibrator(), generate_only=True):
        name = getattr(check, "func", check).__name__
        try:
            check(estimator)
            passed.append(name)
        except SkipTest:
            continue
        except Exception as error:  # pylint: disable=broad-except
            chain = []
            cause = error
            while cause is not None:
                chain.append(str(cause))
                cause = cause.__cause__ or cause.__context__
            (inapplicable if any(NOT_SCORES in text for text in chain) else failed).append((name, str(error)[:200]))
    assert not failed
    assert len(passed) >= 20, (passed, inapplicable)


def test_parameters_clone_and_pickle():
    scores, y = draw((400, 3))
    calibrator = Calibrator("vs", seed=3)
    assert calibrator.get_params()["pipeline"] == "vs"
    copy = clone(calibrator).set_params(pipeline="ts")
    copy.fit(scores, y)
    assert not hasattr(calibrator, "model_")
    again = pickle.loads(pickle.dumps(copy))
    np.testing.assert_array_equal(again.predict_proba(scores), copy.predict_proba(scores))
    np.testing.assert_allclose(copy.predict_proba(scores), softmax(scores / copy.model_.temperature, 1), atol=2e-6)


def test_labels_of_any_kind_and_absent_ones():
    scores, y = draw((400, 3))
    names = np.array(["car", "road", "sky"])
    named = Calibrator().fit(scores, names[y])
    assert named.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(named.predict(scores), names[scores.argmax(1)])
    assert named.score(scores, names[y]) == (scores.argmax(1) == y).mean()
    Calibrator().fit(scores, np.where(y == 2, 0, y))
    with pytest.raises(ValueError, match=NOT_SCORES):
        Calibrator().fit(scores, names[np.where(y == 2, 0, y)])


def test_in_a_pipeline_and_a_search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5))
    y = (X[:, :3] + rng.gumbel(size=(900, 3))).argmax(1)
    network = LogisticRegression(C=100).fit(X[:300], y[:300])
    chain = make_pipeline(FunctionTransformer(network.decision_function), Calibrator("ts"))
    chain.fit(X[300:600], y[300:600])
    assert chain.predict_proba(X[600:]).shape == (300, 3)
    search = GridSearchCV(Calibrator(), {"pipeline": ["ts", "vs"]}, scoring="neg_log_loss", cv=2)
    search.fit(network.decision_function(X), y)
    assert search.best_params_["pipeline"] in ("ts", "vs")


def test_dense_predictions():
    logits, labels = draw((3, 4, 20, 20))
    labels[0, :2] = 255
    dense = Calibrator("cms_ap", ignore_index=255).fit(logits, labels)
    assert dense.predict_proba(logits).shape == logits.shape
    np.testing.assert_array_equal(dense.predict(logits), logits.argmax(1))
    counted = labels != 255
    assert dense.score(logits, labels) == pytest.approx((logits.argmax(1) == labels)[counted].mean(), abs=1e-12)
