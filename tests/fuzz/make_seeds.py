#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tiny valid files, from which the fuzz targets start: make_seeds.py FOLDER."""

import gzip
import io
import pathlib
import struct
import sys
import zipfile

import numpy as np


def npy_files():
    values = np.arange(6).reshape(2, 3)
    for code in ("<f2", ">f4", "<f8", "|u1", "<i2", ">i8", "|b1"):
        for order in ("C", "F"):
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(values, dtype=code, order=order))
            yield buffer.getvalue()
    for version in ((2, 0), (3, 0)):
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, values.astype("<f4"), version=version)
        yield buffer.getvalue()


def npz_files():
    values = np.arange(6, dtype="<f4").reshape(2, 3)
    for save in (np.savez, np.savez_compressed):
        for keys in (("probabilities",), ("softmax", "x"), ("a",)):
            buffer = io.BytesIO()
            save(buffer, **{key: values for key in keys})
            yield buffer.getvalue()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", next(npy_files()))
        archive.comment = b"comment"
    yield buffer.getvalue()


def nifti_files():
    for order in "<>":
        for code, bits, kind in ((2, 8, "u1"), (4, 16, "i2"), (16, 32, "f4"), (64, 64, "f8")):
            voxels = np.arange(12).astype(order + kind).tobytes()
            one = bytearray(352)
            struct.pack_into(order + "i", one, 0, 348)
            struct.pack_into(order + "8h", one, 40, 3, 3, 2, 2, 1, 1, 1, 1)
            struct.pack_into(order + "2h", one, 70, code, bits)
            struct.pack_into(order + "11f", one, 76, 1, 1, 1, 2, 0, 0, 0, 0, 352, 0.5, 1)
            one[344:347] = b"n+1"
            two = bytearray(544)
            struct.pack_into(order + "i", two, 0, 540)
            two[4:12] = b"n+2\0\r\n\x1a\n"
            struct.pack_into(order + "2h8q", two, 12, code, bits, 5, 3, 2, 1, 1, 2, 1, 1)
            struct.pack_into(order + "8dq2d", two, 104, 1, 1, 1, 2, 0, 0, 0, 0, 544, 1, 0)
            for header in (one, two):
                yield bytes(header) + voxels
                yield gzip.compress(bytes(header) + voxels, mtime=0)


def image_files(kind):
    from PIL import Image

    values = np.arange(48, dtype=np.uint8)
    palette = Image.fromarray(values[:16].reshape(4, 4) % 4, "P")
    palette.putpalette(list(range(12)))
    images = [
        (Image.fromarray(values.reshape(6, 8)), {}),
        (Image.fromarray(values.reshape(4, 4, 3)), {}),
    ]
    if kind == "PNG":
        images += [
            (palette, {"bits": 2}),
            (Image.fromarray(values.reshape(6, 8).astype(np.uint16)), {}),
            (Image.fromarray(values.reshape(3, 4, 4)), {}),
            (Image.fromarray(values.reshape(6, 8) > 20), {}),
        ]
    else:
        images += [(image, {"progressive": True}) for image, _ in images]
    for image, options in images:
        buffer = io.BytesIO()
        image.save(buffer, kind, **options)
        yield buffer.getvalue()


def varint(value):
    """Seven bits a byte, low ones first."""
    return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + varint(value // 128)


def proto(*fields):
    """A message of protocol buffers from (number, value): whole numbers, text, bytes of a message."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
            continue
        content = value.encode() if isinstance(value, str) else value
        out += varint(number << 3 | 2) + varint(len(content)) + content
    return out


def onnx_files():
    """Networks of one node with an output "logits" of two classes; one with a branch inside, one with other weights."""
    def value(name, kind, *sizes):
        shape = proto(*((1, proto((1, size) if isinstance(size, int) else (2, size))) for size in sizes))
        return proto((1, name), (2, proto((1, proto((1, kind), (2, shape))))))

    def model(opset, kind, sizes, *parts):
        node = proto((1, "image"), (2, "logits"), (4, "Identity"))
        graph = proto((1, node), (2, "net"), *parts, (11, value("image", kind, *sizes)),
                      (12, value("logits", kind, *sizes)))
        return proto((1, 8), (2, "seed"), (7, graph), (8, proto((1, ""), (2, opset))), (14, proto((1, "k"), (2, "v"))))

    branch = proto((2, "x"), (4, "If"), (5, proto((1, "then_branch"), (6, proto((1, proto((2, "y"))))), (20, 5))))
    weights = proto((1, 1), (2, 1), (8, "w"), (13, proto((1, "location"), (2, "w.bin"))), (14, 1))
    yield model(13, 1, ("n", 2, "h", "w"))
    yield model(18, 10, (1, 2, 8, 8, 8), (1, branch))
    yield model(21, 1, ("n", "c", 4, 4), (5, weights))


def main():
    folder = pathlib.Path(sys.argv[1])
    seeds = {
        "npy": npy_files(),
        "npz": npz_files(),
        "nifti": nifti_files(),
        "png": image_files("PNG"),
        "jpeg": image_files("JPEG"),
        "onnx": onnx_files(),
    }
    for name, files in seeds.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(files):
            (folder / name / f"seed{number}").write_bytes(content)


main()
