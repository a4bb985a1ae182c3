# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and progress callbacks stop a long call, soon and cleanly; tqdm shows progress."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import segcal
from data import draw

CALLS = {
    "fit": """segcal.fit(z, y, "cms_ap", search=1000, checkpoint=sys.argv[1], progress=listen)""",
    "without progress": """(threading.Timer(0.5, listen, ["", 0, 1, ""]).start(),
                            segcal.fit(z, y, "cms_ap", search=1000, progress=False))""",
    "training": """segcal.fit(z, y, "lts(z, epochs=1000)", checkpoint=sys.argv[1], progress=listen)""",
    "evaluate": """segcal.evaluate("none(z)", [z] * 100, [y] * 100, progress=listen)""",
    "study": """segcal.compare(z, y, "cms_ap(z)", search=1000, folder=sys.argv[1], progress=listen)""",
}

# A signal handler of C writes down when the signal comes: Python hears of it only when the call gives way. Seconds are those
# of the processor, so that a busy machine does not count.
SCRIPT = """
import numpy as np, os, segcal, signal, sys, threading, time
reader, writer = os.pipe()
os.set_blocking(writer, False)
signal.set_wakeup_fd(writer)
arrived = []
watch = threading.Thread(target=lambda: arrived.append((os.read(reader, 1), time.process_time())), daemon=True)
watch.start()

def listen(stage, done, total, detail):
    if total and not listen.begun:
        print("begin", flush=True)
        listen.begun = True
listen.begun = False

rng = np.random.default_rng(0)
z = rng.normal(size=(8, 19, 128, 128)).astype(np.float32)
y = rng.integers(0, 19, (8, 128, 128))
try:
    CALL
except KeyboardInterrupt:
    watch.join()
    took = time.process_time() - arrived[0][1]
    print(took, segcal.fit(z[:1, :, :32, :32], y[:1, :32, :32], "ts").temperature > 0, flush=True)
"""


@pytest.mark.parametrize("call", CALLS)
def test_keyboard_interrupt_stops_a_call_within_a_second(call, tmp_path):
    process = subprocess.Popen([sys.executable, "-c", SCRIPT.replace("CALL", CALLS[call]), str(tmp_path / "kept")],
                               stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert process.stdout.readline() == "begin\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    took, usable = out.split()
    assert process.returncode == 0
    assert usable == "True"
    assert float(took) < 1
    assert call in ("training", "study") or not list(tmp_path.iterdir())  # what these two have completed is kept


def test_callback_hears_and_stops():
    logits, labels = draw((4, 6, 96, 96))
    heard = []

    def listen(stage, done, total, detail):
        heard.append((stage, done, total, detail, threading.get_ident()))
    segcal.fit(logits, labels, "ts", progress=listen)
    assert any(stage and 0 < done <= total for stage, done, total, *_ in heard)
    assert {entry[-1] for entry in heard} == {threading.get_ident()}
    with pytest.raises(segcal.Cancelled):
        segcal.fit(logits, labels, "ms", progress=lambda *_: False)

    def fail(*_):
        raise LookupError("from the callback")
    with pytest.raises(LookupError, match="from the callback"):
        segcal.fit(logits, labels, "ms", progress=fail)
    assert segcal.fit(logits, labels, "ts", progress=False).temperature > 0


def test_calls_from_other_threads_leave_signals_alone():
    logits, labels = draw((2, 4, 64, 64))
    found = []
    thread = threading.Thread(target=lambda: found.append(segcal.fit(logits, labels, "vs")))
    thread.start()
    thread.join()
    assert found[0] == segcal.fit(logits, labels, "vs")


def test_tqdm_shows_a_bar(capsys):
    pytest.importorskip("tqdm")
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(6, 19, 160, 160)).astype(np.float32)
    segcal.fit(logits, rng.integers(0, 19, (6, 160, 160)), "ms", progress=True, threads=1)
    assert "100%" in capsys.readouterr().err
