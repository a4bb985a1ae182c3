# SPDX-License-Identifier: Apache-2.0
"""Whatever is passed to the C interface, through ctypes, it returns a code and a reason; the process lives on.

Views of arrays stay inside one large buffer, as C cannot know where memory ends; what reaches further than any
memory must be refused.
"""

import ctypes
import json
import os
import threading

import numpy as np
import pytest
import segcal
from data import draw, softmax
from hypothesis import given
from hypothesis import strategies as st

LIBRARY = os.environ.get("SEGCAL_LIBRARY", "")
if not LIBRARY.endswith(".so") and ".so." not in LIBRARY:
    pytest.skip("the library is no shared one", allow_module_level=True)

F16, F32, F64, U8, I32, BF16 = 0, 1, 2, 3, 8, 12
CLASSES = 3
ROOM = 1 << 16  # bytes on either side of where views start


class View(ctypes.Structure):
    """segcal_input and segcal_output."""

    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("dtype", ctypes.c_int32),
                ("num_axes", ctypes.c_int32), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]


def numbers(values):
    """A C array of int64, or NULL."""
    return None if values is None else (ctypes.c_int64 * max(len(values), 1))(*values)


def view_of(name, address, dtype, shape, strides=None, axes=None):
    return View(name, address, dtype, len(shape or ()) if axes is None else axes, numbers(shape), numbers(strides))


@pytest.fixture(name="library", scope="module")
def fixture_library():
    library = ctypes.CDLL(LIBRARY)
    library.segcal_last_error.restype = ctypes.c_char_p
    library.segcal_free.argtypes = [ctypes.c_void_p]
    library.segcal_load_text.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]
    library.segcal_apply.argtypes = [ctypes.c_void_p, ctypes.POINTER(View), ctypes.c_size_t, ctypes.POINTER(View),
                                     ctypes.c_size_t, ctypes.c_char_p]
    return library


@pytest.fixture(name="fitted", scope="module")
def fixture_fitted():
    return segcal.fit(*draw((4, CLASSES, 16, 16)), "cms_ap")


@pytest.fixture(name="model", scope="module")
def fixture_model(library, fitted):
    handle, text = ctypes.c_void_p(), fitted.to_json().encode()
    assert library.segcal_load_text(text, len(text), ctypes.byref(handle)) == 0
    yield handle
    library.segcal_free(handle)


def apply(library, model, inputs, outputs, options=None):
    """The status, and what is wrong."""
    status = library.segcal_apply(model, (View * max(len(inputs), 1))(*inputs), len(inputs),
                                  (View * max(len(outputs), 1))(*outputs), len(outputs), options)
    return status, library.segcal_last_error() if status else b""


NAMES = st.one_of(st.none(), st.sampled_from([b"member", b"mask", b"image", b"probabilities", b"labels", b"confidence",
                                              b"entropy", b"temperature", b"nope", b"", b"\xff"]))
STEPS = st.one_of(st.integers(-40, 40), st.sampled_from([2**62, -2**62, 2**63 - 1, -2**63]))


@st.composite
def views(draw_one):
    """Names, types, shapes and strides of any kind, starting somewhere in the buffer."""
    shape = draw_one(st.one_of(st.none(), st.lists(st.integers(-1, 5), max_size=4), st.just([CLASSES, 4, 5]),
                               st.just([4, 5]), st.just([2**40, 2**40])))
    strides = None if shape is None else draw_one(st.one_of(st.none(), st.lists(STEPS, min_size=len(shape),
                                                                              max_size=len(shape))))
    axes = draw_one(st.sampled_from([None, None, None, None, -1, 0, 9, 2**31 - 1]))
    return {"name": draw_one(NAMES), "dtype": draw_one(st.one_of(st.integers(-1, 13), st.just(2**31 - 1))),
            "shape": shape, "strides": strides, "axes": axes, "at": draw_one(st.integers(0, 64)),
            "null": draw_one(st.integers(0, 15)) == 0}


def placed(given_view, base):
    """A view as C sees it; element 0 is in the middle of the buffer, at a multiple of 8 bytes."""
    address = None if given_view["null"] else base + ROOM + 8 * given_view["at"]
    return view_of(given_view["name"], address, given_view["dtype"], given_view["shape"], given_view["strides"],
                   given_view["axes"])


@given(inputs=st.lists(views(), max_size=3), outputs=st.lists(views(), max_size=3),
       options=st.one_of(st.none(), st.binary(max_size=12).filter(lambda text: b"\0" not in text),
                         st.sampled_from([b"{}", b'{"threads": 1}', b'{"threads": -1}', b'{"nope": 1}'])))
def test_any_views_give_a_code_and_a_reason(library, model, inputs, outputs, options):
    memory = np.zeros(2 * ROOM + 4096, np.uint8)
    base = (memory.ctypes.data + 7) // 8 * 8
    status, reason = apply(library, model, [placed(v, base) for v in inputs], [placed(v, base) for v in outputs],
                           options)
    assert 0 <= status <= 4, reason
    assert status == 0 or len(reason) > 5


def buffers(dtype=np.float32, bad=None):
    logits = np.random.default_rng(1).normal(0, 3, (CLASSES, 4, 5)).astype(dtype)
    if bad is not None:
        logits[1, 2, 3] = bad
    return logits, np.zeros((CLASSES, 4, 5), np.float32)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers_are_named(library, model, bad):
    logits, out = buffers(bad=bad)
    status, reason = apply(library, model, [view_of(b"member", logits.ctypes.data, F32, logits.shape)],
                           [view_of(b"probabilities", out.ctypes.data, F32, out.shape)])
    assert status == 2 and b"(2, 3)" in reason


def test_overlapping_and_missing_arrays_are_refused(library, model):
    logits, out = buffers()
    member = view_of(b"member", logits.ctypes.data, F32, logits.shape)

    def refused(word, inputs, outputs):
        status, reason = apply(library, model, inputs, outputs)
        assert status == 1 and word in reason, reason
    refused(b"overlaps", [member], [view_of(b"probabilities", logits.ctypes.data + 4, F32, logits.shape)])
    refused(b"one place", [member], [view_of(b"probabilities", out.ctypes.data, F32, out.shape, [0, 5, 1])])
    refused(b"twice", [member], [view_of(b"labels", out.ctypes.data, U8, (4, 5)),
                                 view_of(b"labels", out.ctypes.data + 100, U8, (4, 5))])
    refused(b"NULL", [view_of(b"member", None, F32, logits.shape)], [])
    refused(b"beyond any memory", [view_of(b"member", logits.ctypes.data, F32, logits.shape, [2**62, 5, 1])],
            [view_of(b"probabilities", out.ctypes.data, F32, out.shape)])


def test_bfloat16_members(library, model, fitted):
    """A bfloat16 is the upper half of a float."""
    logits, out = buffers()
    upper = (logits.view(np.uint32) >> 16).astype(np.uint16)
    rounded = (upper.astype(np.uint32) << 16).view(np.float32)
    status, reason = apply(library, model, [view_of(b"member", upper.ctypes.data, BF16, upper.shape)],
                           [view_of(b"probabilities", out.ctypes.data, F32, out.shape)])
    assert status == 0, reason
    np.testing.assert_array_equal(out, fitted.predict_proba(rounded))
    status, reason = apply(library, model, [view_of(b"member", upper.ctypes.data, BF16, upper.shape)],
                           [view_of(b"probabilities", out.ctypes.data, BF16, out.shape)])
    assert status != 0 and b"bfloat16" in reason


def test_threads_at_once_get_their_own_results_and_reasons(library, model, fitted):
    failures = []

    def work(number):
        logits = np.random.default_rng(number).normal(0, 3, (CLASSES, 8, 9)).astype(np.float32)
        expected = fitted.predict_proba(logits, threads=1)
        out = np.zeros_like(logits)
        name = f"wrong{number}".encode()
        for _ in range(20):
            views_in = [view_of(b"member", logits.ctypes.data, F32, logits.shape)]
            good, _ = apply(library, model, views_in, [view_of(b"probabilities", out.ctypes.data, F32, out.shape)],
                            json.dumps({"threads": 2}).encode())
            bad, reason = apply(library, model, views_in, [view_of(name, out.ctypes.data, F32, out.shape)])
            if good != 0 or bad != 1 or name not in reason or not np.array_equal(out, expected):
                failures.append((number, good, bad, reason))
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_probabilities_are_those_of_the_formula(library):
    """Closed form: softmax(z / T)."""
    fitted = segcal.fit(*draw((4, CLASSES, 16, 16)), "ts")
    handle, text = ctypes.c_void_p(), fitted.to_json().encode()
    assert library.segcal_load_text(text, len(text), ctypes.byref(handle)) == 0
    logits, out = buffers(np.float64)
    status, reason = apply(library, handle, [view_of(b"member", logits.ctypes.data, F64, logits.shape)],
                           [view_of(b"probabilities", out.ctypes.data, F32, out.shape)])
    assert status == 0, reason
    np.testing.assert_allclose(out, softmax(logits / fitted.temperature, 0), atol=2e-6)
    library.segcal_free(handle)
