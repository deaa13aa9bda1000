#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the XML files 0, 1, ... of a folder with Expat, and prints the start tags of each on one line.

    readers.py FOLDER
"""
import os
import sys
import xml.parsers.expat


def quoted(text):
    return "'" + ".".join(format(byte, "x") for byte in text.encode("utf-8", "surrogatepass")) + "'"


def tags(data):
    found, depth = [], [0]
    def start(name, attributes):
        pairs = zip(attributes[::2], attributes[1::2])
        found.append(f"{depth[0]}{quoted(name)}{{" + ",".join(quoted(a) + ":" + quoted(b) for a, b in pairs) + "}")
        depth[0] += 1
    def end(name):
        depth[0] -= 1
    parser = xml.parsers.expat.ParserCreate()
    parser.ordered_attributes = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)
    return ",".join(found)


folder = sys.argv[1]
for number in range(len(os.listdir(folder))):
    with open(f"{folder}/{number}", "rb") as file:
        data = file.read()
    try:
        print(tags(data))
    except Exception as error:
        print("rejected:", repr(error).replace("\n", " "))
