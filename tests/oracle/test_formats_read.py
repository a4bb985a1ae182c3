# SPDX-License-Identifier: Apache-2.0
"""Files written by NumPy, nibabel and Pillow are read as those libraries mean them."""

import gzip

import nibabel
import numpy as np
import pytest
from PIL import Image
from program import apply, describe, fails, fit, inspect, save_case
from scipy.special import log_softmax, softmax

SHAPE_2D = (17, 23)
SHAPE_3D = (4, 7, 9)


def random_logits(num_classes, shape, seed=1):
    return np.random.default_rng(seed).normal(0, 2, (num_classes, *shape)).astype(np.float32)


def check_labels(tmp_path, logits, labels, file_name, ignored=None):
    """The program must see `labels` in the file: log q_y tells which class it took per voxel."""
    entry = save_case(tmp_path, "a", [logits])
    entry["labels"] = file_name
    dataset = describe(tmp_path, [entry], logits.shape[0], ignore_label=ignored)
    fit(dataset, "none(z)", tmp_path / "model.json")
    out = apply(tmp_path / "model.json", dataset, tmp_path / "out", "log_label")
    found = np.load(out / "a.npy")
    labels = labels.astype(np.int64)
    safe = np.where(labels == ignored, 0, labels)
    log_probs = log_softmax(logits.astype(np.float64), axis=0)
    expected = np.take_along_axis(log_probs, safe[None], axis=0)[0]
    np.testing.assert_allclose(found, np.where(labels == ignored, 0.0, expected), rtol=1e-5,
                               atol=1e-6)


def random_labels(shape, num_classes=4, ignored=None, seed=2):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, num_classes, shape)
    if ignored is not None:
        labels[rng.random(shape) < 0.2] = ignored
    return labels


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["u1", "i1", "<u2", ">u2", "<i2", ">i2", "<u4", "<i4", ">i4",
                                   "<u8", "<i8", ">i8", "<f2", "<f4", ">f8"])
def test_npy_labels_of_every_type(tmp_path, dtype, order):
    labels = random_labels(SHAPE_3D).astype(dtype, order=order)
    np.save(tmp_path / "y.npy", labels)
    check_labels(tmp_path, random_logits(4, SHAPE_3D), labels, "y.npy")


def test_npy_labels_of_bool_and_with_negative_ignore(tmp_path):
    labels = random_labels(SHAPE_2D, 2)
    np.save(tmp_path / "y.npy", labels.astype(bool))
    check_labels(tmp_path, random_logits(2, SHAPE_2D), labels, "y.npy")
    labels = random_labels(SHAPE_2D, 3, ignored=-100)
    np.save(tmp_path / "y.npy", labels.astype(np.int32))
    check_labels(tmp_path, random_logits(3, SHAPE_2D), labels, "y.npy", ignored=-100)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_labels(tmp_path, save):
    labels = random_labels(SHAPE_2D, 4, ignored=255).astype(np.uint8)
    save(tmp_path / "y.npz", seg=labels)
    check_labels(tmp_path, random_logits(4, SHAPE_2D), labels, "y.npz", ignored=255)


def nifti_image(kind, data):
    """An image with an oblique affine; the class of `kind` and its byte order."""
    affine = np.array([[0.0, -1.5, 0.0, 9.0], [2.0, 0.0, 0.0, -3.0], [0.0, 0.0, 3.0, 1.0],
                       [0, 0, 0, 1]])
    image_class = {"1": nibabel.Nifti1Image, "2": nibabel.Nifti2Image}[kind[0]]
    header = image_class.header_class(endianness="<" if kind[1:] != "big" else ">")
    return image_class(data, affine, header=header)


@pytest.mark.parametrize("name", ["y.nii", "y.nii.gz"])
@pytest.mark.parametrize("kind", ["1", "1big", "2", "2big"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32])
def test_nifti_labels(tmp_path, kind, name, dtype):
    labels = random_labels(SHAPE_3D).astype(dtype)
    nibabel.save(nifti_image(kind, labels.T), tmp_path / name)
    check_labels(tmp_path, random_logits(4, SHAPE_3D), labels, name)


def test_nifti_labels_with_slope_and_intercept(tmp_path):
    labels = random_labels(SHAPE_3D)
    image = nifti_image("1", (2 * labels.T + 6).astype(np.int16))
    image.header.set_slope_inter(0.5, -3.0)
    nibabel.save(image, tmp_path / "plain.nii")
    # nibabel drops the scaling of what it saves: put it into the bytes.
    raw = bytearray((tmp_path / "plain.nii").read_bytes())
    raw[112:120] = np.array([0.5, -3.0], "<f4").tobytes()
    (tmp_path / "y.nii").write_bytes(raw)
    np.testing.assert_array_equal(np.asarray(nibabel.load(tmp_path / "y.nii").dataobj), labels.T)
    check_labels(tmp_path, random_logits(4, SHAPE_3D), labels, "y.nii")
    (tmp_path / "z.nii.gz").write_bytes(gzip.compress(bytes(raw)))
    check_labels(tmp_path, random_logits(4, SHAPE_3D), labels, "z.nii.gz")


def test_nifti_of_a_2d_image(tmp_path):
    labels = random_labels(SHAPE_2D).astype(np.uint8)
    nibabel.save(nifti_image("1", labels.T[:, :, None]), tmp_path / "y.nii.gz")
    check_labels(tmp_path, random_logits(4, SHAPE_2D), labels, "y.nii.gz")


def palette_image(labels):
    image = Image.fromarray(labels.astype(np.uint8), "P")
    image.putpalette([(37 * k) % 256 for k in range(768)])
    return image


PNG = {
    "gray": (4, None, lambda y: Image.fromarray(y.astype(np.uint8), "L")),
    "gray_with_255": (4, 255, lambda y: Image.fromarray(y.astype(np.uint8), "L")),
    "palette": (4, None, palette_image),
    "palette_with_255": (21, 255, palette_image),
    "sixteen_bits": (300, 65535, lambda y: Image.fromarray(y.astype(np.uint16))),
    "one_bit": (2, None, lambda y: Image.fromarray((255 * y).astype(np.uint8), "L").convert("1")),
}


@pytest.mark.parametrize("num_classes,ignored,make", PNG.values(), ids=PNG.keys())
def test_png_labels(tmp_path, num_classes, ignored, make):
    labels = random_labels(SHAPE_2D, num_classes, ignored)
    make(labels).save(tmp_path / "y.png")
    check_labels(tmp_path, random_logits(num_classes, SHAPE_2D), labels, "y.png", ignored)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_png_palette_of_few_bits(tmp_path, bits):
    labels = random_labels(SHAPE_2D, 2**bits)
    palette_image(labels).save(tmp_path / "y.png", bits=bits)
    check_labels(tmp_path, random_logits(2**bits, SHAPE_2D), labels, "y.png")


def check_prediction(tmp_path, logits, file_name, **fields):
    """The program must see `logits` in the file."""
    entry = save_case(tmp_path, "a", [], np.zeros(logits.shape[1:], np.uint8))
    entry["members"] = [file_name]
    dataset = describe(tmp_path, [entry], logits.shape[0], **fields)
    fit(dataset, "none(z)", tmp_path / "model.json")
    found = np.load(apply(tmp_path / "model.json", dataset, tmp_path / "out") / "a.npy")
    np.testing.assert_allclose(found, softmax(logits.astype(np.float64), axis=0), rtol=1e-5,
                               atol=1e-7)


@pytest.mark.parametrize("kind", ["1", "1big", "2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["z.nii", "z.nii.gz"])
def test_nifti_predictions_have_the_class_as_fourth_axis(tmp_path, kind, name, dtype):
    logits = random_logits(3, SHAPE_3D).astype(dtype)
    nibabel.save(nifti_image(kind, logits.T), tmp_path / name)  # (X, Y, Z, C)
    check_prediction(tmp_path, logits, name)


def test_scaled_integer_nifti_predictions(tmp_path):
    steps = np.random.default_rng(3).integers(-500, 500, (3, *SHAPE_3D)).astype(np.int16)
    nibabel.save(nifti_image("1", steps.T), tmp_path / "plain.nii")
    raw = bytearray((tmp_path / "plain.nii").read_bytes())
    raw[112:120] = np.array([1.0 / 64.0, 1.0], "<f4").tobytes()
    (tmp_path / "z.nii").write_bytes(raw)
    check_prediction(tmp_path, steps / 64.0 + 1.0, "z.nii")


def test_keys_of_archives(tmp_path):
    logits, other = random_logits(3, SHAPE_2D), random_logits(3, SHAPE_2D, seed=9)
    for name in ("softmax", "logits"):
        np.savez(tmp_path / "z.npz", **{"a_first_one": other, name: logits})
        check_prediction(tmp_path, logits, "z.npz")
    np.savez_compressed(tmp_path / "z.npz", mine=logits, probabilities=other)
    check_prediction(tmp_path, logits, "z.npz", key="mine")
    np.savez(tmp_path / "z.npz", one=logits, two=other)
    message = fails(3, "inspect", tmp_path / "dataset.json", "--quiet")
    assert "z.npz" in message and "mine" in message and "one" in message


def test_unit_axes_of_nnunet_2d(tmp_path):
    logits = random_logits(3, (1, *SHAPE_2D))
    np.savez_compressed(tmp_path / "z.npz", probabilities=softmax(logits, axis=0))
    entry = {"id": "a", "members": ["z.npz"], "labels": "y.png"}
    labels = random_labels(SHAPE_2D, 3)
    Image.fromarray(labels.astype(np.uint8)).save(tmp_path / "y.png")
    dataset = describe(tmp_path, [entry], 3, input="probabilities")
    summary = inspect(dataset)
    assert summary["cases"][0]["shape"] == [1, *SHAPE_2D]
    accuracy = np.mean(logits[:, 0].argmax(axis=0) == labels)
    assert summary["cases"][0]["accuracy"] == pytest.approx(accuracy, abs=1e-15)


@pytest.mark.parametrize("name", ["mask.png", "mask.nii.gz", "mask.npy"])
def test_masks_of_every_format(tmp_path, name):
    labels, mask = random_labels(SHAPE_2D), np.random.default_rng(1).random(SHAPE_2D) < 0.5
    if name.endswith("png"):
        Image.fromarray(255 * mask.astype(np.uint8)).save(tmp_path / name)
    elif name.endswith("npy"):
        np.save(tmp_path / name, mask)
    else:
        nibabel.save(nifti_image("1", mask.T[:, :, None].astype(np.uint8)), tmp_path / name)
    entry = save_case(tmp_path, "a", [random_logits(4, SHAPE_2D)], labels.astype(np.uint8))
    entry["mask"] = name
    summary = inspect(describe(tmp_path, [entry], 4))
    assert summary["label_counts"] == [int(np.sum(mask & (labels == c))) for c in range(4)]
