# SPDX-License-Identifier: Apache-2.0
"""The parts of an output that differ from run to run. Each rule is applied to the text of the page and to the output."""

import json
import re

RULES = [(re.compile(pattern), replacement) for pattern, replacement in [
    # Durations of traces, of the access log and of JSON.
    (r"(?m)\b\d+(?:\.\d+)? (?:ns|us|ms|s)$", "DURATION"),
    (r"\b\d+us\b", "DURATION"),
    (r'"nanoseconds":\d+', '"nanoseconds":0'),
    # Times.
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", "TIME"),
    # Fingerprints of certificates and keys.
    (r"\b(?:[0-9A-F]{2}:){31}[0-9A-F]{2}\b", "FINGERPRINT"),
    (r"sha256//[A-Za-z0-9+/]{43}=", "sha256//PIN"),
    # Salts and hashes. Algorithm and cost are compared.
    (r"(\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+)\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+", r"\1$HASH"),
    (r"(\$2[aby]\$\d\d)\$[A-Za-z0-9./]{53}", r"\1$HASH"),
    (r"(\$(?:apr1|[156y])\$)[A-Za-z0-9./$=]{16,}", r"\1HASH"),
    # Ids of sessions.
    (r"\b(session=|id\":\")[A-Za-z0-9_-]{22}\b", r"\1ID"),
    (r"(?m)^[A-Za-z0-9_-]{22}(?= )", "ID                    "),
    # The build.
    (r"\(commit [^)]*\)", "(commit C)"),
    (r"(?m)^OpenSSL \d.*$", "OpenSSL VERSION"),
    # Fields of HTTP responses.
    (r"(?im)^date: .*$", "date: DATE"),
    (r"(?im)^(set-cookie: [\w-]+)=[^;]*", r"\1=VALUE"),
    # The folders of the page and of the repository.
    (r"/\S*/docs-check-[^/\s]+/page\b", "FOLDER"),
]]


def plain(output):
    """The output as a person sees it: without control sequences, and with the last text of a line that was written several times."""
    output = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output).replace("\r\n", "\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2].rstrip() for line in output.split("\n"))


def normalised(text):
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return [in_order(line.rstrip()) for line in text.split("\n")]


def in_order(line):
    """A line, with the keys of a JSON object in alphabetical order."""
    if not line.startswith("{"):
        return line
    try:
        return json.dumps(json.loads(line), sort_keys=True)
    except ValueError:
        return line


def matches(shown, printed):
    """Whether an output is that of the page. A line `...` of the page stands for any number of lines."""
    shown, printed = normalised(shown.rstrip("\n")), normalised(printed.rstrip("\n"))
    reach = {0}
    for line in shown:
        if line.strip() == "...":
            reach = set(range(min(reach), len(printed) + 1)) if reach else set()
        else:
            reach = {at + 1 for at in reach if at < len(printed) and printed[at] == line}
    return len(printed) in reach
