# SPDX-License-Identifier: Apache-2.0
"""Compares the findings of testssl.sh or sslyze with accepted.txt.

    findings.py testssl CERTIFICATE FILE.json
    findings.py sslyze CERTIFICATE FILE.json OUTPUT

Prints a line for each finding and a summary. The status is 1 if a finding is not accepted.
"""

import json
import os
import re
import sys

SEVERE = ("LOW", "MEDIUM", "HIGH", "CRITICAL", "FATAL", "WARN")
# A complete scan has at least this number of results.
LEAST_TESTSSL = 80


def accepted(scanner, certificate):
    reasons = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "accepted.txt")) as file:
        for line in file:
            words = line.split(None, 2)
            if len(words) == 3 and words[0] in (scanner, f"{scanner}/{certificate}"):
                reasons[words[1]] = words[2].strip()
    return reasons


def testssl(file):
    with open(file) as source:
        entries = json.load(source)
    findings = [(entry["id"].split(" ")[0], f"{entry['severity']}: {entry['finding']}")
                for entry in entries if entry["severity"] in SEVERE]
    if len(entries) < LEAST_TESTSSL:
        findings.append(("scan", f"only {len(entries)} entries: it did not end as it should"))
    return len(entries), findings


def sslyze(file, output):
    with open(file) as source:
        scan = json.load(source)["server_scan_results"]
    findings = []
    if len(scan) != 1 or scan[0]["scan_status"] != "COMPLETED":
        return 0, [("scan", "it did not end as it should")]
    results = {name: one for name, one in scan[0]["scan_result"].items() if one["status"] != "NOT_SCHEDULED"}
    findings += [(name, one["status"]) for name, one in results.items() if one["status"] != "COMPLETED"]
    # sslyze prints the comparison only as text.
    with open(output) as source:
        comparison = source.read().partition("COMPLIANCE AGAINST")[2]
    if "Not compliant" in comparison:
        found = re.findall(r"^\s+\* ([a-z0-9_]+): (.*)$", comparison, re.MULTILINE)
        findings += found or [("comparison", "not compliant, and no reason that can be read")]
    elif "OK - Compliant" not in comparison:
        findings.append(("comparison", "there is none"))
    return len(results), findings


def main():
    scanner, certificate = sys.argv[1:3]
    count, findings = {"testssl": testssl, "sslyze": sslyze}[scanner](*sys.argv[3:])
    reasons = accepted(scanner, certificate)
    refused = 0
    for name, text in findings:
        if name in reasons:
            print(f"    accepted  {scanner} {name}: {text} ({reasons[name]})")
        else:
            refused += 1
            print(f"    FOUND     {scanner} {name}: {text}")
    print(f"{'FAILED' if refused else 'ok':6}  {scanner}: {count} results, {len(findings)} findings,"
          f" {refused} not accepted")
    sys.exit(refused > 0)


main()
