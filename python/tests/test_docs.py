# SPDX-License-Identifier: Apache-2.0
"""Python in the pages runs as it stands there."""

import importlib.util
import re

import numpy as np
import pytest
import segcal
from data import SOURCE, draw, softmax

BLOCK = re.compile(r"^```python *(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Pairs of the package a block needs, if any, and its lines."""
    return BLOCK.findall((SOURCE / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    found = blocks(page)
    assert found
    names = {"__name__": "page"}
    for needs, lines in found:
        if not needs or importlib.util.find_spec(needs):
            exec(compile(lines, page, "exec"), names)  # pylint: disable=exec-used


@pytest.mark.parametrize("section", ["Six commands", "Python", "C++", "C", "ONNX"])
def test_readme_shows_it_in_ten_lines(section):
    text = (SOURCE / "README.md").read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    found = re.findall(r"^```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in found for line in block.splitlines() if line.strip()]
    assert 1 <= len(lines) <= 10


def one_liners():
    """The right columns of the tables for those who come from other packages."""
    page = (SOURCE / "docs/python.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| (.*) \|$", page[page.index("## Coming from fiducio"):], re.MULTILINE)
    return [code for row in rows for code in re.findall(r"`([^`]+)`", row)]


def test_one_liners_of_other_packages_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    logits, labels = draw((2, 3, 16, 16))
    p = softmax(logits, 1).astype(np.float32)
    model = segcal.fit(logits, labels, "ts")
    names = {"segcal": segcal, "logits": logits, "labels": labels, "p": p, "y": labels, "C": 3, "model": model,
             "probabilities": p, "pairs": list(zip(logits, labels)), "result": segcal.evaluate(model, logits, labels)}
    importlib.import_module("segcal.torch")
    importlib.import_module("segcal.plots")
    monkeypatch.setenv("MPLBACKEND", "agg")
    found = one_liners()
    assert len(found) > 25
    for code in found:
        if "plots" in code and not importlib.util.find_spec("matplotlib"):
            continue
        value = eval(code.removeprefix("model = "), dict(names))  # pylint: disable=eval-used
        if isinstance(value, str):
            assert isinstance(segcal.fit(logits, labels, value), segcal.Model)


def test_handler_of_the_page_collects_an_epoch():
    ignite = pytest.importorskip("ignite.engine")
    source = next(lines for _, lines in blocks("docs/python.md") if "class CalibrationHandler" in lines)
    names = {"segcal": segcal}
    exec(source, names)  # pylint: disable=exec-used
    logits, labels = draw((4, 3, 16, 16))
    engine = ignite.Engine(lambda _, batch: {"logits": batch[0], "labels": batch[1]})
    names["CalibrationHandler"]("ece", "nll", output_transform=lambda output: output.values()).attach(engine)
    for _ in range(2):  # every epoch anew
        engine.run(list(zip(logits, labels)))
        assert engine.state.metrics["ece"] == segcal.metrics.ece(logits, labels, input="logits")
