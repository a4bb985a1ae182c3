# SPDX-License-Identifier: Apache-2.0
"""How the program speaks: help, exit codes, standard output and error, progress, pipes."""

import json
import os
import pty
import re
import resource
import signal
import subprocess
import time

import pytest
from program import PROGRAM, change, fails, fit, run, small_dataset

COMMANDS = ["simulate", "index", "inspect", "fit", "apply", "evaluate", "fuse", "corrupt", "report", "verify"]


def test_help_lists_every_command_and_the_exit_codes():
    text = run("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", text, re.MULTILINE)
    codes = "0 ok, 1 internal error, 2 wrong usage, 3 bad data, 4 input/output error"
    others = "5 verify: the declaration does not hold, 130 stopped by Ctrl-C, 143 by SIGTERM."
    assert f"Exit codes: {codes},\n{others}" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_is_complete_and_has_an_example(command):
    done = run(command, "--help")
    assert f"  segcal {command} " in done.stdout.split("Example", 1)[1]
    assert done.stderr == ""
    options = re.findall(r"^  (?:-\w,)?(--[\w-]+)(.*)$", done.stdout, re.MULTILINE)
    assert len(options) >= 4
    for name, rest in options:
        described = rest.strip() or re.search(rf"{name}\S*\n +\w", done.stdout)
        assert described, f"{name} is not described"


def test_help_names_calibrators_metrics_and_outputs():
    assert re.search(r"^  ts +Divides", run("fit", "--help").stdout, re.MULTILINE)
    metrics = run("evaluate", "--help").stdout
    for name in ("nll", "brier", "ece", "mce", "ace", "dsc", "miou", "flip_rate",
                 "free_energy_std"):
        assert re.search(rf"^  {name} +\w", metrics, re.MULTILINE), name
    assert "--set bins=50" in metrics
    assert re.search(r"^  entropy +", run("apply", "--help").stdout, re.MULTILINE)


def test_version_is_printed():
    assert re.fullmatch(r"segcal \d+\.\d+\.\d+\n", run("--version").stdout)


def test_unknown_command_is_named_with_the_known_ones():
    message = fails(2, "calibrate", "x")
    assert '"calibrate"' in message and all(command in message for command in COMMANDS)
    assert "--help" in fails(2)


def test_unknown_and_missing_options_are_named(dataset, tmp_path):
    assert "--banana" in fails(2, "fit", dataset, "-o", tmp_path / "m.json", "--banana")
    assert "--output" in fails(2, "fit", dataset)
    assert "dataset" in fails(2, "evaluate")
    message = fails(2, "fit", dataset, "-o", tmp_path / "m.json", "--threads", 5000)
    assert "--threads" in message and "5000" in message and "1024" in message


def test_results_go_to_standard_output_and_nothing_else_does(dataset, model, tmp_path):
    """With --json all of standard output is one JSON document."""
    commands = {
        "simulate": ["simulate", tmp_path / "sim", "--cases", 1, "--size", "20x20", "--json"],
        "inspect": ["inspect", dataset, "--json"],
        "inspect model": ["inspect", model, "--json"],
        "fit": ["fit", dataset, "-o", tmp_path / "m.json", "--json"],
        "apply": ["apply", model, dataset, "-o", tmp_path / "out", "--json"],
        "evaluate": ["evaluate", dataset, "-m", model, "--json", "--figures", tmp_path / "f"],
        "verify": ["verify", model, dataset, "--voxels", 10000, "--json"],
    }
    for name, command in commands.items():
        done = run(*command)
        assert isinstance(json.loads(done.stdout), dict), name
        # Shorter than the first line of progress; evaluate warns of the cases that were fitted on.
        assert [line for line in done.stderr.splitlines() if "took part in the fit" not in line] == [], name
    assert json.loads((tmp_path / "m.json").read_text()) == json.loads(run(*commands["fit"]).stdout)


def test_people_get_tables(dataset, model, tmp_path):
    assert re.search(r"temperature \d\.\d+", run("fit", dataset, "-o", tmp_path / "m.json").stdout)
    table = run("evaluate", dataset, "-p", "none(z)", "-m", model).stdout
    assert "none(z)" in table and "ts(z)" in table and "NLL" in table
    assert "case2" in run("inspect", dataset).stdout
    assert "preserves: order" in run("inspect", model).stdout
    assert "wrote 3 files" in run("apply", model, dataset, "-o", tmp_path / "out").stdout


def test_warnings_go_to_standard_error(tmp_path):
    """Two classes of four are never labelled."""
    dataset = small_dataset(tmp_path, num_classes=4)
    change(dataset, lambda d: d.update(label_map={"0": 0, "1": 1, "2": 1, "3": 0}))
    done = run("fit", dataset, "-o", tmp_path / "m.json")
    assert "warning: ts(z): no voxel is labelled c2, c3" in done.stderr
    assert "warning:" not in done.stdout
    model = json.loads((tmp_path / "m.json").read_text())
    assert model["fit"]["warnings"] == ["no voxel is labelled c2, c3"]


def test_folders_of_outputs_are_made(tmp_path):
    dataset = small_dataset(tmp_path)
    fit(dataset, "ts(z)", tmp_path / "new" / "models" / "m.json")
    run("evaluate", dataset, "-m", tmp_path / "new" / "models" / "m.json", "-o",
        tmp_path / "other" / "metrics.json", "--quiet")
    assert (tmp_path / "new" / "models" / "m.json").exists()
    assert (tmp_path / "other" / "metrics.json").exists()


def start(*arguments, **options):
    command = [str(PROGRAM), *map(str, arguments)]
    return subprocess.Popen(command, **options)  # pylint: disable=consider-using-with


LONG = ["--preset", "roads", "--cases", 3000, "--size", "256x256"]


def stop(process):
    """Ends a process this test started."""
    process.kill()
    process.wait()


def has_unnamed_files(folder):
    """Whether the file system has files without a name, of which nothing stays."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
        return True
    except OSError:
        return False


def test_progress_is_plain_lines_where_there_is_no_terminal(tmp_path):
    process = start("simulate", tmp_path / "long", *LONG, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
    finally:
        stop(process)
    assert re.fullmatch(r"simulate roads: +\d+ %  \S+ ?\S* voxels/s  \d+:\d\d left\n", line)
    assert process.stdout.read() == ""
    assert not (tmp_path / "long" / "dataset.json").exists(), "a killed simulation looks complete"
    if has_unnamed_files(tmp_path):
        assert not list(tmp_path.rglob("*.tmp")), "a killed program left half a file"
    process.stdout.close()
    process.stderr.close()


def test_progress_is_a_bar_on_a_terminal(tmp_path):
    ours, theirs = pty.openpty()
    process = start("simulate", tmp_path / "long", *LONG, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    deadline = time.monotonic() + 30
    try:
        while b"left" not in text and time.monotonic() < deadline:
            text += os.read(ours, 4096)
    finally:
        stop(process)
        os.close(ours)
    assert re.search(rb"\r\x1b\[Ksimulate roads \[=* *\] +\d+ %  .* voxels/s  \d+:\d\d left", text)


def test_a_finished_bar_is_wiped_off(tmp_path):
    ours, theirs = pty.openpty()
    process = start("simulate", tmp_path / "s", "--cases", 6, "--size", "150x150",
                    stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while True:
            part = os.read(ours, 4096)
            text += part
    except OSError:  # the other end is closed
        pass
    assert process.wait() == 0
    os.close(ours)
    assert b"simulate street [" in text and text.endswith(b"\r\x1b[K")


def test_quiet_is_silent_even_when_it_takes_long(tmp_path):
    process = start("simulate", tmp_path / "long", *LONG, "--quiet", stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=6.5)
    finally:
        process.kill()
        out, err = process.communicate()
    assert out == err == b""


def test_a_closed_pipe_ends_the_program_quietly(dataset):
    process = start("evaluate", dataset, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait() == -signal.SIGPIPE and error == b""


def test_output_that_cannot_be_written_is_an_error(dataset, tmp_path):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([str(PROGRAM), "inspect", str(dataset), "--json"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 4 and "standard output" in done.stderr


def test_a_full_disk_is_an_error_and_leaves_nothing(dataset, model, tmp_path):
    """A limit on file size, with its signal ignored, looks like a full disk."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    out = tmp_path / "out"
    for file_format in ("npy", "npz", "nifti"):
        command = [PROGRAM, "apply", model, dataset, "-o", out, "--format", file_format]
        done = subprocess.run(command, preexec_fn=limit, restore_signals=False, check=False,
                              capture_output=True, text=True)
        assert done.returncode == 4, done.stderr
        assert "out/case" in done.stderr and "File too large" in done.stderr
        assert not out.exists(), "an empty folder was left"


def test_no_colour_or_times_in_files(dataset, tmp_path):
    """Two runs can be compared byte by byte."""
    for name in ("a", "b"):
        fit(dataset, "ts(z)", tmp_path / f"{name}.json")
        run("evaluate", dataset, "-o", tmp_path / f"{name}_metrics.json")
        time.sleep(0.01)
    for suffix in (".json", "_metrics.json"):
        first, second = ((tmp_path / f"{name}{suffix}").read_text() for name in ("a", "b"))
        assert first == second
        assert str(tmp_path) not in first and str(dataset.parent) not in first
