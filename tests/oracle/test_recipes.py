# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/recipes, run as they stand in folders that the frameworks have made.

MONAI writes its own files where it can be installed. mmsegmentation needs a compiled mmcv: its
scores are handed over by a stand-in for `inference_model`.
"""

import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import nibabel
import numpy as np
import pytest
from nnunet_layout import AFFINE, load_label_map, new_predictions, softmax_case, trained_model
from PIL import Image
from program import PROGRAM

torch = pytest.importorskip("torch")

HERE = Path(__file__).parent
RECIPES = HERE.parents[1] / "docs" / "recipes"
PAGES = sorted(path.stem for path in RECIPES.glob("*.md"))


def blocks(page, language):
    """The contents of the fenced blocks of a page in one language."""
    text = (RECIPES / f"{page}.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shell(page, folder):
    """Runs the commands of a page in a folder; returns what they print."""
    path = f"{PROGRAM.resolve().parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", "".join(blocks(page, "sh"))],
                          cwd=folder, env={**os.environ, "PATH": path}, capture_output=True,
                          text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(page, folder, monkeypatch, **names):
    """Runs the Python lines of a page in a folder, where these names mean something."""
    monkeypatch.chdir(folder)
    exec("".join(blocks(page, "python")), {"np": np, "Path": Path, **names})  # pylint: disable=exec-used


@pytest.mark.parametrize("page", PAGES)
def test_a_recipe_is_short(page):
    commands = re.sub(r"\\\n", " ", "".join(blocks(page, "sh"))).splitlines()
    assert 1 <= len(commands) <= 5
    assert len("".join(blocks(page, "python")).splitlines()) <= 10


def test_every_recipe_is_run():
    assert PAGES == ["mmsegmentation", "monai", "nnunet", "torchvision"]


def test_nnunet(tmp_path):
    trained_model(tmp_path, num_cases=10, num_folds=5)
    new_predictions(tmp_path, ["predicted"])
    printed = shell("nnunet", tmp_path)
    assert "10 cases, 1 member, 3 classes" in printed
    labels, affine = load_label_map(tmp_path / "calibrated" / "new_1.nii.gz")
    before, _ = load_label_map(tmp_path / "predicted" / "new_1.nii.gz")
    assert np.array_equal(labels, before) and np.array_equal(affine, AFFINE)


@pytest.fixture(name="monai")
def installed():
    """MONAI's Python."""
    folder = Path(os.environ["SEGCAL_MONAI"])
    made = subprocess.run([HERE / "monai_env.sh", folder], capture_output=True, text=True,
                          check=False)
    if made.returncode != 0:
        pytest.skip("MONAI cannot be installed: " + made.stderr.strip()[-200:])
    return folder / "env" / "bin" / "python"


def test_monai(monai, tmp_path):
    (tmp_path / "labels").mkdir()
    rng = np.random.default_rng(4)
    made = {}
    for case in ("scan_1", "scan_2"):
        made[case], labels = softmax_case(rng)
        np.save(tmp_path / f"{case}.npy", made[case].transpose(0, 3, 2, 1))  # (C, X, Y, Z)
        nibabel.save(nibabel.Nifti1Image(labels.T, AFFINE), tmp_path / "labels" / f"{case}.nii.gz")
    script = "\n".join([
        "import numpy as np, torch", "from monai.data import MetaTensor",
        f"for case in {list(made)}:",
        "    probabilities = MetaTensor(torch.from_numpy(np.load(case + '.npy')),",
        f"        affine=torch.tensor({AFFINE.tolist()}, dtype=torch.float64),",
        "        meta={'filename_or_obj': f'images/{case}.nii.gz'})",
        *["    " + line for block in blocks("monai", "python") for line in block.splitlines()]])
    done = subprocess.run([monai, "-c", script], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "scan_1" / "scan_1_prob.nii.gz").exists()
    assert "2 cases, 1 member, 3 classes" in shell("monai", tmp_path)
    for case, probabilities in made.items():
        labels, affine = load_label_map(tmp_path / "calibrated" / "labels" / f"{case}.nii.gz")
        assert np.array_equal(labels, probabilities.argmax(0)) and np.array_equal(affine, AFFINE)
        soft = nibabel.load(tmp_path / "calibrated" / "probabilities" / f"{case}.nii.gz")
        assert soft.shape == (*labels.T.shape, 3) and np.array_equal(soft.affine, AFFINE)
        assert np.array_equal(np.asarray(soft.dataobj).argmax(3).T, labels)


def random_logits(rng, *shape):
    """Scores (..., C, H, W) as a network gives them, and labels drawn from softer ones."""
    logits = rng.normal(0.0, 3.0, shape).astype(np.float32)
    labels = np.argmax(0.6 * logits + rng.gumbel(size=shape), axis=-3)
    return torch.from_numpy(logits), labels


def test_torchvision(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    for name in ("logits", "labels"):
        (tmp_path / name).mkdir()
    batches = [random_logits(rng, size, 4, 8, 9) for size in (3, 3, 2)]
    loader = [(logits, torch.from_numpy(labels)) for logits, labels in batches]
    python("torchvision", tmp_path, monkeypatch, loader=loader, model=lambda x: {"out": x})
    printed = shell("torchvision", tmp_path)
    assert "8 cases, 1 member, 4 classes" in printed
    written = sorted((tmp_path / "calibrated" / "probabilities").iterdir())
    assert len(written) == 4
    for path in written:
        batch, item = map(int, path.stem.split("_"))
        probabilities = np.load(path)
        assert np.array_equal(probabilities.argmax(0), batches[batch][0][item].numpy().argmax(0))


def test_mmsegmentation(tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    train_ids = [7, 8, 11, 12, 13, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 31, 32, 33]
    scores = {}
    (tmp_path / "logits").mkdir()
    for k in range(4):
        name = f"frankfurt_000000_{k:06}"
        logits, labels = random_logits(rng, 19, 8, 16)
        scores[f"{name}_leftImg8bit"] = logits
        for kind, values in (("leftImg8bit", np.zeros((8, 16, 3))),
                             ("gtFine", np.array(train_ids)[labels])):
            folder = tmp_path / kind / "val" / "frankfurt"
            folder.mkdir(parents=True, exist_ok=True)
            suffix = "_labelIds" if kind == "gtFine" else ""
            Image.fromarray(values.astype(np.uint8)).save(folder / f"{name}_{kind}{suffix}.png")

    def inference_model(_, path):
        return SimpleNamespace(seg_logits=SimpleNamespace(data=scores[path.stem]))

    python("mmsegmentation", tmp_path, monkeypatch, model=None, inference_model=inference_model)
    assert "4 cases, 1 member, 19 classes" in shell("mmsegmentation", tmp_path)
    assert len(list((tmp_path / "calibrated" / "confidence").glob("*.png"))) == 2
