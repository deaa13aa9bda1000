#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages and the shell completions of the commands, from the commands' own definitions.

    Scripts/manual.py FOLDER_OF_THE_PROGRAMS [--check]

With --check nothing is written: the files that differ are named, and the exit status is 1. The pages of section 5 are written by hand.
"""
import datetime
import json
import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGES = os.path.join(ROOT, "packaging", "man")
COMPLETIONS = os.path.join(ROOT, "packaging", "completions")
# The names of the files by which the shells find the completions of a command.
COMPLETION_FILES = {"bash": "{}", "zsh": "_{}", "fish": "{}.fish"}

FILES = {
    "gatehouse": """\
.It Pa realms.conf
The configuration, if it is in the current folder.
.It Pa /etc/gatehouse/realms.conf
The configuration, if the current folder has none.
.It Pa /var/lib/gatehouse
The state of an installed server: users, sessions, locks, and the
certificate for development.
""",
    "authcheck": """\
.It Pa realms.conf
The configuration, if it is in the current folder.
.It Pa /etc/gatehouse/realms.conf
The configuration, if the current folder has none.
""",
}
SEE_ALSO = {
    "gatehouse": [("authcheck", 1), ("login.conf", 5), ("realms.conf", 5)],
    "authcheck": [("login.conf", 5), ("realms.conf", 5), ("gatehouse", 8)],
}
SECTIONS = {"gatehouse": 8, "authcheck": 1}
# Text that only a service has. The rest of a page comes from the command.
SIGNALS = """\
.Sh SIGNALS
.Bl -tag -width Ds
.It Dv SIGTERM , SIGINT
End the server in order: open requests have ten seconds.
.It Dv SIGHUP
Read the configuration and its files again.
If they have an error, the server runs on with those before.
.El
.Sh ENVIRONMENT
.Ic gatehouse serve
uses these variables of
.Xr systemd 1 :
.Bl -tag -width Ds
.It Ev NOTIFY_SOCKET
The socket to which it reports that it is ready, that it reloads its
configuration, that it stops, and that it is alive.
.It Ev WATCHDOG_USEC , WATCHDOG_PID
The time within which it must report that it is alive.
.It Ev LISTEN_FDS , LISTEN_PID , LISTEN_FDNAMES
The listening sockets that it uses instead of the addresses of
.Ic listen .
.El
"""


def escaped(text):
    """The text as a part of a line of mdoc(7)."""
    return text.replace("\\", "\\e").replace("--", "\\-\\-").replace("'", "\\(aq").replace("`", "")


def words(text):
    """The text as lines of mdoc(7): each sentence begins a line, and no line begins a macro."""
    lines = []
    for paragraph in text.split("\n\n"):
        if lines:
            lines.append(".Pp")
        for sentence in re.split(r"(?<=[.!?:]) +(?=[A-Z-])", " ".join(paragraph.split())):
            for line in textwrap.wrap(escaped(sentence), 76, break_long_words=False, break_on_hyphens=False):
                lines.append("\\&" + line if line[0] in ".'" else line)
    return "\n".join(lines) + "\n"


def macro_argument(text):
    """The text as the arguments of a macro, which must not be taken for a macro."""
    special = re.compile(r"[A-Z][a-z]\w?|[.,:;()\[\]?!|]")
    return " ".join("\\&" + word if special.fullmatch(word) else word for word in escaped(text).split())


def shown(command):
    return [argument for argument in command.get("arguments", [])
            if argument["shouldDisplay"] and argument["valueName"] not in ("help", "version")]


def name(argument):
    """The name as the argument of Fl, which writes the first hyphen."""
    preferred = argument["preferredName"]
    return {"long": "\\-", "short": "", "longWithSingleDash": ""}[preferred["kind"]] + preferred["name"]


def usage(argument):
    """One argument, as a line of the synopsis."""
    value = macro_argument(argument["valueName"])
    if argument["kind"] == "positional":
        text = f"Ar {value}"
    elif argument["kind"] == "flag":
        text = f"Fl {name(argument)}"
    else:
        text = f"Fl {name(argument)} Ar {value}"
    if argument["isRepeating"]:
        text += " ..."
    return f".Op {text}" if argument["isOptional"] else f".{text}"


def description(argument):
    """One argument, as an item of a list."""
    value = macro_argument(argument["valueName"])
    if argument["kind"] == "positional":
        item = f".It Ar {value}"
    else:
        item = f".It Fl {name(argument)}" + (f" Ar {value}" if argument["kind"] == "option" else "")
    text = argument.get("abstract", "")
    if argument.get("discussion"):
        text += " " + argument["discussion"]
    if argument.get("defaultValue"):
        text += f" Default: {argument['defaultValue']}."
    return item + "\n" + words(text)


def options(command):
    arguments = shown(command)
    if not arguments:
        return ""
    return ".Bl -tag -width Ds\n" + "".join(description(argument) for argument in arguments) + ".El\n"


def leaves(command, path=()):
    """The commands without subcommands, with the words before their arguments."""
    subcommands = [sub for sub in command.get("subcommands", [])
                   if sub["shouldDisplay"] and sub["commandName"] != "help"]
    if not subcommands:
        yield path, command
    for sub in subcommands:
        yield from leaves(sub, (*path, sub["commandName"]))


def heading(path):
    return " ".join(macro_argument(word) for word in path)


def synopsis(command):
    lines = []
    for path, leaf in leaves(command):
        lines.append(".Nm" + (f" Cm {heading(path)}" if path else ""))
        lines += [usage(argument) for argument in shown(leaf)]
    # The root has these two options.
    lines += [".Nm", ".Fl \\-help | \\-version"]
    return "\n".join(lines) + "\n"


def page(command, date):
    program = command["commandName"]
    section = SECTIONS[program]
    abstract = command["abstract"].rstrip(".")
    status = re.search(r"Exit status: (.*)", command["discussion"]).group(1)
    discussion = command["discussion"].replace("Exit status: " + status, "").strip()
    text = f""".\\" SPDX-License-Identifier: Apache-2.0
.\\" Gatehouse. Made by Scripts/manual.py from the definition of the command: change the definition, and run make manual.
.Dd {date}
.Dt {program.upper()} {section}
.Os Gatehouse
.Sh NAME
.Nm {program}
.Nd {abstract[0].lower() + abstract[1:]}
.Sh SYNOPSIS
{synopsis(command)}.Sh DESCRIPTION
{words(command["abstract"])}"""
    if discussion:
        text += ".Pp\n" + words(discussion)
    if shown(command):
        text += ".Pp\nThe arguments are:\n" + options(command)
    commands = list(leaves(command))
    if commands[0][0]:
        text += ".Sh COMMANDS\n"
        for path, leaf in commands:
            text += f".Ss {program} {heading(path)}\n" + words(leaf.get("abstract", ""))
            if leaf.get("discussion"):
                text += ".Pp\n" + words(leaf["discussion"])
            text += options(leaf)
    if section == 8:
        text += SIGNALS
    text += ".Sh FILES\n.Bl -tag -width Ds\n" + FILES[program] + ".El\n"
    text += ".Sh EXIT STATUS\n.Bl -tag -width Ds\n"
    for number, meaning in re.findall(r"(\d) (.*?)(?=, \d|\.$|$)", status):
        text += f".It {number}\n" + words(meaning[0].upper() + meaning[1:] + ".")
    text += ".El\n.Sh SEE ALSO\n"
    text += " ,\n".join(f".Xr {name} {number}" for name, number in SEE_ALSO[program]) + "\n"
    text += (".Pp\nThe documentation has a page for each subject, in\n.Pa docs\nof the source and in\n"
             ".Pa /usr/share/doc/gatehouse/docs .\n")
    return text


def output(program, *arguments):
    # authcheck returns 2 for all that is no check of a user: status 0 may grant access.
    done = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
    if done.returncode not in (0, 2) or not done.stdout:
        sys.exit(f"{program} {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def release_date():
    """The date of the newest release, as mdoc(7) writes dates: a page does not change from day to day."""
    with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as lines:
        found = re.search(r"^## \[\d+\.\d+\.\d+\] - (\d{4}-\d{2}-\d{2})$", lines.read(), re.MULTILINE)
    day = datetime.date.fromisoformat(found.group(1))
    return f"{day:%B} {day.day}, {day.year}"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    date = release_date()
    files = {}
    for program, section in SECTIONS.items():
        path = os.path.join(arguments[0], program)
        command = json.loads(output(path, "--experimental-dump-help"))["command"]
        files[os.path.join(PAGES, f"{program}.{section}")] = page(command, date)
        for shell, form in COMPLETION_FILES.items():
            target = os.path.join(COMPLETIONS, shell, form.format(program))
            # The shells read these files and do not run them.
            files[target] = re.sub(r"\A#!.*\n+", "", output(path, "--generate-completion-script", shell))
    stale = []
    for path, text in files.items():
        try:
            with open(path, encoding="utf-8") as file:
                present = file.read()
        except FileNotFoundError:
            present = None
        if present == text:
            continue
        stale.append(os.path.relpath(path, ROOT))
        if "--check" not in sys.argv:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    for path in stale:
        print(path)
    if stale and "--check" in sys.argv:
        sys.exit("These files are not those of the commands of today: run make manual.")


if __name__ == "__main__":
    main()
