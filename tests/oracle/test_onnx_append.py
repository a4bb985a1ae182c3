# SPDX-License-Identifier: Apache-2.0
"""A calibrator behind a segmenter that PyTorch exported: one file, run by ONNX Runtime from image to probabilities.

Skipped where onnxruntime cannot be installed.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from onnx_models import write_model
from onnx_runtime import applied, installed, started  # noqa: F401, fixtures
from program import PROGRAM, fails, run

CLASSES = 5


@pytest.fixture(scope="session", name="segmenters")
def made(environment, tmp_path_factory):
    """The folder of the segmenters' files."""
    folder = tmp_path_factory.mktemp("segmenters")
    script = Path(__file__).parent / "onnx_segmenter.py"
    subprocess.run([environment / "env/bin/python", "-B", script, folder], check=True, capture_output=True)
    return folder


def joined(runtime, folder, segmenter, shape, pipeline, names=("logits",), options=()):
    """Outputs of the segmenter, of the joined file, and what the program makes of the former."""
    rng = np.random.default_rng(4)
    image = {"image": rng.normal(0.0, 1.0, (2, 3, *shape)).astype(np.float32)}
    model = write_model(folder / "model.json", pipeline, CLASSES)
    whole = segmenter.parent / f"whole_{pipeline}.onnx"
    run("export", model, "--append-to", segmenter, "--output-name", ",".join(names), "-o", whole,
        "--outputs", "probabilities,labels", *options)
    before, logits = runtime.run(segmenter, image, folder)
    after, outputs = runtime.run(whole, image, folder)
    assert after["opset"] == before["opset"]
    assert after["ir_version"] == before["ir_version"]
    cases = [[logits[name][k] for name in names] for k in range(2)]
    expected = applied(model, cases, folder / "data", CLASSES, images=image["image"] if "image" in pipeline else None)
    for k, (probs, labels) in enumerate(expected):
        assert np.abs(outputs["probabilities"][k] - probs).max() < 1e-5
        assert np.array_equal(outputs["labels"][k], labels)
        assert np.array_equal(labels, np.mean(cases[k], axis=0, dtype=np.float64).argmax(0))
    assert len(np.unique(labels)) > 2, "the segmenter says nothing"
    return after, outputs


@pytest.mark.parametrize("pipeline", ["ts", "cms_ap", "cms_op", "lts"])
def test_segmenter_and_calibrator_run_as_one_file(runtime, segmenters, tmp_path, pipeline):
    after, outputs = joined(runtime, tmp_path, segmenters / "image.onnx", (32, 48), pipeline)
    assert after["inputs"] == ["image"]
    assert list(outputs) == ["probabilities", "labels"]
    assert after["metadata"]["segcal.pipeline"] == f"{pipeline}(z)"


def test_output_can_be_kept(runtime, segmenters, tmp_path):
    _, outputs = joined(runtime, tmp_path, segmenters / "image16.onnx", (16, 24), "ts", ["seg"], ["--keep-output"])
    assert list(outputs) == ["seg", "probabilities", "labels"]


def test_volumes(runtime, segmenters, tmp_path):
    joined(runtime, tmp_path, segmenters / "volume.onnx", (8, 12, 16), "cms_ap")


def test_ensemble_in_one_file_is_pooled(runtime, segmenters, tmp_path):
    joined(runtime, tmp_path, segmenters / "ensemble.onnx", (16, 24), "cms_ap", ["a", "b", "c"])


def test_image_of_the_segmenter_is_the_image_of_the_calibrator(runtime, segmenters, tmp_path):
    after, _ = joined(runtime, tmp_path, segmenters / "image.onnx", (32, 16), "lts_image",
                      options=["--image-name", "image"])
    assert after["inputs"] == ["image"]


def test_weights_in_another_file_stay_there(runtime, segmenters, tmp_path):
    joined(runtime, tmp_path, segmenters / "external.onnx", (16, 16), "ts")
    model = write_model(tmp_path / "model.json", "ts", CLASSES)
    said = fails(2, "export", model, "--append-to", segmenters / "external.onnx", "-o", tmp_path / "whole.onnx")
    assert "keeps weights in files beside it" in said
    assert not (tmp_path / "whole.onnx").exists()


def test_readme_lines_run(environment, segmenters, tmp_path):
    section = (Path(__file__).parents[2] / "README.md").read_text().split("\n## ONNX\n")[1].split("\n## ")[0]
    shell, lines = (re.search(rf"^```{kind}\n(.*?)^```$", section, re.M | re.S).group(1) for kind in ("sh", "py"))
    write_model(tmp_path / "model.json", "cms_ap", CLASSES)
    shutil.copy(segmenters / "image.onnx", tmp_path / "segmenter.onnx")
    np.save(tmp_path / "logits.npy", np.random.default_rng(1).normal(size=(CLASSES, 6, 7)).astype(np.float32))
    path = f"{PROGRAM.resolve().parent}:{os.environ['PATH']}"
    subprocess.run(["bash", "-e", "-c", shell], cwd=tmp_path, check=True, env={**os.environ, "PATH": path})
    assert (tmp_path / "calibrated.onnx").stat().st_size > (tmp_path / "segmenter.onnx").stat().st_size
    lines += "assert probabilities.shape == (1, 5, 6, 7) and labels.shape == confidence.shape == (1, 6, 7)\n"
    subprocess.run([environment / "env/bin/python", "-c", lines], cwd=tmp_path, check=True)


def test_what_cannot_be_joined_is_said(segmenters, tmp_path):
    model = write_model(tmp_path / "model.json", "ts", CLASSES)
    image = segmenters / "image.onnx"

    def refused(code, segmenter, *options, model=model):
        said = fails(code, "export", model, "--append-to", segmenter, "-o", tmp_path / "whole.onnx", *options)
        assert not (tmp_path / "whole.onnx").exists()
        return said

    assert "opset 11; 13 or higher is required" in refused(3, segmenters / "old.onnx")
    assert 'no output "seg"; its outputs are logits' in refused(2, image, "--output-name", "seg")
    assert "5 classes" in refused(2, image, model=write_model(tmp_path / "seven.json", "ts", 7))
    assert "missing.onnx" in refused(4, tmp_path / "missing.onnx")
    image_model = write_model(tmp_path / "image.json", "lts_image", CLASSES)
    assert "say which of its values is the image" in refused(2, image, model=image_model)
    for size in (0, 1, 100, image.stat().st_size - 1):
        (tmp_path / "cut.onnx").write_bytes(image.read_bytes()[:size])
        assert "cut.onnx" in refused(3, tmp_path / "cut.onnx")
    (tmp_path / "text.onnx").write_text("not a model")
    assert "text.onnx" in refused(3, tmp_path / "text.onnx")
    done = fails(2, "export", model, "--append-to", image, "-o", tmp_path / "whole.onnx", "--members", 2)
    assert "--append-to excludes --members" in done or "--members excludes --append-to" in done
