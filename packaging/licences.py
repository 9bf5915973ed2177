#!/usr/bin/env python3
"""Prints the licences of everything that is linked into the program, as one text:

    packaging/licences.py x86_64-unknown-linux-musl TOOLS      TOOLS: what packaging/tools prints

Each licence text stands once, under the names of those who have it. A part without a text is an error, so that the file
is complete or there is none.
"""

import glob
import os
import subprocess
import sys

import crates

NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")

#: Crates whose package has no text, and the licence of theirs that we use: the text of ours is the same.
AS_OURS = {"async-nats": "Apache-2.0", "yaml-rust2": "Apache-2.0"}

SQLITE = """The authors of SQLite have dedicated its code to the public domain. See https://sqlite.org/copyright.html.
"""


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().replace("\r\n", "\n").strip("\n") + "\n"


def texts(folder):
    """The licence files of a folder."""
    names = sorted(name for name in os.listdir(folder) if name.upper().startswith(NAMES))
    return [read(os.path.join(folder, name)) for name in names if os.path.isfile(os.path.join(folder, name))]


def of_crate(package):
    """The texts of a crate."""
    if package["source"] is None:
        return [read(os.path.join(crates.ROOT, "LICENSE"))]
    folder = os.path.dirname(package["manifest_path"])
    found = texts(folder)
    if package["name"] == "libmimalloc-sys":
        # The binding has a licence, and so has what it binds.
        found += texts(os.path.join(folder, "c_src", "mimalloc"))
    if not found and package["name"] in AS_OURS:
        assert AS_OURS[package["name"]] in crates.spdx(package["license"]), package["name"]
        found = [read(os.path.join(crates.ROOT, "LICENSE"))]
    return found


def of_others(target, tools):
    """The texts of what is no crate."""
    root = subprocess.run(["rustc", "--print", "sysroot"], check=True, stdout=subprocess.PIPE).stdout.decode().strip()
    rust = glob.glob(os.path.join(root, "share/doc/rust/licenses/MIT*"))
    rust += glob.glob(os.path.join(root, "share/doc/rust/licenses/Apache-2.0*"))
    font = os.path.join(crates.ROOT, "crates/dyno-draw/assets/fonts/OFL.txt")
    found = {
        "rust-std": [read(path) for path in sorted(rust)],
        "sqlite": [SQLITE],
        "noto-sans-cjk-sc": [read(font)],
    }
    if "musl" in target:
        musl = glob.glob(os.path.join(tools, "lib/python3*/site-packages/ziglang/lib/libc/musl/COPYRIGHT"))
        found["musl"] = [read(path) for path in musl]
    return found


def main(target, tools):
    packages, others = crates.linked(target), of_others(target, tools)
    parts, used = [], {}
    for package in packages:
        name = "{} {}".format(package["name"], package["version"])
        parts.append((name, crates.spdx(package["license"]), of_crate(package)))
    for name, version, licence, _, what in crates.BESIDES:
        if name in others:
            parts.append((" ".join(filter(None, [name, version])), licence, others[name]))
    missing = [name for name, _, found in parts if not found]
    if missing:
        sys.exit("packaging/licences.py: there is no licence text of {}; see AS_OURS".format(", ".join(missing)))
    print("dyno {} for {}: what is linked into it, and the licences.\n".format(crates.version(), target))
    for name, licence, found in parts:
        print("{:<40}{}".format(name, licence))
        for text in found:
            used.setdefault(text, []).append(name)
    for text, names in used.items():
        print("\n{}\n{}\n".format("=" * 100, ", ".join(names)))
        print(text, end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
