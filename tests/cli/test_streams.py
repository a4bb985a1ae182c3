# SPDX-License-Identifier: Apache-2.0
"""Standard streams that are closed or full: a defined exit code, never an abort, no file harmed."""

import json
import subprocess

import pytest
from program import PROGRAM, run, small_dataset

NO_OUTPUT = {"full": ">/dev/full", "closed": ">&-"}
NO_ERROR = {"full": "2>/dev/full", "closed": "2>&-"}


def shell(redirect, *arguments, cwd=None):
    """The exit code of a command line with a redirection, and what it says."""
    command = ["sh", "-c", f'"$0" "$@" {redirect}', str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=120)
    return done.returncode, done.stdout, done.stderr


def commands(dataset, model):
    return [["--help"], ["--version"], ["fit", "--help"], ["evaluate", dataset], ["evaluate", dataset, "--json"],
            ["inspect", dataset], ["inspect", model], ["verify", model, "--voxels", 1000], ["fit", dataset, "-o", "m.json"],
            ["apply", model, dataset, "-o", "out"], ["simulate", "sim", "--cases", 1, "--size", "20x20"]]


@pytest.mark.parametrize("how", NO_OUTPUT)
def test_output_that_cannot_be_written_ends_with_4(dataset, model, tmp_path, how):
    for command in commands(dataset, model):
        code, _, error = shell(NO_OUTPUT[how], *command, cwd=tmp_path)
        assert code == 4, command
        assert error.startswith("segcal: standard output"), command


@pytest.mark.parametrize("how", NO_ERROR)
def test_messages_that_nobody_reads_change_no_exit_code(dataset, model, tmp_path, how):
    """0 where it went well, also with warnings to say; 2, 3 and 4 where it did not."""
    for command in commands(dataset, model):
        code, output, _ = shell(NO_ERROR[how], *command, cwd=tmp_path)
        assert code == 0 and output, command
    assert shell(NO_ERROR[how], "banana")[0] == 2
    assert shell(NO_ERROR[how], "fit", dataset, "--banana")[0] == 2
    assert shell(NO_ERROR[how], "fit", model, "-o", tmp_path / "x.json")[0] == 3
    assert shell(NO_ERROR[how], "inspect", tmp_path / "nothing.json")[0] == 4


def test_both_closed(dataset):
    assert shell(">&- 2>&-", "evaluate", dataset)[0] == 4
    assert shell(">/dev/full 2>/dev/full", "--help")[0] == 4
    assert shell("<&- >&- 2>&-", "banana")[0] == 2


def test_no_message_ends_in_a_file(tmp_path):
    """A file that is opened while standard error is closed would get its number."""
    dataset = small_dataset(tmp_path, num_classes=4)
    content = json.loads(dataset.read_text())
    content["label_map"] = {"0": 0, "1": 1, "2": 1, "3": 0}
    dataset.write_text(json.dumps(content))
    run("fit", dataset, "-o", tmp_path / "open.json")
    assert shell("0<&- 2>&-", "fit", dataset, "-o", tmp_path / "closed.json")[0] == 0
    assert (tmp_path / "closed.json").read_bytes() == (tmp_path / "open.json").read_bytes()
