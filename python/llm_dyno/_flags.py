"""From keyword arguments to flags. Names and values are the program's: it checks them."""

from __future__ import annotations

import json
import os
from typing import Dict, List, Mapping, Tuple

#: Flags that are written once for each value; all other lists are one value with commas.
REPEATED = frozenset(
    ["fault", "header", "metric", "pair", "source_address", "stop", "stop_on", "tag"]
)
#: Not for the process list, where every user of the machine can read it.
SECRETS = {"api_key": "DYNO_API_KEY", "bus_token": "DYNO_BUS_TOKEN"}


def flags(settings: Mapping[str, object]) -> Tuple[List[str], Dict[str, str]]:
    """The flags of settings, and the variables of those that are secret."""
    words: List[str] = []
    secrets: Dict[str, str] = {}
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if name in SECRETS:
            secrets[SECRETS[name]] = str(value)
        elif value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)) and name in REPEATED:
            words.extend("{}={}".format(flag, text(one)) for one in value)
        elif isinstance(value, (list, tuple)):
            words.append("{}={}".format(flag, ",".join(text(one) for one in value)))
        else:
            words.append("{}={}".format(flag, text(value)))
    return words, secrets


def text(value: object) -> str:
    """A value as it is typed; a mapping is JSON."""
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    return str(value)
