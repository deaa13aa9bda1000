// SPDX-License-Identifier: Apache-2.0

import Foundation

// Measures the engine and the parser, and those of the JDK in the same run if `java` is installed. Rounds of both alternate, and
// the medians are printed. Only the ratio is meaningful, because the machine may be busy.

let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
let java = JavaRuntime()
defer { java?.remove() }

var ours: [String: [Double]] = [:]
var theirs: [String: [Double]] = [:]
for round in 1...rounds {
    FileHandle.standardError.write(Data("round \(round) of \(rounds)\n".utf8))
    for (name, value) in try await Measurements.all() { ours[name, default: []].append(value) }
    for (name, value) in try java?.measure() ?? [] { theirs[name, default: []].append(value) }
}

print("CPU time of one thread, medians of \(rounds) rounds\n")
print(Table.line(["what", "Gatehouse", "JDK \(java?.version ?? "not found")", "ratio"]))
for (name, unit) in Measurements.names {
    let mine = ours[name].map(median)
    let other = theirs[name].map(median)
    let ratio = mine.flatMap { mine in other.map { mine / $0 } }
    print(
        Table.line([
            name, mine.map { Table.number($0) + " " + unit } ?? "-", other.map { Table.number($0) + " " + unit } ?? "-",
            ratio.map { Table.number($0) } ?? "-",
        ])
    )
}

print("\npassword check over the bare library call, ms of processor time, medians of alternating calls\n")
print(Table.line(["what", "Gatehouse", "bare call", "ratio"]))
for line in try PasswordChecks.all() {
    let times = [line.ours, line.bare].map { String(format: "%.2f", $0) }
    print(Table.line([line.name] + times + [String(format: "%.3f", line.ratio)]))
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
}

enum Table {
    static func line(_ cells: [String]) -> String {
        zip(cells, [34, 16, 20, 0]).map { cell, width in
            cell + String(repeating: " ", count: max(0, width - cell.count))
        }
        .joined(separator: " ")
    }

    static func number(_ value: Double) -> String {
        String(format: value < 10 ? "%.2f" : "%.0f", value)
    }
}
