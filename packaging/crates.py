#!/usr/bin/env python3
"""The crates that are linked into the program, and what is known of them: for the SBOM and the licences.

What cargo links is what `cargo tree` lists: it knows features and platforms. `cargo metadata` knows where a crate is
and what it says of itself, `Cargo.lock` its checksum.
"""

import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

#: What is linked besides crates: name, version, licence, where it is from, what it is. Texts of their licences are in
#: packaging/licences/.
BESIDES = [
    ("rust-std", None, "MIT OR Apache-2.0", "https://www.rust-lang.org", "Rust's standard library"),
    ("musl", "1.2.5", "MIT", "https://musl.libc.org", "the C library of the static binary"),
    ("sqlite", None, "blessing", "https://sqlite.org", "compiled in by libsqlite3-sys"),
    ("noto-sans-cjk-sc", None, "OFL-1.1", "https://github.com/notofonts/noto-cjk", "a part of the font, for charts"),
]


def cargo(*arguments):
    """What cargo prints."""
    command = [os.environ.get("CARGO", "cargo"), *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()


def linked(target):
    """The packages that are linked for a target, as `cargo metadata` describes them; ours first."""
    tree = cargo(
        *("tree", "--locked", "--package", "llm-dyno", "--edges", "normal,no-proc-macro"),
        *("--target", target, "--prefix", "none", "--format", "{p}"),
    )
    names = {tuple(line.split(" ")[:2]) for line in tree.splitlines() if line}
    told = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    packages = [one for one in told["packages"] if (one["name"], "v" + one["version"]) in names]
    assert len(packages) == len(names), names - {(one["name"], "v" + one["version"]) for one in packages}
    return sorted(packages, key=lambda one: (one["source"] is not None, one["name"], one["version"]))


def edges(target):
    """Which package needs which, by their ids."""
    told = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    needs = {}
    for node in told["resolve"]["nodes"]:
        kinds = lambda dep: [kind["kind"] for kind in dep["dep_kinds"]]
        needs[node["id"]] = [dep["pkg"] for dep in node["deps"] if None in kinds(dep)]
    return needs


def checksums():
    """The SHA-256 of each crate of a registry, by name and version."""
    with open(os.path.join(ROOT, "Cargo.lock"), encoding="utf-8") as file:
        entries = file.read().split("[[package]]")
    found = {}
    for entry in entries:
        fields = dict(re.findall(r'^(name|version|checksum) = "(.*)"$', entry, re.MULTILINE))
        if "checksum" in fields:
            found[fields["name"], fields["version"]] = fields["checksum"]
    return found


def version():
    """The version of the program."""
    with open(os.path.join(ROOT, "Cargo.toml"), encoding="utf-8") as file:
        return re.search(r'^version = "(.*)"$', file.read(), re.MULTILINE).group(1)


def spdx(licence):
    """A licence as SPDX writes it: older crates have a slash for OR."""
    return licence.replace("/", " OR ") if licence else "NOASSERTION"
