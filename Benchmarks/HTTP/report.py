# SPDX-License-Identifier: Apache-2.0
"""The report in Markdown: medians, spreads, tables, and a description of the machine."""

import datetime
import os
import platform
import statistics
import subprocess


class Figures:
    """The samples, by server, subject and round."""

    def __init__(self):
        self._samples = {}

    def add(self, peer, subject, number, sample):
        self._samples.setdefault((peer.name, subject), {})[number] = sample

    def of(self, peer, subject):
        return list(self._samples.get((peer.name, subject), {}).values())

    def by_round(self, name, subject):
        return self._samples.get((name, subject), {})


def number(value, digits):
    return f"{value:,.{digits}f}"


def in_turn(subjects, round_):
    """Returns the subjects, in reverse order in every other round, so that the order has no effect on the medians."""
    return subjects if round_ % 2 == 0 else subjects[::-1]


def rounds(count):
    return "1 round" if count == 1 else f"{count} rounds"


def paragraph(text):
    """Joins the lines of a text to one line of Markdown."""
    return " ".join(text.split())


def figure(samples, key, digits, spread=True):
    """Returns the median, and in brackets the minimum and maximum."""
    values = [sample[key] for sample in samples]
    text = number(statistics.median(values), digits)
    if spread and len(values) > 1:
        text += f" ({number(min(values), digits)}-{number(max(values), digits)})"
    return text


def ratio_of(figures, peer, subject, base, base_subject, key):
    """Returns the median of the ratios within each round. In a round, both servers are affected alike by other work of the machine."""
    bases = figures.by_round(base, base_subject)
    ratios = [sample[key] / bases[round_][key] for round_, sample in figures.by_round(peer.name, subject).items()
              if round_ in bases and bases[round_][key]]
    return number(statistics.median(ratios), 2) if ratios else "-"


def table(heads, rows, text=1):
    """Returns a Markdown table. The first `text` columns have words, the others numbers."""
    return [
        "| " + " | ".join(heads) + " |",
        "|" + "|".join("---" if column < text else "--:" for column in range(len(heads))) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def machine(settings, peers):
    """Returns the description of the machine and of the servers."""
    model = "unknown"
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    ssl = subprocess.run(["openssl", "version"], stdout=subprocess.PIPE).stdout.decode().split(" (")[0].strip()
    system = "Linux"
    if os.path.exists("/etc/os-release"):
        with open("/etc/os-release") as lines:
            names = dict(line.strip().split("=", 1) for line in lines if "=" in line)
            system = names.get("PRETTY_NAME", system).strip('"')
    return [
        f"Measured on {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, by `make bench-http`.",
        "",
        paragraph(f"""- {model}, {os.cpu_count()} cores: the server on core {settings.server_core}, the load on core
            {settings.load_core}; load average before the run {os.getloadavg()[0]:.1f}"""),
        f"- {system}, kernel {platform.release()}, {ssl}",
        "- " + "; ".join(dict.fromkeys(f"{peer.title}: {peer.version()}" for peer in peers)),
        "- medians; in brackets the minimum and maximum of all rounds",
        "",
    ]
