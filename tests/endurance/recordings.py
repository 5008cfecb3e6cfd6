"""What the programs of this folder know of the recorded program and of the processes beside it."""

import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PORTMORTEM = TARGET / "release" / "portmortem"

COLUMNS = "predicate,calls,exits_det,exits_nondet,fails,redos,exceptions,cuts"


def folding_process(program):
    """The child of the program that folds its trace, once it is there."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == program and b"--keep" in (process / "cmdline").read_bytes():
                return int(process.name)
        except OSError:
            pass  # it has ended
    return None
