#!/usr/bin/env python3
"""Makes a wheel of the Python module and a static binary: packaging/wheel.py BINARY ARCH LICENCES FOLDER

A wheel is a zip with a list of its files; this writes one without other tools. The binary goes to the scripts, so that
installing puts `dyno` on the PATH. It must be static: then it runs with any C library, and the wheel may say so.
The same files give the same bytes: entries are sorted and have the time of $SOURCE_DATE_EPOCH.
"""

import base64
import glob
import hashlib
import os
import struct
import sys
import time
import zipfile

import crates

NAME = "llm_dyno"
#: What a static program runs on: glibc 2.17 and musl 1.1 are the oldest that pip knows.
TAGS = ("manylinux_2_17_{}", "manylinux2014_{}", "musllinux_1_1_{}")
MACHINES = {"x86_64": 62, "aarch64": 183}

METADATA = """\
Metadata-Version: 2.1
Name: llm-dyno
Version: {version}
Summary: Load tester for LLM inference servers that tells you when not to trust its numbers
License: Apache-2.0
License-File: LICENSE
License-File: LICENSES-THIRD-PARTY.txt
Requires-Python: >=3.7
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Requires-Dist: pyarrow; extra == "pandas"
Provides-Extra: polars
Requires-Dist: polars; extra == "polars"
Classifier: Environment :: Console
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: System :: Benchmark
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{readme}"""


def check_static(binary, arch):
    """Refuses what needs a C library of the machine, or is for another processor."""
    assert binary[:6] == b"\x7fELF\x02\x01", "the binary is no 64-bit ELF file"
    machine, offset = struct.unpack_from("<H", binary, 18)[0], struct.unpack_from("<Q", binary, 32)[0]
    size, count = struct.unpack_from("<HH", binary, 54)
    kinds = [struct.unpack_from("<I", binary, offset + size * k)[0] for k in range(count)]
    if machine != MACHINES[arch]:
        sys.exit("packaging/wheel.py: the binary is not for {}".format(arch))
    if 3 in kinds:
        sys.exit("packaging/wheel.py: the binary needs a C library; build it with packaging/static")


def read(*parts):
    with open(os.path.join(crates.ROOT, *parts), "rb") as file:
        return file.read()


def files(binary, licences, version, tags):
    """Every file of the wheel but the list, with its mode."""
    info = "{}-{}.dist-info".format(NAME, version)
    found = {}
    for path in glob.glob(os.path.join(crates.ROOT, "python", NAME, "*")):
        if os.path.isfile(path):
            found[NAME + "/" + os.path.basename(path)] = (read(path), 0o644)
    found["{}-{}.data/scripts/dyno".format(NAME, version)] = (binary, 0o755)
    readme = read("python", "README.md").decode()
    found[info + "/METADATA"] = (METADATA.format(version=version, readme=readme).encode(), 0o644)
    wheel = "Wheel-Version: 1.0\nGenerator: dyno packaging/wheel.py\nRoot-Is-Purelib: false\n"
    wheel += "".join("Tag: py3-none-{}\n".format(tag) for tag in tags)
    found[info + "/WHEEL"] = (wheel.encode(), 0o644)
    found[info + "/licenses/LICENSE"] = (read("LICENSE"), 0o644)
    found[info + "/licenses/LICENSES-THIRD-PARTY.txt"] = (licences, 0o644)
    return info, found


def main(binary, arch, licences, folder):
    version = crates.version()
    with open(binary, "rb") as file:
        program = file.read()
    with open(licences, "rb") as file:
        licences = file.read()
    check_static(program, arch)
    tags = [tag.format(arch) for tag in TAGS]
    info, found = files(program, licences, version, tags)
    record = ""
    for name, (content, _) in sorted(found.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += "{},sha256={},{}\n".format(name, digest, len(content))
    record += "{}/RECORD,,\n".format(info)
    path = os.path.join(folder, "{}-{}-py3-none-{}.whl".format(NAME, version, ".".join(tags)))
    # Zip knows no time before 1980.
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        # The list of files comes last, as pip wants it.
        for name, (content, mode) in [*sorted(found.items()), (info + "/RECORD", (record.encode(), 0o644))]:
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16, 3
            archive.writestr(entry, content)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
