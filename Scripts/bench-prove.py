#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `gatehouse prove`: the time of a whole process, and its most memory.

    bench-prove.py PROGRAM [RUNS]

The configurations have 1,000 rules for 50 hosts, and 100 realms with stacks of 10 modules; `--diff` compares two that differ in a rule. The last
ones are one stack of 40 modules, and the comparison of two stacks of 40 modules that differ in one. Printed are medians.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

TABLES = ["[success=ok unavailable=ignore default=bad]", "[success=ok ignored=ignore default=die]", "[success=1 default=ignore]",
          "[success=2 unavailable=1 default=ignore]"]
FLAGS = ["required", "requisite", "sufficient", "optional"] + TABLES


def stack(name, count, numbers):
    # A jump must lead to a module.
    flags = [numbers.choice(FLAGS if index < count - 3 else FLAGS[:6]) for index in range(count)]
    return f"login {name} {{ " + " ".join(f"ScriptedLoginModule {flag};" for flag in flags) + " }\n"


def configuration(numbers):
    text = ""
    for realm in range(100):
        text += stack(f"s{realm}", 10, numbers)
        text += f"realm r{realm} {{ class StackRealm; jaas-context s{realm}; assign-groups g{realm % 7}; }}\n"
    for rule in range(1000):
        required = ["any", "group admins", "user ann bob", f"group g{rule % 7} staff"][rule % 4]
        realms = f"realm r{rule % 100} r{(rule + 1) % 100}; when-unavailable continue;"
        text += f"protect h{rule % 50}.example.com/p{rule}/q {{ {realms} auth basic form; require {required}; }}\n"
    return text


def large(numbers):
    return stack("s", 40, numbers) + "realm r { class StackRealm; jaas-context s; }\nprotect / { realm r; auth basic; require any; }\n"


def measure(command, runs):
    seconds, memory, status = [], 0, 0
    for _ in range(runs):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.monotonic() - start)
        memory = max(memory, usage.ru_maxrss // 1024)
    return statistics.median(seconds), memory, os.waitstatus_to_exitcode(status)


def main():
    program, runs = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or [5])[0])
    numbers = random.Random(1)
    texts = {"rules": configuration(numbers), "large": large(numbers)}
    texts["new-rules"] = texts["rules"].replace("user ann bob", "user ann carl", 1)
    texts["new-large"] = texts["large"].replace("requisite", "required", 1)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        for title, words in [("1,000 rules, 100 realms of 10 modules", ["--config", "rules"]),
                             ("the comparison of two of them", ["--diff", "rules", "new-rules"]),
                             ("a stack of 40 modules", ["--config", "large"]),
                             ("the comparison of two of them", ["--diff", "large", "new-large"])]:
            words = [os.path.join(folder, word) if word in texts else word for word in words]
            seconds, memory, status = measure([program, "prove"] + words, runs)
            print(f"{title:40} {seconds:7.3f} s {memory:6} MiB   status {status}")


main()
