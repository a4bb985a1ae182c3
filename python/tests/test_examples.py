# SPDX-License-Identifier: Apache-2.0
"""Examples run as they stand, the notebook cell by cell, and its results show themselves."""

import ast
import json
import os
import subprocess
import sys

import pytest
from data import SOURCE

# What an example needs that the package does not.
NEEDS = {"parts_with_dask.py": "distributed"}
SCRIPTS = sorted(path.name for path in (SOURCE / "examples").glob("*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_runs(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    done = subprocess.run([sys.executable, str(SOURCE / "examples" / name)], cwd=tmp_path, capture_output=True,
                          text=True, check=False, env={**os.environ, "MPLBACKEND": "agg"})
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_dask_gives_the_bytes_of_one_process(tmp_path):
    pytest.importorskip("distributed")
    subprocess.run([sys.executable, str(SOURCE / "examples" / "parts_with_dask.py")], cwd=tmp_path, check=True)
    subprocess.run([os.environ["SEGCAL_PROGRAM"], "evaluate", "street", "-m", "ts.json", "--split", "test", "-o", "one.json",
                    "--quiet"], cwd=tmp_path, check=True)
    assert (tmp_path / "metrics.json").read_bytes() == (tmp_path / "one.json").read_bytes()


def last_value(source, names):
    """Runs a cell and returns the value of its last line, as a notebook does."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # pylint: disable=exec-used
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # pylint: disable=eval-used


def test_notebook_runs_and_shows_its_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((SOURCE / "examples" / "segcal.ipynb").read_text(encoding="utf-8"))
    names, shown = {}, set()
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [], "clear outputs before a commit"
        value = last_value("".join(cell["source"]), names)
        shown |= {kind for kind in ("_repr_svg_", "_repr_html_") if value is not None and getattr(value, kind, str)()
                  and hasattr(value, kind)}
    assert shown == {"_repr_svg_", "_repr_html_"}
