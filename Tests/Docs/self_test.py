#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests docs_check with a page that has a mistake in each block, and with a page that has none.

    self_test.py PROGRAMS

Status: 0 if exactly the mistakes were reported, 1 if not, 77 if pages cannot be run here.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The lines of wrong.md that must be reported, each with a part of the message.
EXPECTED = {
    6: "names no language",
    12: "`echo printed` prints something else",
    17: "prints something else",
    24: "`false` has ended with status 1",
    28: "not JSON",
    32: "not YAML",
    36: "gatehouse check",
    43: "does not have this line",
    47: "does not name the file",
    51: "language fortran",
    55: "nginx",
    60: "has started no server",
    65: "there is no file missing.conf",
    68: "leads to no",
}


def main():
    check = [sys.executable, "-B", os.path.join(HERE, "docs_check.py"), "--programs", sys.argv[1]]
    wrong = subprocess.run([*check, os.path.join(HERE, "self-test", "wrong.md")], capture_output=True, text=True)
    right = subprocess.run([*check, os.path.join(HERE, "self-test", "right.md")], capture_output=True, text=True)
    if wrong.returncode == 77:
        print(wrong.stdout, end="")
        return 77
    found = {int(line): message for line, message in re.findall(r"(?m)^Tests/Docs/self-test/wrong\.md:(\d+): (.*)$", wrong.stdout)}
    problems = [f"line {line} of wrong.md is not reported as: {message}; it is reported as: {found.get(line)}"
                for line, message in EXPECTED.items() if message not in found.get(line, "")]
    problems += [f"line {line} of wrong.md has no mistake, and is reported: {message}" for line, message in found.items()
                 if line not in EXPECTED]
    if wrong.returncode != 1:
        problems.append(f"wrong.md has ended with status {wrong.returncode}")
    if right.returncode != 0:
        problems.append("right.md does not pass:\n" + right.stdout)
    print("\n".join(problems) if problems else f"docs_check reports all {len(EXPECTED)} mistakes of a page, and no others")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
