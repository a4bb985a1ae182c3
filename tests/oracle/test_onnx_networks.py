# SPDX-License-Identifier: Apache-2.0
"""Trained networks as ONNX graphs: in ONNX Runtime the logits of segcal predict, and with a calibrator behind them
the probabilities of segcal apply.

Skipped where onnxruntime cannot be installed, or there is no libtorch.
"""

import json

import numpy as np
import pytest
from onnx_runtime import installed, started  # noqa: F401, fixtures
from program import PROGRAM, apply, describe, fails, fit, run

pytestmark = pytest.mark.skipif(not (PROGRAM.parent / "segcal-train").exists(),
                                reason="segcal-train is not built: there is no libtorch")


def make_images(folder, shape, channels, count=5):
    """Images as .npy, labels by their first channel; one image is constant in its last channel."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    cases = []
    for i in range(count):
        image = rng.normal(50, 10, (*shape, channels)).astype(np.float32)
        if i == count - 1:
            image[..., -1] = 7.0
        np.save(folder / f"image{i}.npy", image)
        np.save(folder / f"labels{i}.npy", (image[..., 0] > 50).astype(np.uint8))
        split = ["train", "train", "validation", "calibration", "test"][i]
        cases.append({"id": f"c{i}", "image": f"image{i}.npy", "labels": f"labels{i}.npy", "split": split})
    path = describe(folder, cases, 2)
    path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "input"}))
    return path


@pytest.mark.parametrize("shape,options", [
    ((13, 17), ["--width", 4, "--depth", 3, "--patch", "12x16"]),
    ((16, 8), ["--width", 3, "--depth", 1, "--normalise", "case", "--members", 2, "--patch", "8x8"]),
    ((5, 7, 9), ["--width", 3, "--depth", 2, "--patch", "4x6x8"]),
    ((3, 10, 7), ["--width", 3, "--depth", 3, "--axes", 2, "--folds", 2, "--normalise", "case", "--patch", "8x8"])])
def test_logits_are_those_of_predict(runtime, tmp_path, shape, options):
    dataset = make_images(tmp_path / "data", shape, 2)
    run("train", dataset, "-o", tmp_path / "run", "--epochs", 2, "--batch", 2, *options, "--threads", 1, "--quiet")
    run("predict", tmp_path / "run", dataset, "-o", tmp_path / "out", "--threads", 1, "--quiet")
    printed = run("export-networks", tmp_path / "run", "-o", tmp_path / "net.onnx").stdout
    # Two images at once, one of them constant in a channel.
    images = np.stack([np.moveaxis(np.load(tmp_path / "data" / f"image{i}.npy"), -1, 0) for i in (3, 4)])
    described, found = runtime.run(tmp_path / "net.onnx", {"image": images}, tmp_path)
    count = 2 if "--members" in options or "--folds" in options else 1
    names = [f"logits_{k}" for k in range(2)] if count == 2 else ["logits"]
    assert described["outputs"] == names and ",".join(names) in printed and described["opset"] == 13
    assert json.loads(described["metadata"]["segcal.network.classes"]) == ["c0", "c1"]
    for k, name in enumerate(names):
        expected = np.stack([np.load(tmp_path / "out" / "logits" / f"m{k}" / f"c{i}.npy") for i in (3, 4)])
        assert found[name].shape == expected.shape and expected.std() > 0.01
        np.testing.assert_allclose(found[name], expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_from_image_to_calibrated_probabilities_in_one_file(runtime, tmp_path):
    dataset = make_images(tmp_path / "data", (14, 18), 3)
    run("train", dataset, "-o", tmp_path / "run", "--epochs", 3, "--width", 4, "--depth", 2, "--members", 2, "--batch", 2,
        "--quiet")
    run("predict", tmp_path / "run", dataset, "-o", tmp_path / "out", "--quiet")
    fit(tmp_path / "out", "cms_ap(z)", tmp_path / "model.json", "--search", 0)
    run("export-networks", tmp_path / "run", "-o", tmp_path / "net.onnx", "--opset", 17)
    run("export", tmp_path / "model.json", "--append-to", tmp_path / "net.onnx", "--output-name", "logits_0,logits_1", "-o",
        tmp_path / "whole.onnx", "--outputs", "probabilities,labels")
    images = np.moveaxis(np.load(tmp_path / "data" / "image4.npy"), -1, 0)[None]
    described, found = runtime.run(tmp_path / "whole.onnx", {"image": images}, tmp_path)
    assert described["inputs"] == ["image"] and described["outputs"] == ["probabilities", "labels"]
    applied = apply(tmp_path / "model.json", tmp_path / "out", tmp_path / "applied", "probabilities,labels")
    expected = np.load(applied / "probabilities" / "c4.npy")
    np.testing.assert_allclose(found["probabilities"][0], expected, atol=1e-4)
    sure = np.abs(expected[0] - expected[1]) > 1e-3
    assert sure.mean() > 0.9
    assert np.array_equal(found["labels"][0][sure], np.load(applied / "labels" / "c4.npy")[sure])


def test_what_cannot_be_written_is_named(tmp_path):
    message = fails(4, "export-networks", tmp_path, "-o", tmp_path / "net.onnx")
    assert "training.json" in message
    dataset = make_images(tmp_path / "data", (8, 8), 1)
    run("train", dataset, "-o", tmp_path / "run", "--epochs", 1, "--width", 2, "--depth", 1, "--quiet")
    assert "13 to 28" in fails(2, "export-networks", tmp_path / "run", "-o", tmp_path / "net.onnx", "--opset", 12)
    for name in ("training.json", "member0/best.net"):
        before = (tmp_path / "run" / name).read_bytes()
        message = fails(2, "export-networks", tmp_path / "run", "-o", tmp_path / "run" / name)
        assert "is there and is not" in message and "--force" in message
        assert (tmp_path / "run" / name).read_bytes() == before
    (tmp_path / "run" / "member0" / "best.net").unlink()
    assert "member 0" in fails(4, "export-networks", tmp_path / "run", "-o", tmp_path / "net.onnx")
    assert not (tmp_path / "net.onnx").exists()
