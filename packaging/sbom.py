#!/usr/bin/env python3
"""Prints what the program is made of, as CycloneDX 1.5 JSON: packaging/sbom.py x86_64-unknown-linux-musl

The same source gives the same bytes: there is no time and no serial number in it.
"""

import json
import sys

import crates


def purl(package):
    return "pkg:cargo/{}@{}".format(package["name"], package["version"])


def component(package, checksums):
    entry = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "licenses": [{"expression": crates.spdx(package["license"])}],
        "purl": purl(package),
    }
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["repository"]:
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def besides(name, version, licence, url, what):
    entry = {"type": "library", "bom-ref": name, "name": name, "description": what}
    if version:
        entry["version"] = version
    # SQLite's blessing has an identifier; an expression may be any of SPDX.
    entry["licenses"] = [{"expression": licence}]
    entry["externalReferences"] = [{"type": "website", "url": url}]
    return entry


def main(target):
    packages = crates.linked(target)
    refs = {package["id"]: purl(package) for package in packages}
    program = next(package for package in packages if package["name"] == "llm-dyno")
    checksums, needs = crates.checksums(), crates.edges(target)
    others = [component(package, checksums) for package in packages if package is not program]
    more = [besides(*row) for row in crates.BESIDES if row[0] != "musl" or "musl" in target]
    depends = [
        {"ref": refs[one], "dependsOn": sorted({refs[other] for other in needs[one] if other in refs})} for one in refs
    ]
    own = next(row for row in depends if row["ref"] == purl(program))
    own["dependsOn"] += [row["bom-ref"] for row in more]
    program = dict(component(program, checksums), type="application")
    properties = [{"name": "rust:target", "value": target}]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": program, "properties": properties},
        "components": others + more,
        "dependencies": sorted(depends, key=lambda row: row["ref"]),
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
