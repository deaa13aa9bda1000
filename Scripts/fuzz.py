#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes parsers with libFuzzer, which comes with Swift.

    fuzz.py [--seconds NUMBER] [--jobs NUMBER] [--seed NUMBER] [--update] [PARSER...]

Builds the program `fuzz` with counters for coverage, in .build-fuzz, and runs it for each parser, or for the parsers that are named. It begins with
the inputs of Tests/FuzzTests/Corpus, one line of Base64 for each. --update writes new inputs that reach more code into this folder.
With --seed, two runs make the same inputs in the same order.

An input that crashes a parser, takes more than ten seconds or breaks a promise of Tests/fuzz is written into .build-fuzz/findings, and the status
is 1.
"""

import argparse
import base64
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
BUILD = os.path.join(ROOT, ".build-fuzz")
FINDINGS = os.path.join(BUILD, "findings")
CORPUS = os.path.join(ROOT, "Tests/FuzzTests/Corpus")
MAXIMUM_LENGTH = 4096
# What one file of the corpus may take, in bytes: the shortest inputs are kept.
MAXIMUM_CORPUS = 96 * 1024


def build():
    """Builds the program and returns its path."""
    target = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, check=True, text=True).stdout
    resources = re.search(r'"runtimeResourcePath"\s*:\s*"([^"]+)"', target).group(1)
    library = os.path.join(resources, "clang/lib/linux", f"libclang_rt.fuzzer_no_main-{os.uname().machine}.a")
    command = [os.path.join(ROOT, "Scripts/build.sh"), "--scratch-path", BUILD, "-c", "release", "--product", "fuzz", "-Xlinker", library,
               "-Xlinker", "-lstdc++"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr, env=dict(os.environ, GATEHOUSE_FUZZING="1"))
    return os.path.join(BUILD, "release/fuzz")


def read_corpus(parser):
    with open(os.path.join(CORPUS, parser + ".txt"), encoding="ascii") as file:
        return [base64.b64decode(line) for line in file]


def write_inputs(inputs, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for index, data in enumerate(inputs):
        with open(os.path.join(folder, str(index)), "wb") as file:
            file.write(data)


def update(program, parser, folder):
    """Keeps the shortest inputs that reach all that the inputs of a folder reach."""
    merged = folder + ".merged"
    write_inputs([], merged)
    subprocess.run([program, parser, "-merge=1", f"-max_len={MAXIMUM_LENGTH}", merged, folder], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, cwd=BUILD)
    inputs = []
    for name in os.listdir(merged):
        with open(os.path.join(merged, name), "rb") as file:
            inputs.append(file.read())
    lines, size = [], 0
    for data in sorted(inputs, key=lambda data: (len(data), data)):
        line = base64.b64encode(data) + b"\n"
        size += len(line)
        if size <= MAXIMUM_CORPUS:
            lines.append(line)
    with open(os.path.join(CORPUS, parser + ".txt"), "wb") as file:
        file.writelines(lines)


def fuzz(program, parser, options):
    """Runs one parser; returns a line about it, and whether nothing was found."""
    folder = os.path.join(BUILD, "corpus", parser)
    write_inputs(read_corpus(parser), folder)
    log = os.path.join(BUILD, f"{parser}.log")
    finding = os.path.join(FINDINGS, parser + "-")
    with open(log, "wb") as output:
        status = subprocess.run(
            [program, parser, f"-max_total_time={options.seconds}", f"-max_len={MAXIMUM_LENGTH}", "-timeout=10", "-rss_limit_mb=2048",
             "-print_final_stats=1", f"-seed={options.seed}", f"-artifact_prefix={finding}", folder], stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=BUILD,
            # libFuzzer leaves a signal to a handler that is there already.
            env=dict(os.environ, SWIFT_BACKTRACE="enable=no")).returncode
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    count = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    coverage = re.findall(r"cov: (\d+)", text)
    summary = f"{parser}: {int(count.group(1)) if count else 0:,} inputs, coverage {coverage[-1] if coverage else 0}"
    if status == 0:
        if options.update:
            update(program, parser, folder)
        return summary, True
    broken = re.search(r"(broken: .*|Fatal error: .*|ERROR: .*)", text)
    return f"{summary}: FOUND {broken.group(1) if broken else f'status {status}'}; see {finding}* and {log}", False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    # libFuzzer takes a number of its own for 0.
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("parsers", nargs="*")
    options = parser.parse_args()
    program = build()
    os.makedirs(FINDINGS, exist_ok=True)
    names = options.parsers or sorted(name[:-4] for name in os.listdir(CORPUS) if name.endswith(".txt"))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = []
        for line, is_clean in pool.map(lambda name: fuzz(program, name, options), names):
            print(line, flush=True)
            results.append(is_clean)
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
