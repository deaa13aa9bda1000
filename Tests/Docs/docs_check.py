#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands and checks the snippets of README.md and docs/**/*.md.

    docs_check.py --programs FOLDER [--swift] [--update] [--steps] [--verbose] [PAGE ...]

The folder has the programs gatehouse, authcheck and gatehouse-pam-helper. Each page gets a folder, a network (loopback only) and copies
of /etc, /var and /run of its own, so that its commands can be run as they are written: with port 443, with names of hosts and with files
in /etc/nginx. This needs root. With user namespaces it works without root too, but for the pages that run nginx as another user.

`sh` blocks are run; each command must end with status 0. `console` blocks are run too, and what is printed is compared, apart from what
differs from run to run (rules.py). blocks.py lists the markers by which a page says what else a block is. Links to files and headings are checked
too. With --swift, the packages of
a page are built and tested; without it, their commands are not run.

--update writes what a command has printed into the page, where it is not what the page shows. Read the difference before you commit it.

Status: 0 if all blocks have passed, 1 if one has not, 77 if the pages cannot be run here.
"""

import argparse
import ast
import concurrent.futures
import difflib
import glob
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

import blocks
import links
import rules
import shell
import statements

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
SCRATCH = os.path.join(ROOT, ".build-docs")
APART = ("docs/decisions/", "docs/reviews/")
HOSTS = ["app.example.com", "wiki.example.com", "auth.example.com", "www.example.com", "wiki.example.org", "login.example"]
SERVER = re.compile(r"(?:^|&& )(?:\S*/)?(?:[\w-]*gatehouse serve\b|site$)|^make serve\b")
FORMATS = {"realms.conf", "login.conf", "json", "yaml", "xml", "html", "python", "lua", "nginx", "caddyfile", "haproxy", "swift"}


class Failed(Exception):
    """A block that has not passed. `offset` is the line of the block, from 0."""

    def __init__(self, message, offset=0):
        super().__init__(message)
        self.offset = offset


class NotRun(Exception):
    """A block that cannot be run here, with the reason."""


class HTMLCheck(html.parser.HTMLParser):
    VOID = {"meta", "link", "img", "br", "input", "hr"}

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise Failed(f"</{tag}> closes no element")


class Page:
    """One page: its folder, its shell and its server."""

    def __init__(self, path, programs, swift, verbose):
        self.path, self.programs, self.swift, self.verbose = path, programs, swift, verbose
        self.base = os.path.join(tempfile.gettempdir(), "docs-check-" + re.sub(r"\W+", "-", path))
        self.folder = os.path.join(self.base, "page")
        os.makedirs(self.folder, mode=0o755)
        shims = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shims")
        self.environment = {
            "PATH": f"{shims}:{programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": self.base, "LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1", "TMPDIR": self.base,
            "DOCS_CHECK_PROGRAMS": programs, "DOCS_CHECK_ROOT": ROOT, "DOCS_CHECK_SWIFT": "1" if swift else "",
            "DOCS_CHECK_SCRATCH": SCRATCH, "DOCS_CHECK_REAL_PATH": os.environ.get("PATH", ""),
            "DOCS_CHECK_REAL_HOME": os.environ.get("HOME", ""), "DOCS_CHECK_NETWORK": os.environ.get("DOCS_CHECK_NETWORK", ""),
        }
        # `.build/debug` of the repository.
        os.makedirs(os.path.join(self.folder, ".build"))
        os.symlink(programs, os.path.join(self.folder, ".build", "debug"))
        self.shell = shell.Shell(self.folder, self.environment)
        self.unbuilt = None
        self.began = None
        self.server = None
        self.output = ""
        self.password = "correct horse battery"
        self.previous = None
        self.written = {}
        self.reports = []
        self.skipped = []
        self.corrections = []
        self.passed = 0

    # The steps of the page.

    def check(self):
        with open(os.path.join(ROOT, self.path)) as file:
            text = file.read()
        try:
            steps = blocks.steps(text)
        except blocks.BadPage as error:
            self.reports.append((error.line, str(error)))
            return
        self.reports += links.broken(ROOT, self.path)
        for step in steps:
            started = time.monotonic()
            try:
                if isinstance(step, blocks.Marker):
                    self.marker(step)
                else:
                    self.block(step)
            except Failed as error:
                self.reports.append((step.line + error.offset, str(error)))
            except NotRun as reason:
                self.skipped.append((step.line, str(reason)))
            if self.verbose:
                print(f"  {self.path}:{step.line}: {time.monotonic() - started:.1f} s", flush=True)
        for path, (line, language) in self.written.items():
            if language in FORMATS and language not in ("swift", "nginx"):
                try:
                    with open(self.file(path)) as file:
                        self.format(language, file.read(), None)
                except (Failed, NotRun) as error:
                    self.reports.append((line, f"{path}: {error}"))

    def marker(self, marker):
        if marker.name == "password":
            self.password = marker.argument
        elif marker.name == "stop":
            self.stop()
        elif marker.name == "packages":
            self.packages(marker.argument.split())
        else:
            for offset, command in shell.commands(marker.body):
                self.one_command(command, None, marker.line + 1 + offset - marker.line)

    def packages(self, names):
        """The folder is the same in every run, so that SwiftPM compiles only what has changed."""
        folder = os.path.join(SCRATCH if self.swift else self.folder, "pages")
        os.makedirs(folder, exist_ok=True)
        link = os.path.join(folder, "gatehouse")
        if not os.path.islink(link):
            os.symlink(ROOT if folder.startswith(self.folder) else "../..", link)
        for name in names:
            path = os.path.join(folder, name)
            resolved = os.path.join(path, "Package.resolved")
            if os.path.exists(resolved):
                os.replace(resolved, os.path.join(SCRATCH, name + ".resolved"))
            shutil.rmtree(path, ignore_errors=True)
        self.shell.run(f"cd {folder}")

    def block(self, block):
        markers = block.markers
        if "skip" in markers:
            raise NotRun(markers["skip"].argument)
        if not block.language:
            raise Failed("the block names no language: sh, console, realms.conf, ...")
        language = block.language.lower()
        if "excerpt" in markers:
            self.excerpt(block, markers["excerpt"].argument)
        elif "printed" in markers:
            self.printed(block)
        elif "in" in markers:
            self.part(block, markers["in"].argument)
        elif "replaces" in markers:
            self.replacement(block)
        elif "merge" in markers:
            self.merge(block, markers["merge"].argument)
        elif language == "sh":
            for offset, command in shell.commands(block.text):
                self.one_command(command, None, offset)
        elif language == "console":
            self.session(block)
        elif "file" in markers or block.named_file:
            path = markers["file"].argument if "file" in markers else block.named_file
            self.write(path, block.text, 0o755 if block.text.startswith("#!") else 0o644)
            self.written[path] = (block.line, language)
        elif language not in FORMATS:
            raise Failed(f"blocks of the language {language} cannot be checked: mark the block with skip and a reason")
        else:
            self.format(language, block.text, block)
        self.passed += 1

    # Commands.

    def session(self, block):
        try:
            parts = shell.session(block.text)
        except ValueError as error:
            raise Failed(str(error)) from error
        failed = None
        for offset, command, shown in parts:
            try:
                self.one_command(command, shown, offset, block.line + offset + command.count("\n") + 1)
            except Failed as error:
                if failed:
                    self.reports.append((block.line + failed.offset, str(failed)))
                failed = error
        if failed:
            raise failed

    def one_command(self, command, shown, offset, line=None):
        """Runs a command. `shown` is what the page shows below it; None if its output is not compared."""
        self.used()
        if self.unbuilt:
            raise NotRun(self.unbuilt)
        if self.began is not None:
            print(f"{time.monotonic() - self.began:6.1f} s  {first_line(command)}", flush=True)
        comment = re.search(r"\s# (.*)$", command.rpartition("\n")[2])
        if SERVER.search(command.split("#")[0].strip()):
            return self.serve(command.rstrip().removesuffix("&"), shown, offset, line)
        output, status = self.shell.run(command, shown or "", self.password, 1800 if command.startswith("swift") else 120)
        if self.verbose:
            print(f"    $ {command}\n      " + rules.plain(output).replace("\n", "\n      "), flush=True)
        if status == 77 and re.match(r"swift|make", command):
            self.unbuilt = rules.plain(output).strip() if command.startswith("swift") else None
            raise NotRun(rules.plain(output).strip())
        if status is None:
            self.shell.close()
            self.shell = shell.Shell(self.folder, self.environment)
            raise Failed(f"`{first_line(command)}` has not ended in time\n" + indented(rules.plain(output)), offset)
        if comment and re.match(r"\d{3}\b", comment.group(1)):
            expected = re.findall(r"\b[1-5]\d\d\b", re.split(r"[,:(]", comment.group(1))[0])
            statuses = re.findall(r"(?m)^HTTP/\S+ (\d{3})", output)
            if not statuses or statuses[-1] not in expected:
                raise Failed(f"`{first_line(command)}`: the status is {' '.join(statuses) or 'missing'}, not {' or '.join(expected)}\n"
                             + indented(rules.plain(output)), offset)
        if shown is None:
            if status != 0:
                raise Failed(f"`{first_line(command)}` has ended with status {status}\n" + indented(rules.plain(output)), offset)
        else:
            self.compare(command, shown, rules.plain(output), offset, line)

    def compare(self, command, shown, printed, offset, line):
        if rules.matches(shown, printed):
            return
        if "..." not in shown.split("\n"):
            blank = len(shown) - len(shown.rstrip("\n"))
            self.corrections.append((line, shown.count("\n") + 1 if shown else 0, printed.rstrip("\n") + "\n" * blank))
        difference = difflib.unified_diff(rules.normalised(shown.rstrip("\n")), rules.normalised(printed.rstrip("\n")),
                                          "page", "printed", lineterm="", n=2)
        raise Failed(f"`{first_line(command)}` prints something else:\n" + indented("\n".join(difference)), offset)

    def serve(self, command, shown, offset, line):
        self.stop()
        self.server = shell.Shell(os.path.dirname(self.file("realms.conf")), self.environment)
        self.server.start(command)
        output, status = self.server.listen(60, b"listening on")
        self.output = output
        if self.verbose:
            print(f"    $ {command}\n      " + rules.plain(output).replace("\n", "\n      "), flush=True)
        if status == 77:
            self.server = None
            raise NotRun(rules.plain(output).strip())
        if status is not None and not shown:
            self.server = None
            raise Failed(f"`{first_line(command)}` has ended with status {status}\n" + indented(rules.plain(output)), offset)
        if shown:
            self.compare(command, shown, rules.plain(output), offset, line)

    def printed(self, block):
        """Whether the server has printed the lines of a block."""
        if self.unbuilt:
            raise NotRun(self.unbuilt)
        if not self.server:
            raise Failed("the page has started no server before this block")
        output, _ = self.server.listen(1.5, b"\0")
        self.output += output
        printed, at = rules.normalised(rules.plain(self.output)), 0
        for offset, line in enumerate(rules.normalised(block.text.rstrip("\n"))):
            try:
                at = printed.index(line, at) + 1
            except ValueError:
                raise Failed(f"the server has not printed this line, or not in this order: {line}\n"
                             + indented(rules.plain(self.output)), offset) from None

    def stop(self):
        if self.server:
            self.server.interrupt()
            self.server.close()
            self.server = None

    def used(self):
        """The files that the page has written are used by the commands below them, and not checked apart."""
        self.written.clear()

    # Files.

    def file(self, path):
        output, _ = self.shell.run("pwd")
        return os.path.join(output.strip(), path)

    def write(self, path, text, mode=0o644):
        path = self.file(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def read(self, path):
        try:
            with open(self.file(path)) as file:
                return file.read()
        except FileNotFoundError:
            raise Failed(f"there is no file {path} on this page before the block") from None

    def merge(self, block, path):
        try:
            self.write(path, statements.merged(self.read(path), block.text))
        except ValueError as error:
            raise Failed(str(error)) from error
        self.written[path] = (block.line, "realms.conf")

    def part(self, block, path):
        if block.text not in self.read(path):
            raise Failed(f"{path} does not contain this text")
        self.previous = (path, block.text, block.language.lower())

    def replacement(self, block):
        if not self.previous:
            raise Failed("no block with the marker `in` is before this one")
        path, text, language = self.previous
        self.write(path, self.read(path).replace(text, block.text))
        self.written[path] = (block.line, language)

    def excerpt(self, block, path):
        with open(os.path.join(ROOT, path)) as file:
            source = [line.strip() for line in file if line.strip()]
        at = 0
        for offset, line in enumerate(block.lines):
            if not line.strip() or line.strip() == "...":
                continue
            try:
                at = source.index(line.strip(), at) + 1
            except ValueError:
                raise Failed(f"{path} does not have this line, or not in this order: {line.strip()}", offset) from None

    # Languages.

    def format(self, language, text, block):
        try:
            if language == "realms.conf":
                self.configuration(text, block)
            elif language == "login.conf":
                self.write("docs-check-login.conf", text)
                self.configuration("login-config docs-check-login.conf;\n", block)
            elif language == "json":
                json.loads(text)
            elif language == "yaml":
                self.yaml(text)
            elif language == "xml":
                xml.etree.ElementTree.fromstring(text)
            elif language == "html":
                parser = HTMLCheck()
                parser.feed(text)
                if parser.open:
                    raise Failed(f"<{parser.open[-1]}> is not closed")
            elif language == "python":
                ast.parse(text)
            elif language == "nginx":
                self.proxy(["nginx", "-t", "-q", "-c"], nginx_file(text))
            elif language == "caddyfile":
                self.proxy(["caddy", "adapt", "--adapter", "caddyfile", "--config"], text)
            elif language == "haproxy":
                self.proxy(["haproxy", "-c", "-q", "-f"], text)
            elif language == "lua":
                self.proxy(["luac", "-p"], text)
            elif language == "swift":
                raise Failed("the page does not name the file of this block: `Sources/NAME/FILE.swift`: before it, or a marker excerpt")
        except json.JSONDecodeError as error:
            raise Failed(f"not JSON: {error}") from error
        except (SyntaxError, xml.etree.ElementTree.ParseError) as error:
            raise Failed(f"not {language}: {error}") from error

    def yaml(self, text):
        try:
            import yaml
        except ImportError:
            raise NotRun("the Python package yaml is not installed") from None
        try:
            list(yaml.safe_load_all(text))
        except yaml.YAMLError as error:
            raise Failed(f"not YAML: {error}") from error

    def configuration(self, text, block):
        markers = block.markers if block else {}
        for line in (markers["where"].body.splitlines() if "where" in markers else []):
            placeholder, _, value = (line + " ").partition(" = ")
            value = value.removesuffix(" ")
            if placeholder not in text:
                raise Failed(f"the block does not contain {placeholder}")
            text = text.replace(placeholder, value)
        if "inside" in markers:
            for name in reversed(markers["inside"].argument.split()):
                text = f"{name} {{\n{text}}}\n"
        if "with" in markers:
            text = statements.merged(markers["with"].body, text)
        self.write("docs-check.conf", text)
        output, status = self.shell.run("gatehouse check --config docs-check.conf 2>&1", "", self.password)
        output = rules.plain(output)
        if status != 0 or re.search(r"^\S+:\d+:\d+: warning: there is no login module", output, re.M):
            raise Failed("gatehouse check:\n" + indented("\n".join(line for line in output.split("\n")[:12])))

    def proxy(self, command, text):
        if not shutil.which(command[0], path=self.environment["PATH"]):
            raise NotRun(f"{command[0]} is not installed")
        self.write("docs-check.proxy", text)
        checked = subprocess.run([*command, self.file("docs-check.proxy")], capture_output=True, text=True,
                                 cwd=self.folder, env=self.environment)
        if checked.returncode != 0:
            raise Failed(f"{' '.join(command)}:\n" + indented((checked.stderr or checked.stdout)[:2000]))


def nginx_file(text):
    if re.search(r"(?m)^http\s*{", text):
        return text
    if not re.search(r"(?m)^(?:server|upstream|map)\b", text):
        text = f"server {{\n{text}}}\n"
    return f"events {{}}\nhttp {{\n{text}}}\n"


def first_line(command):
    first, _, rest = command.partition("\n")
    return first + (" ..." if rest else "")


def indented(text):
    return "\n".join("    " + line for line in text.split("\n"))


def isolated():
    """Gives this process copies of /etc, /var and /run of its own, and the names of the hosts of the examples."""
    base = os.environ["DOCS_CHECK_BASE"]
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", base], check=True)
    for folder in ("etc", "var"):
        for part in ("upper", "work"):
            os.makedirs(os.path.join(base, folder, part))
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir=/{folder},upperdir={base}/{folder}/upper,"
                        f"workdir={base}/{folder}/work", f"/{folder}"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with open("/etc/hosts", "a") as hosts:
        hosts.write("127.0.0.1 localhost " + " ".join(HOSTS) + "\n")
    tempfile.tempdir = base


def pages(names):
    if names:
        return [os.path.relpath(os.path.realpath(name), ROOT) for name in names]
    found = ["README.md"] + sorted(os.path.relpath(path, ROOT) for path in glob.glob(f"{ROOT}/docs/**/*.md", recursive=True))
    return [path for path in found if not path.startswith(APART)]


def correct(path, corrections):
    """Replaces the outputs of a page: (first line, number of lines, text)."""
    with open(path) as file:
        lines = file.read().split("\n")
    for line, count, text in sorted(corrections, reverse=True):
        lines[line - 1:line - 1 + count] = text.split("\n") if text else []
    with open(path, "w") as file:
        file.write("\n".join(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--swift", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--steps", action="store_true", help="print each command, and the time since the first one")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    programs = os.path.realpath(options.programs)
    for program in ("gatehouse", "authcheck"):
        if not os.access(os.path.join(programs, program), os.X_OK):
            parser.error(f"there is no program {program} in {programs}")

    if options.inside:
        os.set_inheritable(int(os.environ["DOCS_CHECK_NETWORK"]), True)
        isolated()
        page = Page(options.pages[0], programs, options.swift, options.verbose)
        if options.steps:
            print(page.path, flush=True)
            page.began = time.monotonic()
        page.check()
        if options.steps:
            print(f"{time.monotonic() - page.began:6.1f} s  the end of the page", flush=True)
        page.stop()
        page.shell.close()
        print(json.dumps([page.passed, page.reports, page.skipped, page.corrections]), file=sys.stderr)
        return 0

    unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
    if os.geteuid() != 0:
        unshare.insert(1, "--map-root-user")
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        print("SKIPPED: this kernel gives a page no folders and no network of its own; nothing was run")
        return 77
    # SwiftPM fetches the packages of dependencies by the network of the machine.
    network = os.open("/proc/self/ns/net", os.O_RDONLY)
    def check(path):
        started = time.monotonic()
        arguments = [sys.executable, "-B", os.path.abspath(__file__), "--inside", "--programs", programs, path]
        arguments += ["--swift"] if options.swift else []
        arguments += ["--verbose"] if options.verbose else []
        arguments += ["--steps"] if options.steps else []
        with tempfile.TemporaryDirectory(prefix="docs-check-") as base:
            process = subprocess.run([*unshare, *arguments], stderr=subprocess.PIPE, text=True, cwd=ROOT, pass_fds=[network],
                                     env={**os.environ, "DOCS_CHECK_NETWORK": str(network), "DOCS_CHECK_BASE": base})
        return process.stderr, time.monotonic() - started

    failures = passed = 0
    skipped, began = [], time.monotonic()
    # Several pages at once, because they mostly wait; but one build at a time.
    workers = concurrent.futures.ThreadPoolExecutor(1 if options.swift or options.verbose or options.steps else 3)
    paths = pages(options.pages)
    for path, (errors, seconds) in zip(paths, workers.map(check, paths)):
        try:
            count, reports, left_out, corrections = json.loads(errors.strip().split("\n")[-1])
        except (ValueError, IndexError):
            print(errors)
            count, reports, left_out, corrections = 0, [(1, "the check itself has failed")], [], []
        for line, message in reports:
            print(f"{path}:{line}: {message}", flush=True)
        if options.update and corrections:
            correct(os.path.join(ROOT, path), corrections)
        failures += len(reports)
        passed += count
        skipped += [(path, line, reason) for line, reason in left_out]
        if count or reports or left_out:
            print(f"{path}: {count} blocks passed, {len(reports)} failed, {len(left_out)} not checked ({seconds:.0f} s)", flush=True)
    if skipped:
        print("\nnot checked:")
        for path, line, reason in skipped:
            print(f"  {path}:{line}: {reason}")
    print(f"\n{passed} blocks passed, {failures} failed, {len(skipped)} not checked, in {time.monotonic() - began:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
