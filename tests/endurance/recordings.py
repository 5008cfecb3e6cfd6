"""What the programs of this folder know of the recorded program and of the processes beside it."""

import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PORTMORTEM = TARGET / "release" / "portmortem"

COLUMNS = "predicate,calls,exits_det,exits_nondet,fails,redos,exceptions,cuts"


def folding_process(program, trace):
    """The process that folds the trace of a program, once it is there.

    It began as the same command, and has the program neither for a parent nor in its session.
    """
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        is_record = b"--keep" in words and os.fsencode(trace) in words
        if is_record and int(process.name) != program:
            return int(process.name)
    return None
