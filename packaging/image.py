#!/usr/bin/env python3
"""Unpacks an image as `docker save` writes it into an empty folder, and checks how it is started:

    packaging/image.py UNPACKED FOLDER
"""

import json
import os
import subprocess
import sys


def main(unpacked, folder):
    with open(os.path.join(unpacked, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)[0]
    with open(os.path.join(unpacked, manifest["Config"]), encoding="utf-8") as file:
        config = json.load(file)["config"]
    wanted = {"User": "65532:65532", "WorkingDir": "/runs", "Entrypoint": ["/usr/bin/dyno"]}
    for key, value in wanted.items():
        if config.get(key) != value:
            sys.exit("packaging/image.py: {} is {!r}, not {!r}".format(key, config.get(key), value))
    for layer in manifest["Layers"]:
        owner = ["--same-owner"] if os.getuid() == 0 else []
        subprocess.run(["tar", "-xpf", os.path.join(unpacked, layer), "-C", folder, *owner], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
