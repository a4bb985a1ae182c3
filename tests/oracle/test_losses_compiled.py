# SPDX-License-Identifier: Apache-2.0
"""segcal.losses under torch.compile, and the recipe for nnU-Net with its own trainer: with SEGCAL_LONG_TESTS set, as the
PyTorch that can do so takes gigabytes."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from test_losses import VARIANTS

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.skipif(not os.environ.get("SEGCAL_LONG_TESTS"), reason="long: scripts/verify-long runs it")


@pytest.fixture(scope="module", name="python")
def installed():
    folder = Path(os.environ.get("SEGCAL_TORCH2", "torch2-env"))
    made = subprocess.run([HERE / "torch2_env.sh", folder], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip("PyTorch 2 cannot be installed: " + made.stderr.strip()[-200:])
    return folder / "env" / "bin" / "python"


def worker(python, *arguments):
    done = subprocess.run([python, HERE / "compiled_losses.py", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_compiled_losses_are_the_losses(python):
    """As one graph: whatever would interrupt it is an error."""
    found = worker(python, "compile", json.dumps(VARIANTS))
    assert len(found) == len(VARIANTS)
    for variant, differences in zip(VARIANTS, found):
        # The convolution of `autocast` is in bfloat16, of three digits.
        assert max(differences["alone"]) < 1e-5, (variant, differences)
        assert max(differences["autocast"]) < 2e-2, (variant, differences)


def test_the_recipe_for_nnunet_trains(python):
    assert worker(python, "nnunet", HERE.parents[1] / "docs" / "methods" / "losses.md") == []
