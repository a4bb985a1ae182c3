# SPDX-License-Identifier: Apache-2.0
"""Arrays in and out: any type and strides, never copied, written in place, NumPy and torch."""

import sys
import threading
import tracemalloc

import numpy as np
import pytest
import segcal
from data import draw, softmax


@pytest.fixture(name="model", scope="module")
def fixture_model():
    logits, labels = draw((4, 3, 32, 40))
    return segcal.fit(logits, labels, "ts")


# Closed form: softmax(z / T).
@pytest.mark.parametrize("shape,axis", [((50, 3), 1), ((3, 9, 11), 0), ((2, 3, 9, 11), 1), ((3, 4, 5, 6), 0),
                                        ((2, 3, 4, 5, 6), 1)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_shape_and_type(model, shape, axis, dtype):
    logits = draw(shape, axis=axis, dtype=dtype)[0]
    probabilities = model.predict_proba(logits)
    assert probabilities.shape == shape and probabilities.dtype == np.float32
    expected = softmax(np.asarray(logits, np.float64) / model.temperature, axis)
    np.testing.assert_allclose(probabilities, expected, atol=2e-6)
    labels = model.predict(logits)
    assert labels.dtype == np.uint8
    np.testing.assert_array_equal(labels, logits.argmax(axis))


@pytest.mark.parametrize("layout", ["NC", "CN", "CHW", "HWC", "NCHW", "NHWC", "CDHW", "DHWC", "NCDHW", "NDHWC"])
def test_stated_layouts_give_results_in_the_same_layout(model, layout):
    extents = {"N": 2, "C": 3, "D": 4, "H": 5, "W": 6}
    axis = layout.index("C")
    logits = draw(tuple(extents[letter] for letter in layout), axis=axis)[0]
    out = model.predict_proba(logits, layout=layout)
    np.testing.assert_allclose(out, softmax(logits / model.temperature, axis), atol=2e-6)


def test_any_strides_give_the_same_bytes(model):
    logits = draw((3, 40, 60), axis=0)[0]
    expected = model.predict_proba(logits)
    padded = np.zeros((3, 41, 64), np.float32)
    padded[:, 1:, 2:62] = logits
    doubled = np.repeat(logits, 2, axis=2)
    records = np.zeros((3, 40, 60), [("pad", "u1"), ("z", "f4")])
    records["z"] = logits
    odd = np.frombuffer(b"\0" + logits.tobytes(), np.uint8)[1:].view(np.float32).reshape(logits.shape)
    for view in (padded[:, 1:, 2:62], doubled[:, :, ::2], logits[:, ::-1].copy()[:, ::-1],
                 logits[::-1].copy()[::-1], np.asfortranarray(logits), records["z"], odd,
                 logits.astype(">f4"), logits.astype(np.float64)):
        assert model.predict_proba(view).tobytes() == expected.tobytes()
    one = np.broadcast_to(logits[:, :1, :1], (3, 40, 60))
    np.testing.assert_array_equal(model.predict_proba(one), np.broadcast_to(expected[:, :1, :1], (3, 40, 60)))


def test_out_is_written_in_place_with_any_strides(model):
    logits = draw((2, 3, 20, 30))[0]
    expected = model.predict_proba(logits)
    out = np.full((2, 3, 20, 30), -1, np.float32)
    assert model.predict_proba(logits, out=out) is out
    np.testing.assert_array_equal(out, expected)
    wide = np.full((2, 3, 20, 60), -1, np.float32)
    model.predict_proba(logits, out=wide[:, :, :, ::2])
    np.testing.assert_array_equal(wide[:, :, :, ::2], expected)
    assert (wide[:, :, :, 1::2] == -1).all()
    last = np.empty((2, 20, 30, 3), np.float32)
    model.predict_proba(logits, out=last.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(last.transpose(0, 3, 1, 2), expected)
    back = np.empty((2, 3, 20, 30), np.float32)
    model.predict_proba(logits, out=back[:, :, ::-1])
    np.testing.assert_array_equal(back[:, :, ::-1], expected)
    half = model.predict_proba(logits, dtype=np.float16)
    np.testing.assert_array_equal(half.argmax(1), logits.argmax(1))
    several = {"labels": np.empty((2, 20, 30), np.int32), "confidence": np.empty((2, 20, 30), np.float32)}
    given = model.apply(logits, out=several)
    assert given["labels"] is several["labels"]
    np.testing.assert_array_equal(several["confidence"], expected.max(1))


def test_nothing_is_copied(model):
    logits = draw((3, 512, 512), axis=0)[0]
    labels = logits.argmax(0).astype(np.uint8)
    out = np.empty_like(logits)
    tracemalloc.start()
    model.predict_proba(logits[:, ::-1, ::-1], out=out)
    segcal.fit(logits[:, ::-1], labels[::-1], "ts")
    segcal.metrics.ece(logits, labels, input="logits")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < logits.nbytes / 20


def test_masked_voxels_are_left_alone(model):
    logits, labels = draw((3, 30, 30), axis=0)
    mask = np.zeros((30, 30), bool)
    mask[:20] = True
    out = model.predict_proba(logits, mask=mask)
    np.testing.assert_allclose(out[:, 20:], softmax(logits, 0)[:, 20:], atol=2e-6)
    np.testing.assert_allclose(out[:, :20], softmax(logits / model.temperature, 0)[:, :20], atol=2e-6)
    left = segcal.fit(logits, labels, "ts", mask=mask)
    assert left.temperature == segcal.fit(logits[:, :20], labels[:20], "ts").temperature
    ignored = labels.copy()
    ignored[20:] = 7
    assert segcal.fit(logits, ignored, "ts", ignore_index=7).temperature == left.temperature


def test_ensembles(model):
    first, labels = draw((2, 3, 20, 20))
    second = draw((2, 3, 20, 20), seed=1)[0]
    pair = segcal.Members(first, second)
    mean = segcal.fit((first + second) / 2, labels, "ts(z)")
    np.testing.assert_allclose(segcal.fit(pair, labels, "ts(z)").temperature, mean.temperature, rtol=1e-5)
    averaged = model.predict_proba(pair)
    np.testing.assert_allclose(averaged, model.predict_proba((first + second) / 2), atol=1e-6)


def test_lists_and_iterators(model):
    arrays = [draw((3, 8 + i, 9), axis=0)[0] for i in range(3)]
    results = model.predict_proba(arrays)
    assert [result.shape for result in results] == [array.shape for array in arrays]
    lazily = model.predict_proba(iter(arrays))
    assert not isinstance(lazily, list)
    for one, other in zip(lazily, results):
        np.testing.assert_array_equal(one, other)
    assert model.predict([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]]).tolist() == [2, 0]


def test_data_set_keeps_its_arrays_alive():
    data = segcal.Dataset((draw((3, 40, 40), seed=i, axis=0) for i in range(20)))
    expected = segcal.fit([draw((3, 40, 40), seed=i, axis=0) for i in range(20)], None, "ts").to_json()
    junk = [np.full((3, 40, 40), np.nan, np.float32) for _ in range(40)]
    assert segcal.fit(data, None, "ts").to_json() == expected
    del junk


def test_threads_may_call_at_once(model):
    inputs = [draw((3, 60, 50), seed=i, axis=0)[0] for i in range(8)]
    expected = [model.predict_proba(array).tobytes() for array in inputs]
    found = [None] * 8

    def work(i):
        for _ in range(5):
            found[i] = model.predict_proba(inputs[i], threads=2).tobytes()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_other_threads_run_meanwhile():
    logits, labels = draw((6, 5, 128, 128))
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(1)
    thread = threading.Thread(target=tick)
    thread.start()
    before = sys.getswitchinterval()
    sys.setswitchinterval(60)  # a thread that kept the lock would not be interrupted
    try:
        segcal.fit(logits, labels, "ms", threads=1)
    finally:
        sys.setswitchinterval(before)
        done.set()
        thread.join()
    assert len(ticks) > 5
