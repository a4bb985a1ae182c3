# SPDX-License-Identifier: Apache-2.0
"""Type hints are complete, stubs say what the module has, and examples in docstrings run."""

import ast
import doctest
import importlib
import os
import pkgutil
import subprocess
import sys
from importlib.util import find_spec

import pytest
import segcal
import segcal._core
from data import SOURCE

ENUMS = ("FileKind", "TableForm")
STUB = SOURCE / "python" / "segcal" / "_core.pyi"


def test_mypy_strict():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(SOURCE / "pyproject.toml"), "--cache-dir", os.devnull, "-p", "segcal"]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "MYPYPATH": str(SOURCE / "python")}, cwd=SOURCE)
    assert done.returncode == 0, done.stdout


def members(body):
    """Names that statements define."""
    for item in body:
        if isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            yield item.name, item
        elif isinstance(item, ast.AnnAssign):
            yield item.target.id, item


def test_stubs_are_the_module():
    stub = dict(members(ast.parse(STUB.read_text()).body))
    module = {name for name in dir(segcal._core) if not name.startswith("_")} | {"__version__"}
    assert set(stub) == module
    for name, item in stub.items():
        if isinstance(item, ast.ClassDef) and name != "Cancelled":
            described = {member for member, _ in members(item.body)} - {"__init__"}
            real = {member for member in dir(getattr(segcal._core, name)) if not member.startswith("_")}
            assert described == real - ({"name", "value"} if name in ENUMS else set()), name


MODULES = [f"segcal.{item.name}" for item in pkgutil.iter_modules(segcal.__path__)
           if item.name not in ("_core", "losses", "plots", "sklearn")] + ["segcal.sklearn"] * bool(find_spec("sklearn"))


@pytest.mark.parametrize("name", ["segcal", *MODULES])
def test_examples_in_docstrings_run(name):
    failures, _ = doctest.testmod(importlib.import_module(name))
    assert failures == 0


def test_everything_public_is_described():
    for name in segcal.__all__:
        if name != "__version__":
            assert getattr(segcal, name).__doc__, name


def test_import_brings_nothing_heavy():
    """What an import takes is what it imports: NumPy, and of the rest only modules of Python's own library."""
    code = ("import sys, numpy; had = set(sys.modules); import segcal; "
            "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - had}))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - sys.stdlib_module_names == {"segcal"}
