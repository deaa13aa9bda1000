#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the pages say about the program. Prints what is wrong, and exits with status 1.

* A sentence that says "not available", "not yet", "not supported" or "planned" names something in the first column of the table of
  docs/comparison.md. A change that adds one of these things removes it from the table, and this check then names the pages that are wrong.
  An outage is "unavailable", or "not available now".
* The synopsis of docs/operations.md has the commands and options of the manual pages, which are made from the commands (manual.py).
* The index of docs/configuration-reference.md has the statements that the parser knows, block by block.
* The map of CONTRIBUTING.md and docs/images/architecture.svg have the targets of Package.swift.
* The sources of Examples/Adapters are those of the pages in docs/swift.
* docs/README.md lists all pages, and docs/decisions/README.md all decisions.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ABSENCE = re.compile(r"\bnot (?:available(?! now)|supported|implemented|yet\b)|\bno metrics\b|(?<!not )\bplanned\b", re.I)
# All commands have these, and the synopsis leaves them out.
COMMON = {"--config", "-D"}


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def section(page, heading):
    """The text below a heading, up to the next one."""
    return re.search(rf"(?ms)^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text(page)).group(1)


def rows(section):
    """The cells of the tables of a section, without code marks."""
    lines = [line.strip(" |").split(" | ") for line in section.split("\n") if line.startswith("| ") and line.strip("| ")]
    return [[cell.strip() for cell in cells] for cells in lines]


def plain(words):
    return " ".join(re.sub(r"[*`]", "", words).lower().split())


def absences():
    """The sentences that name nothing of the table."""
    missing = [plain(name) for cells in rows(section("docs/comparison.md", "What Gatehouse does not have")) for name in cells[0].split(",")]
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("Examples/*/README.md"), *ROOT.glob("packaging/man/*.[158]")]
    for page in sorted(pages):
        path = page.relative_to(ROOT).as_posix()
        if path.startswith(("docs/decisions/", "docs/reviews/")) or path == "docs/comparison.md":
            continue
        # A row of a table, or a paragraph, without what programs print.
        shown = re.sub(r"(?ms)^ *```.*?^ *```|<!--.*?-->", "", page.read_text(encoding="utf-8"))
        shown = re.sub(r"`[^`\n]*`", lambda code: "" if "not available" in code.group() else code.group(), shown)
        for words in map(plain, re.split(r"\n(?=\||[-*] )|\n\s*\n", shown)):
            if ABSENCE.search(words) and not any(name in words for name in missing):
                yield f"{path}: \"{ABSENCE.search(words).group()}\", but docs/comparison.md does not list it: {words[:90]}"


def synopsis():
    """The commands and options that only the manual pages or only docs/operations.md have."""
    commands = {}
    for page, program in (("gatehouse.8", "gatehouse"), ("authcheck.1", "authcheck")):
        part = re.search(r"(?ms)^\.Sh SYNOPSIS\n(.*?)^\.Sh", text(f"packaging/man/{page}")).group(1)
        for entry in re.split(r"(?m)^\.Nm\b", part)[1:]:
            path = re.match(r"(?: Cm (.*))?", entry).group(1)
            options = {"-" + name.replace("\\-", "-") for name in re.findall(r"(?m)^\.(?:Op )?Fl (\S+)", entry)} - COMMON
            if options != {"--help"}:
                commands[f"{program} {path or ''}".strip()] = options
    block = re.search(r"(?ms)^```text\n(.*?)^```", section("docs/operations.md", "Commands")).group(1)
    shown = {}
    for line in re.sub(r"\n +", " ", block).strip().split("\n"):
        path = re.match(r"[a-z]+(?: [a-z][a-z|-]*)*(?= |$)", line).group().strip()
        options = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", line[len(path):])) - COMMON
        if options == {"--version"}:
            continue
        *before, names = path.rsplit(" ", 1)
        for name in names.split("|"):
            command = " ".join([*before, name])
            # `...` at the end: another page has the options.
            shown.setdefault(command, set()).update(options, commands.get(command, ()) if line.endswith(" ...") else ())
    for command in sorted(commands.keys() | shown.keys()):
        if command not in commands:
            yield f"docs/operations.md: there is no command {command}"
        elif command not in shown:
            yield f"docs/operations.md: the synopsis lacks {command}"
        else:
            yield from (f"docs/operations.md: {command} has no option {name}" for name in sorted(shown[command] - commands[command]))
            yield from (f"docs/operations.md: the synopsis lacks {command} {name}" for name in sorted(commands[command] - shown[command]))


def statements():
    """The statements that only the parser or only the index of docs/configuration-reference.md has."""
    limits = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("Sources/Base/HTTPLimits/*.swift"))
    known = {"limits": set(re.findall(r'(?m)^\s+Setting\(\s*"([^"]+)"', limits))}
    for path in sorted(ROOT.glob("Sources/Text/RealmConfiguration/**/*.swift")):
        source = path.read_text(encoding="utf-8")
        # A schema: its statements are the entries of a list, each with its keyword as the first argument.
        for schema in re.finditer(r'BlockSchema(?:<[^(]+>)?\(\s*name: "([^"]+)"(?:(?!BlockSchema|statements:)[\s\S])*statements: (?=\[)', source):
            entries = bracketed(source[schema.end():])
            known.setdefault(schema.group(1), set()).update(re.findall(r'(?:\.\w+\(|keyword: )\s*"([a-z0-9-]+)"', entries))
        # A block without a schema has a list of keywords.
        for block, names in re.findall(r'Block\(\s*statements,\s*of: "([^"]+)",\s*([\w.]+|\[[^\]]*\])', source):
            name = names.rsplit(".")[-1]
            known.setdefault(block, set()).update(re.findall(r'"([^"]+)"', names if "[" in names else keywords(source, name)))
        if "struct RealmLinker" in source:
            known["realm"] = set(re.findall(r'"([^"]+)"', keywords(source, "keywords")))
    index = {plain(cells[0]): set(re.findall(r"`([a-z0-9-]+)`", cells[1])) for cells in rows(section("docs/configuration-reference.md", "Index"))[1:]}
    for block in sorted(known.keys() | index.keys()):
        parsed, listed = known.get(block, set()), index.get(block, set())
        yield from (f"docs/configuration-reference.md: the index lacks {name} in {block}" for name in sorted(parsed - listed))
        yield from (f"docs/configuration-reference.md: the index has {name} in {block}, and the parser has not" for name in sorted(listed - parsed))
        if not parsed:
            yield f"documented: no statements of {block} were found in Sources"


def bracketed(source):
    """The list at the beginning of a source."""
    depth = 0
    for place, sign in enumerate(source):
        depth += {"[": 1, "]": -1}.get(sign, 0)
        if depth == 0:
            return source[:place]


def keywords(source, name):
    """The list of a constant of Swift; empty if there is no such constant."""
    value = re.search(rf"let {name}\b[^=\n]*=\s*(\[[^\]]*\])", source)
    return value.group(1) if value else ""


def targets():
    """The targets that the map of CONTRIBUTING.md or the picture lacks, or has and should not."""
    manifest = text("Package.swift")
    system = re.findall(r'(?:systemLibrary\(|name: )"(C\w+)"', manifest[: manifest.index("let folders")])
    floors = {"System": sorted(set(system))}
    for folder, names in re.findall(r'(?ms)^    "([\w/]+)": \[\n(.*?)^    \],', manifest):
        floors[folder.removeprefix("Sources/")] = re.findall(r'(?m)^        "([\w-]+)": \[', names)
    listed = section("CONTRIBUTING.md", "Where things live")
    yield from (
        f"CONTRIBUTING.md: the map lacks the target {name}"
        for names in floors.values() for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", listed)
    )
    # The picture has the floors as titles, and after each title the boxes of its targets.
    drawn, boxes = {}, []
    for kind, name in re.findall(r'<text class="(ink|code)"[^>]*>([^<]+)<', text("docs/images/architecture.svg")):
        boxes = drawn.setdefault(name, []) if kind == "ink" else boxes
        boxes += [name] if kind == "code" else []
    for floor in sorted((floors.keys() - {"Tests", "Benchmarks"}) | drawn.keys()):
        if sorted(floors.get(floor, [])) != sorted(drawn.get(floor, [])):
            yield f"docs/images/architecture.svg: the boxes of {floor} are not the targets of Package.swift: {set(drawn.get(floor, [])) ^ set(floors.get(floor, []))}"


def shelf():
    """The pages that docs/README.md lacks, and the decisions that docs/decisions/README.md lacks."""
    for page in sorted(ROOT.glob("docs/**/*.md")):
        path = page.relative_to(ROOT / "docs").as_posix()
        shelf, name = ("docs/decisions/README.md", page.name) if re.match(r"decisions/\d", path) else ("docs/README.md", path)
        if path != "README.md" and f"]({name})" not in text(shelf):
            yield f"{shelf}: the list lacks {name}"


def adapters():
    """The sources that Examples/Adapters and a page do not have alike."""
    folder = ROOT / "Examples/Adapters"
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted(ROOT.glob("docs/swift/*.md")))
    shown = dict(re.findall(r"(?ms)`(Sources/(?:checker|greeter|rpc)/\w+\.swift)`[^\n]*:\n\n```swift\n(.*?)^```", pages))
    # Without the line of the licence.
    sources = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8").partition("\n\n")[2] for path in folder.glob("Sources/*/*.swift")}
    yield from (f"Examples/Adapters/{name} is not what the page has" for name in sorted(shown.keys() | sources.keys()) if shown.get(name) != sources.get(name))


def self_test():
    """The words that speak of an absence, and those that do not."""
    for words in ("ldap is not available yet", "digest is not supported", "there are no metrics", "planned: tokens", "not yet"):
        assert ABSENCE.search(words), words
    for words in ("the store is not available now", "that is not planned", "it is unavailable", "interfaces may still change"):
        assert not ABSENCE.search(words), words


def main():
    self_test()
    problems = [*absences(), *synopsis(), *statements(), *targets(), *adapters(), *shelf()]
    print("\n".join(f"documented: {problem}" for problem in problems) or "documented: the pages have the commands, statements and targets of the program")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
