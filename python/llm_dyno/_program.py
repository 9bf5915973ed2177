"""The program: where it is, and how it is called."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from typing import Mapping, Optional, Sequence

#: Names another program, such as one that was just built.
VARIABLE = "LLM_DYNO_PROGRAM"


class DynoError(Exception):
    """The program could not do what was asked for; ``status`` is its exit status, the text what it said."""

    def __init__(self, message: str, status: Optional[int] = None) -> None:
        super().__init__(message)
        self.status = status


def program() -> str:
    """The path of ``dyno``: of ``$LLM_DYNO_PROGRAM``, else that of this installation, else on the ``PATH``."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    user = "{}_user".format(os.name)
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", user))
    for folder in folders:
        path = os.path.join(folder, "dyno") if folder else ""
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("dyno")
    if found:
        return found
    raise DynoError("there is no `dyno` beside this Python and none on the PATH; install llm-dyno again, or set " + VARIABLE)


def version() -> str:
    """The version of the program."""
    return call(["--version"]).decode().split()[-1]


def call(arguments: Sequence[str], fine: Sequence[int] = (0,)) -> bytes:
    """What the program prints; raises ``DynoError`` with its message unless its exit status is fine."""
    return call_with_status(arguments, fine)[0]


def call_with_status(
    arguments: Sequence[str],
    fine: Sequence[int] = (0,),
    environment: Optional[Mapping[str, str]] = None,
) -> "tuple[bytes, int]":
    """What the program prints, and its exit status."""
    done = subprocess.run(
        [program(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    if done.returncode not in fine:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise DynoError(said or "dyno ended with status {}".format(done.returncode), done.returncode)
    return done.stdout, done.returncode
