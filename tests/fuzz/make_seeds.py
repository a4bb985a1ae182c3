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


def main():
    folder = pathlib.Path(sys.argv[1])
    seeds = {
        "npy": npy_files(),
        "npz": npz_files(),
        "nifti": nifti_files(),
        "png": image_files("PNG"),
        "jpeg": image_files("JPEG"),
    }
    for name, files in seeds.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(files):
            (folder / name / f"seed{number}").write_bytes(content)


main()
