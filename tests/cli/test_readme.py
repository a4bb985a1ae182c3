# SPDX-License-Identifier: Apache-2.0
"""The commands of the README run as they stand there; the two that take long, on less."""

import re
import shlex
from pathlib import Path

import numpy as np
from nnunet_layout import trained_model
from program import run
from PIL import Image

README = Path(__file__).parents[2] / "README.md"
LESS = {"simulate": ["--size", "64x96"], "verify": ["--voxels", "50000"]}


def commands(section):
    """The calls of segcal in the shell blocks of a section, with what continues on the next line."""
    text = README.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [words[1:] for words in (shlex.split(line, comments=True) for line in lines) if words[:1] == ["segcal"]]


def write_predictions(folder):
    """Files as the pattern of the README's `index` finds them."""
    rng = np.random.default_rng(0)
    (folder / "gt").mkdir()
    for member in ("net1", "net2"):
        (folder / "preds" / member).mkdir(parents=True)
    for case in range(10):
        for member in ("net1", "net2"):
            np.save(folder / "preds" / member / f"{case}.npy", rng.normal(0, 3, (3, 12, 16)).astype(np.float32))
        Image.fromarray(rng.integers(0, 3, (12, 16)).astype(np.uint8)).save(folder / "gt" / f"{case}.png")
    (folder / "logits").mkdir()
    (folder / "gtFine" / "ulm").mkdir(parents=True)
    np.save(folder / "logits" / "ulm_0.npy", rng.normal(0, 3, (19, 12, 16)).astype(np.float32))
    street = Image.fromarray(rng.integers(0, 34, (12, 16)).astype(np.uint8))
    street.save(folder / "gtFine" / "ulm" / "ulm_0_gtFine_labelIds.png")


def test_commands_run_in_order(tmp_path):
    found = commands("Six commands")
    assert [words[0] for words in found] == ["simulate", "inspect", "fit", "evaluate", "apply", "verify", *["index"] * 3]
    write_predictions(tmp_path)
    trained_model(tmp_path)
    for words in found:
        done = run(*words, *LESS.get(words[0], []), cwd=tmp_path)
        assert done.stdout, words
    assert (tmp_path / "figures" / "reliability.svg").exists()
    assert list((tmp_path / "calibrated").iterdir())
    run("evaluate", "driving.json", cwd=tmp_path)
    assert (tmp_path / "data.json").exists() and (tmp_path / "brain.json").exists()
