# SPDX-License-Identifier: Apache-2.0
"""Whatever is passed, a call returns or raises with a reason; the interpreter lives on."""

import threading

import numpy as np
import pytest
import segcal
from data import draw
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@pytest.fixture(name="model", scope="module")
def fixture_model():
    logits, labels = draw((4, 3, 16, 16))
    return segcal.fit(logits, labels, "ts")


LOGITS, LABELS = draw((2, 3, 12, 14))


def with_value(array, value):
    changed = array.copy()
    changed.flat[7] = value
    return changed


BAD_FITS = {
    "NaN": (lambda: (with_value(LOGITS, np.nan), LABELS), "NaN or"),
    "infinite": (lambda: (with_value(LOGITS, np.inf), LABELS), "inf"),
    "label out of range": (lambda: (LOGITS, with_value(LABELS, 9)), "9"),
    "negative label": (lambda: (LOGITS, with_value(LABELS.astype(int), -1)), "-1"),
    "half a label": (lambda: (LOGITS, with_value(LABELS.astype(float), 0.5)), "0.5"),
    "labels of another shape": (lambda: (LOGITS, LABELS[:, :5]), "shape"),
    "labels of fewer images": (lambda: (LOGITS, LABELS[:1]), "layout|one for each"),
    "no labels": (lambda: (LOGITS, None), "labels"),
    "whole numbers": (lambda: (LOGITS.astype(int), LABELS), "int64"),
    "complex": (lambda: (LOGITS.astype(complex), LABELS), "complex128"),
    "objects": (lambda: (LOGITS.astype(object), LABELS), "object"),
    "text": (lambda: (np.full((2, 3, 4, 4), "a"), LABELS), "<U1"),
    "long double": (lambda: (LOGITS.astype(np.longdouble), LABELS), "float128"),
    "masked": (lambda: (np.ma.masked_array(LOGITS), LABELS), "mask="),
    "six axes": (lambda: (LOGITS[None, None], LABELS), "shape"),
    "one axis": (lambda: (LOGITS.ravel(), LABELS), "shape"),
    "a number": (lambda: (np.float32(3), LABELS), "shape"),
    "nothing": (lambda: (None, LABELS), "NoneType"),
    "empty": (lambda: (LOGITS[:, :, :0], LABELS[:, :0]), "no voxels"),
    "no images": (lambda: (LOGITS[:0], LABELS[:0]), ""),
    "empty list": (lambda: ([], []), ""),
    "lists of two lengths": (lambda: ([LOGITS[0]], [LABELS[0], LABELS[1]]), "2 for 1"),
    "classes that differ": (lambda: ([LOGITS[0], LOGITS[0][:2]], list(LABELS)), "2 channels"),
    "ambiguous": (lambda: (np.zeros((3, 3, 5, 5), np.float32), np.zeros((3, 5, 5), int)), "layout="),
    "more than memory": (lambda: (np.broadcast_to(np.float32(0), (3, 2**28, 2**30)),
                                  np.broadcast_to(np.uint8(0), (2**28, 2**30))), "shape"),
    "members of two shapes": (lambda: (segcal.Members(LOGITS, LOGITS[:, :, :5]), LABELS), "shape"),
    "members of two lengths": (lambda: (segcal.Members(LOGITS, LOGITS[:1]), LABELS), "images"),
    "no members": (lambda: (segcal.Members(), LABELS), "none"),
}


@pytest.mark.parametrize("case", BAD_FITS)
def test_fit_says_what_is_wrong(case):
    make, reason = BAD_FITS[case]
    logits, labels = make()
    with pytest.raises(ValueError, match=reason) as error:
        segcal.fit(logits, labels, "ts")
    assert len(str(error.value)) > 10


BAD_OPTIONS = {
    "unknown method": ({"pipeline": "nope"}, ValueError, "nope"),
    "no method": ({"pipeline": ""}, ValueError, "cms_ap"),
    "unknown option": ({"pipeline": "ts(z, nope=1)"}, ValueError, "nope"),
    "unknown input": ({"input": "scores"}, ValueError, "scores"),
    "not probabilities": ({"input": "probabilities"}, ValueError, "probabilities"),
    "unknown layout": ({"layout": "XYZ"}, ValueError, "NCHW"),
    "layout of other axes": ({"layout": "CHW"}, ValueError, "axes"),
    "too few classes": ({"classes": ["a", "b"]}, ValueError, "2 classes"),
    "negative seed": ({"seed": -1}, TypeError, "seed"),
    "seed of text": ({"seed": "one"}, TypeError, "seed"),
    "negative threads": ({"threads": -1}, ValueError, "threads|-1"),
    "little memory": ({"memory": 1000}, ValueError, "memory"),
    "split of none": ({"split": "gone"}, ValueError, "gone"),
    "mask of another shape": ({"mask": np.ones((2, 5, 5))}, ValueError, "mask"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_are_checked(case):
    options, kind, reason = BAD_OPTIONS[case]
    options = {"pipeline": "ts", **options}
    with pytest.raises(kind, match=reason):
        segcal.fit(LOGITS, LABELS, options.pop("pipeline"), **options)


def test_outputs_are_checked(model):
    shape = LOGITS.shape

    def refused(out, reason):
        before = None if not isinstance(out, np.ndarray) else out.tobytes()
        with pytest.raises(ValueError, match=reason):
            model.predict_proba(LOGITS, out=out)
        assert before is None or out.tobytes() == before
    read_only = np.zeros(shape, np.float32)
    read_only.flags.writeable = False
    refused(read_only, "read-only")
    refused(np.zeros(shape, np.float64), "float64")
    refused(np.zeros(shape, np.int32), "int32")
    refused(np.zeros(shape, ">f4"), "byte order")
    refused(np.zeros((2, 3, 12, 15), np.float32), "shape")
    refused(np.zeros(shape[1:], np.float32), "shape")
    refused(np.ma.zeros(shape, np.float32), "MaskedArray")
    refused([0.0], "list")
    refused(np.lib.stride_tricks.as_strided(np.zeros(3, np.float32), shape, (0, 4, 0, 0)), "one place")
    shared = LOGITS.copy()
    with pytest.raises(ValueError, match="overlaps the memory of member 0"):
        model.predict_proba(shared, out=shared)
    np.testing.assert_array_equal(shared, LOGITS)
    longer = np.zeros((3, *shape[1:]), np.float32)
    longer[:2] = LOGITS
    with pytest.raises(ValueError, match="overlaps"):
        model.predict_proba(longer[:2], out=longer[1:])
    both = np.zeros(shape[0:1] + shape[2:], np.float32)
    with pytest.raises(ValueError, match="overlaps"):
        model.apply(LOGITS, out={"confidence": both, "entropy": both})
    with pytest.raises(ValueError, match="unknown output"):
        model.apply(LOGITS, write=["everything"])


def test_files_and_text(tmp_path, model):
    with pytest.raises(OSError, match="gone.json"):
        segcal.load(tmp_path / "gone.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(ValueError, match="broken.json"):
        segcal.load(tmp_path / "broken.json")
    with pytest.raises(OSError, match="nowhere"):
        model.save(tmp_path / "nowhere" / "model.json")
    with pytest.raises(OSError, match="gone"):
        segcal.fit(tmp_path / "gone", None, "ts")
    with pytest.raises(ValueError, match="beside a data set"):
        segcal.fit(tmp_path / "gone", LABELS, "ts")
    with pytest.raises(ValueError, match="model"):
        segcal.Model.from_json("[]")
    file = segcal.Dataset([segcal.Case("no.npy", "no.png")], classes=["a", "b"])
    with pytest.raises(OSError, match="no[.]"):
        segcal.fit(file, None, "ts")
    with pytest.raises(ValueError, match="memory"):
        segcal.Dataset([(LOGITS, LABELS)]).save(tmp_path / "dataset.json")
    with pytest.raises(ValueError, match="classes"):
        segcal.Dataset([segcal.Case("no.npy", "no.png")])


DTYPES = st.sampled_from(["f2", "f4", "f8", "i4", "u1", "?", "c8", "O", ">f4", "S3", "M8[s]"])


@st.composite
def arrays(draw_one):
    """Arrays of any type, shape and strides, with all the values a type has."""
    dtype = np.dtype(draw_one(DTYPES))
    shape = tuple(draw_one(st.lists(st.integers(0, 5), min_size=0, max_size=6)))
    if dtype.kind == "f":
        elements = st.floats(width=dtype.itemsize * 8, allow_nan=True, allow_infinity=True)
        array = draw_one(hnp.arrays(dtype, shape, elements=elements))
    else:
        array = np.zeros(shape, dtype)
    for axis in range(array.ndim):
        if draw_one(st.booleans()):
            array = np.flip(array, axis)
    if draw_one(st.booleans()):
        array = array.T
    return array


@given(logits=arrays(), labels=st.one_of(st.none(), arrays()), mask=st.one_of(st.none(), arrays()),
       layout=st.sampled_from([None, "NC", "CHW", "HWC", "NCHW", "CDHW", "NDHWC"]))
def test_fit_of_anything_returns_or_raises(logits, labels, mask, layout):
    try:
        segcal.fit(logits, labels, "ts", mask=mask, layout=layout, ignore_index=255)
    except (ValueError, TypeError) as error:
        assert str(error)


@given(logits=arrays(), out=st.one_of(st.none(), arrays()), mask=st.one_of(st.none(), arrays()))
def test_apply_to_anything_returns_or_raises(model, logits, out, mask):
    try:
        result = model.predict_proba(logits, out=out, mask=mask)
        assert result.shape == logits.shape
    except (ValueError, TypeError) as error:
        assert str(error)


@given(predictions=arrays(), labels=arrays(), members=st.integers(0, 3), names=st.sampled_from(
    [("ece", "nll"), ("dsc",), ("ace",), ("boundary_ece",), ("aurc", "flip_rate")]))
def test_metrics_of_anything_return_or_raise(predictions, labels, members, names):
    given_predictions = segcal.Members(*[predictions] * members) if members > 1 else predictions
    try:
        metric = segcal.metrics.Metric(*names, input="logits", ignore_index=255)
        metric.update(given_predictions, labels)
        assert set(metric.compute()) == set(names)
    except (ValueError, TypeError) as error:
        assert str(error)


@given(logits=arrays(), labels=arrays())
def test_evaluations_and_studies_of_anything_return_or_raise(logits, labels):
    for call in (lambda: segcal.evaluate("none(z)", logits, labels, metrics=["nll"]),
                 lambda: segcal.inspect(logits, labels),
                 lambda: segcal.compare(logits, labels, "none(z)", repeats=1, replicates=10, metrics=["nll"])):
        try:
            call()
        except (ValueError, TypeError) as error:
            assert str(error)


@st.composite
def views(draw_one, size, shape):
    """Where a view of a buffer lies: its first element and its steps, of any sign, inside the buffer."""
    steps = draw_one(st.tuples(*[st.integers(-12, 12) for _ in shape]))
    reach = [step * (extent - 1) for step, extent in zip(steps, shape)]
    low, high = -sum(min(r, 0) for r in reach), size - 1 - sum(max(r, 0) for r in reach)
    assume(low <= high)
    return draw_one(st.integers(low, high)), steps


@given(shape=st.tuples(st.just(3), st.integers(1, 5), st.integers(1, 6)), data=st.data())
def test_views_of_one_buffer_are_apart_or_refused(model, shape, data):
    """Input and output anywhere in the same memory: nothing is written but the output, and that is right."""
    buffer = np.random.default_rng(0).normal(0, 3, 600).astype(np.float32)
    before = buffer.copy()

    def view(of):
        start, steps = data.draw(views(of.size, shape))
        return np.lib.stride_tricks.as_strided(of[start:], shape, [4 * step for step in steps])
    logits, out = view(buffer), view(buffer)
    expected = model.predict_proba(logits.copy())
    try:
        model.predict_proba(logits, out=out)
    except ValueError as error:
        assert "overlaps" in str(error) or "one place" in str(error)
        np.testing.assert_array_equal(buffer, before)
        return
    np.testing.assert_array_equal(out, expected)
    out[...] = 0
    untouched = before.copy()
    untouched[buffer == 0] = 0
    np.testing.assert_array_equal(buffer, untouched)


class Exporter:
    """What a package that speaks DLPack hands over, or fails to."""

    def __init__(self, capsule=None, error=None, device=(1, 0)):
        self.capsule, self.error, self.device = capsule, error, device

    def __dlpack__(self, **_):
        if self.error is not None:
            raise self.error
        return self.capsule

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("exporter", [Exporter("no capsule"), Exporter(error=BufferError("busy")),
                                      Exporter(error=RuntimeError("no")), Exporter(device=(2, 0), error=BufferError("cuda"))])
def test_what_cannot_be_taken_over_is_refused(model, exporter):
    for call in (lambda: model.predict_proba(exporter), lambda: segcal.fit(exporter, LABELS, "ts"),
                 lambda: segcal.metrics.ece(exporter, LABELS)):
        with pytest.raises(ValueError, match="logits: Exporter"):
            call()


@pytest.mark.parametrize("step", [2**62, -2**62, 2**60])
def test_strides_beyond_any_memory_are_refused(model, step):
    def wild():  # not a variable: pytest would print it, and read it
        return np.lib.stride_tricks.as_strided(np.zeros(3, np.float32), (3, 4, 5), (4, step, 0))
    with pytest.raises(ValueError, match="beyond any memory|overlaps"):
        model.predict_proba(wild())
    with pytest.raises(ValueError, match="beyond any memory|overlaps|plain"):
        model.predict_proba(LOGITS[0, :, :4, :5], out=wild())
    with pytest.raises(ValueError, match="beyond any memory"):
        segcal.fit(wild(), np.zeros((4, 5), int), "ts")


def test_threads_that_fail_leave_the_others_alone(model):
    """Good and bad calls at once; every thread gets its own answer."""
    expected = model.predict_proba(LOGITS).tobytes()
    wrong = []

    def work(number):
        bad = with_value(LOGITS, np.nan)
        for _ in range(10):
            try:
                model.predict_proba(bad, threads=2)
                wrong.append("no error")
            except ValueError as error:
                if "NaN" not in str(error):
                    wrong.append(str(error))
            if model.predict_proba(LOGITS, threads=1 + number % 2).tobytes() != expected:
                wrong.append("another result")
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@given(text=st.one_of(st.text(max_size=40), st.from_regex(r"[a-z_+]{1,12}\([a-z0-9=., ]{0,20}\)")))
def test_any_text_is_a_pipeline_or_an_error(text):
    try:
        segcal.fit(LOGITS[:1, :, :4, :4], LABELS[:1, :4, :4], text, threads=1)
    except ValueError as error:
        assert str(error)


@given(data=st.data())
def test_changed_models_load_or_raise(model, data):
    text = model.to_json()
    at = data.draw(st.integers(0, len(text) - 1))
    changed = text[:at] + data.draw(st.characters()) + text[at + data.draw(st.integers(0, 3)):]
    try:
        segcal.Model.from_json(changed).predict_proba(LOGITS)
    except (ValueError, UnicodeError, TypeError) as error:
        assert str(error)
