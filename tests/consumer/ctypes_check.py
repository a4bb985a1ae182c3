# SPDX-License-Identifier: Apache-2.0
"""ctypes_check.py LIBRARY MODEL: the C interface as another language sees it, structs laid out by hand."""

import ctypes
import sys

HEIGHT, WIDTH = 6, 4


class Array(ctypes.Structure):
    """segcal_input and segcal_output, which differ in const alone."""

    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("dtype", ctypes.c_int32),
                ("num_axes", ctypes.c_int32), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]


def array(name, values, dtype, shape):
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    return Array(name, ctypes.cast(values, ctypes.c_void_p), dtype, len(shape), sizes, None)


def main(library, path):
    segcal = ctypes.CDLL(library)
    for name in ("segcal_last_error", "segcal_pipeline", "segcal_version"):
        getattr(segcal, name).restype = ctypes.c_char_p
    segcal.segcal_num_classes.restype = ctypes.c_int64
    for name in ("segcal_pipeline", "segcal_num_classes", "segcal_free"):
        getattr(segcal, name).argtypes = [ctypes.c_void_p]
    segcal.segcal_apply.argtypes = [ctypes.c_void_p, ctypes.POINTER(Array), ctypes.c_size_t,
                                    ctypes.POINTER(Array), ctypes.c_size_t, ctypes.c_char_p]
    model = ctypes.c_void_p()
    assert segcal.segcal_load(b"missing.json", ctypes.byref(model)) == 3
    assert b"missing.json" in segcal.segcal_last_error()
    assert segcal.segcal_load(path.encode(), ctypes.byref(model)) == 0, segcal.segcal_last_error()
    classes = segcal.segcal_num_classes(model)
    voxels = HEIGHT * WIDTH
    logits = (ctypes.c_float * (classes * voxels))(*((k * 7919) % 1000 / 100 for k in range(classes * voxels)))
    probs = (ctypes.c_float * (classes * voxels))()
    labels = (ctypes.c_int32 * voxels)()
    members = (Array * 1)(array(b"member", logits, 1, (classes, HEIGHT, WIDTH)))
    outputs = (Array * 2)(array(b"probabilities", probs, 1, (classes, HEIGHT, WIDTH)),
                          array(b"labels", labels, 8, (HEIGHT, WIDTH)))
    assert segcal.segcal_apply(model, members, 1, outputs, 2, b'{"threads": 1}') == 0, segcal.segcal_last_error()
    for v in range(voxels):
        assert abs(sum(probs[v::voxels]) - 1) < 1e-5
        assert labels[v] == max(range(classes), key=lambda c: logits[c * voxels + v])
    assert segcal.segcal_apply(model, members, 1, outputs, 2, b"{") == 2
    print(segcal.segcal_pipeline(model).decode(), "by ctypes: ok")
    segcal.segcal_free(model)


if __name__ == "__main__":
    main(*sys.argv[1:])
