# SPDX-License-Identifier: Apache-2.0
"""NumPy, nibabel and Pillow read what the program writes: shape, values, geometry."""

import zipfile

import nibabel
import numpy as np
import pytest
from PIL import Image
from program import apply, describe, fails, fit, random_case, save_case
from scipy.special import softmax

KINDS = ["probabilities", "confidence", "labels", "entropy", "log_label"]
AFFINE = np.array([[0.0, -1.5, 0.0, 9.0], [2.0, 0.0, 0.2, -3.0], [0.0, 0.1, 3.0, 1.0],
                   [0, 0, 0, 1]])
NUM_CLASSES = 5


def expected(logits, labels):
    """What none(z) emits, by kind."""
    probs = softmax(logits.astype(np.float64), axis=0)
    own = np.where(labels == 255, 0, labels).astype(np.int64)
    log_label = np.log(np.take_along_axis(probs, own[None], axis=0)[0])
    return {"probabilities": probs, "confidence": probs.max(axis=0), "labels": probs.argmax(axis=0),
            "entropy": -(probs * np.log(probs)).sum(axis=0),
            "log_label": np.where(labels == 255, 0.0, log_label)}


@pytest.fixture(scope="module", params=[(14, 15), (6, 7, 8)], ids=["2d", "3d"])
def case(request, tmp_path_factory):
    """(data set, model, expected arrays) of one case, its labels a NIfTI with an oblique affine."""
    folder = tmp_path_factory.mktemp("case")
    shape = request.param
    members, labels = random_case(np.random.default_rng(5), NUM_CLASSES, shape)
    entry = save_case(folder, "patient 1.v2", members)
    if len(shape) == 3:
        image = nibabel.Nifti1Image(labels.T, AFFINE)
        image.set_qform(AFFINE, code=1, strip_shears=True)
        image.set_sform(AFFINE, code=2)
        image.header.set_xyzt_units("mm")
        nibabel.save(image, folder / "y.nii.gz")
        entry["labels"] = "y.nii.gz"
    else:
        Image.fromarray(labels).save(folder / "y.png")
        entry["labels"] = "y.png"
    dataset = describe(folder, [entry], NUM_CLASSES)
    fit(dataset, "none(z)", folder / "model.json")
    return dataset, folder / "model.json", expected(members[0], labels)


def outputs(case, folder, file_format, extension, kinds, *options):
    """Kind -> path of the file written."""
    dataset, model, _ = case
    out = apply(model, dataset, folder / "out", ",".join(kinds), file_format, *options)
    single = len(kinds) == 1
    return {kind: (out if single else out / kind) / f"patient 1.v2{extension}" for kind in kinds}


def check(kind, found, wanted, tolerance):
    """Labels are equal, everything else is close."""
    if kind == "labels":
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype,tolerance", [("f32", 1e-6), ("f16", 2.0**-10)])
def test_npy(tmp_path, case, dtype, tolerance):
    for kind, path in outputs(case, tmp_path, "npy", ".npy", KINDS, "--dtype", dtype).items():
        assert path.read_bytes()[:8] == b"\x93NUMPY\x01\x00"
        found = np.load(path)
        assert found.shape == case[2][kind].shape and found.flags.c_contiguous
        assert kind == "labels" or found.dtype == {"f32": np.float32, "f16": np.float16}[dtype]
        check(kind, found, case[2][kind], tolerance)
        with open(path, "rb") as file:
            np.lib.format.read_magic(file)
            np.lib.format.read_array_header_1_0(file)
            assert file.tell() % 64 == 0, "the data cannot be mapped with alignment"


def test_half_precision_keeps_the_decision_and_sums(tmp_path, case):
    files = outputs(case, tmp_path, "npy", ".npy", ["probabilities"], "--dtype", "f16")
    found = np.load(files["probabilities"]).astype(np.float64)
    np.testing.assert_array_equal(found.argmax(axis=0), case[2]["labels"])
    assert np.abs(found.sum(axis=0) - 1.0).max() <= 2.0**-9


def test_npz(tmp_path, case):
    for kind, path in outputs(case, tmp_path, "npz", ".npz", KINDS).items():
        assert zipfile.ZipFile(path).testzip() is None
        archive = np.load(path)
        assert archive.files == [kind]
        check(kind, archive[kind], case[2][kind], 1e-6)


def check_geometry(image, reference):
    """The output lies where the label file lies."""
    np.testing.assert_array_equal(image.affine, reference.affine)
    np.testing.assert_array_equal(image.header.get_zooms()[:3], reference.header.get_zooms())
    for field in ("qform_code", "sform_code", "quatern_b", "quatern_c", "quatern_d", "xyzt_units"):
        assert image.header[field] == reference.header[field], field


def test_nifti_with_the_geometry_of_the_labels(tmp_path, case):
    is_volume = case[2]["labels"].ndim == 3
    for kind, path in outputs(case, tmp_path, "nifti", ".nii.gz", KINDS).items():
        image = nibabel.load(path)
        found = np.asarray(image.dataobj).T
        if is_volume:
            check_geometry(image, nibabel.load(case[0].parent / "y.nii.gz"))
        else:  # NIfTI has three spatial axes: z is 1
            found = found.squeeze()
        assert found.shape == case[2][kind].shape
        check(kind, found, case[2][kind], 1e-6)


def test_nifti_without_a_reference_has_the_spacing_of_the_case(tmp_path):
    members, labels = random_case(np.random.default_rng(1), 3, (4, 5, 6))
    entry = save_case(tmp_path, "a", members, labels, spacing=[3.0, 0.5, 0.25])
    dataset = describe(tmp_path, [entry], 3)
    fit(dataset, "none(z)", tmp_path / "model.json")
    out = apply(tmp_path / "model.json", dataset, tmp_path / "out", "labels", "nifti")
    image = nibabel.load(out / "a.nii.gz")
    np.testing.assert_allclose(image.header.get_zooms(), [0.25, 0.5, 3.0])


def test_png(tmp_path, case):
    kinds = ["confidence", "labels", "entropy"]
    if case[2]["labels"].ndim == 3:
        message = fails(2, "apply", case[1], case[0], "-o", tmp_path / "out", "--write", "labels",
                        "--format", "png", "--quiet")
        assert "3 spatial axes" in message and "nifti" in message
        return
    white = {"confidence": 1.0, "entropy": np.log(NUM_CLASSES)}
    for kind, path in outputs(case, tmp_path, "png", ".png", kinds).items():
        image = Image.open(path)
        found = np.asarray(image)
        if kind == "labels":
            assert image.mode == "L"
            np.testing.assert_array_equal(found, case[2]["labels"])
            continue
        assert image.mode in ("I;16", "I")
        np.testing.assert_allclose(found / 65535.0 * white[kind], case[2][kind], atol=2e-5)


def test_written_files_are_read_again(tmp_path, case):
    """Probabilities written by apply are a data set of probabilities with the same decisions."""
    dataset, model, arrays = case
    for file_format, extension in (("npy", ".npy"), ("npz", ".npz"), ("nifti", ".nii.gz")):
        if file_format == "nifti" and arrays["labels"].ndim == 2:
            continue
        out = apply(model, dataset, tmp_path / file_format, "probabilities", file_format)
        entry = {"id": "a", "members": [f"patient 1.v2{extension}"]}
        np.save(out / "y.npy", arrays["labels"].astype(np.uint8))
        again = describe(out, [{**entry, "labels": "y.npy"}], NUM_CLASSES, input="probabilities")
        fit(again, "none(z)", out / "model.json")
        found = np.load(apply(out / "model.json", again, out / "again") / "a.npy")
        np.testing.assert_allclose(found, arrays["probabilities"], rtol=1e-5, atol=1e-6)
