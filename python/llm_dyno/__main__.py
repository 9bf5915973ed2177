"""``python -m llm_dyno`` is ``dyno``."""

import os
import sys

from ._program import program

os.execv(program(), ["dyno"] + sys.argv[1:])
