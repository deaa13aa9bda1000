#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds places where text of clients is compared as String.

Swift compares and hashes String by canonical equivalence, which takes time that grows with the square of the length of a run of
combining marks. Text of clients is therefore kept as UTF8Text, whose `string` is for output only, and fields of a request are read with
`texts(of:)`. This script finds code that does not. It runs in the root folder of the project; the status is 1 if it finds any.
"""

import re
import sys
from pathlib import Path

# Targets that read text of administrators only: configuration files, the command line, the terminal. A new target is checked.
EXEMPT = {
    "LoginConf", "RealmConfiguration", "GatehouseCommand", "AuthcheckCommand", "CommandSupport", "RealmTesting",
}
# Operations that compare by canonical equivalence or by Character.
COMPARING = r"(?:hasPrefix|hasSuffix|contains|split|firstIndex|lastIndex|firstRange|starts|elementsEqual|dropFirst|dropLast|prefix|suffix|first|last|isEmpty|trimming\w*|hash)"
RULES = [
    (re.compile(r"\.string\s*(?:==|!=|~=|<|>)\s"), "the string of a UTF8Text is compared: compare the UTF8Text"),
    (re.compile(r"(?:==|!=|~=)\s*[\w.?!()$]+\.string\b(?!\.utf8)"), "the string of a UTF8Text is compared: compare the UTF8Text"),
    (re.compile(r"\bswitch\s+[^{]*\.string\s*\{"), "a switch over the string of a UTF8Text: switch over the UTF8Text"),
    (re.compile(r"\.string\." + COMPARING + r"\b"), "the string of a UTF8Text is searched or taken apart: use its bytes"),
    (re.compile(r"\[[\w.$]+\.string\]"), "the string of a UTF8Text is a key: use the UTF8Text"),
    (re.compile(r"\b(?:username|user|name)\.text\s*(?:==|!=)\s"), "the text of a Username is compared: compare the Username"),
    (re.compile(r"\b(?:authority|query|target)\s*(?:==|!=)\s(?!nil\b)"), "a part of a request is compared as String: compare its bytes"),
    # Reads only. Fields that are set or removed belong to responses.
    (re.compile(r"\b(?:request|head)\.(?:headers|headerFields|fields)\[[^\]]*\](?!\s*=[^=])"),
     "a field of a request is read as String: use texts(of:)"),
    (re.compile(r"(?<![\w.])fields\[(?:values:\s*)?\.\w+\](?!\s*=[^=])"), "a field of a request is read as String: use texts(of:)"),
]


def code(text):
    """The text without comments and literals. The number of lines stays the same."""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group(0).count("\n"), text, flags=re.S)
    text = re.sub(r'"""(?:.|\n)*?"""', lambda found: '""' + "\n" * found.group(0).count("\n"), text)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"//[^\n]*", "", text)


def findings(path, text):
    for number, line in enumerate(code(text).split("\n"), 1):
        for rule, message in RULES:
            if rule.search(line):
                yield f"{path}:{number}: error: {message}"


def self_test():
    """Each rule must find the wrong lines, and no rule may find a right line."""
    wrong = [
        'if name.string == "x" {', 'if "x" == field.string {', "switch mode.string {", 'text.string.hasPrefix("a")', "seen[name.string]",
        "request.headers[.accept]", "let type = request.fields[.contentType] ?? none", "fields[values: .origin]", "fields[.accept]",
        "if request.headers[.accept] == x {", "user.username.text == x", "if authority == own {",
    ]
    right = [
        'if name == "x" {', "text.string.utf8.count", "text.string.utf8Span.span", 'fields[.location] = "/"', "fields[.cookie] = nil",
        "request.fields.texts(of: .accept)", "headers[.vary]", "Int(text.string)", "target == nil", '// if name.string == "x" {',
    ]
    for line in wrong:
        assert list(findings("-", line)), line
    for line in right:
        assert not list(findings("-", line)), line


def main():
    self_test()
    found = []
    for path in sorted(Path("Sources").rglob("*.swift")):
        if path.parts[2] not in EXEMPT:
            found += findings(path, path.read_text(encoding="utf-8"))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
