// SPDX-License-Identifier: Apache-2.0

import RealmFile
import RealmKit
import SeededRandom
import Testing

/// Random changes of random files.
///
/// The result is compared with a simple model that shares no code with the realm.
struct RandomChangesTests {
    private struct Line: Equatable {
        var text: String
        var end: String
        var name: String?
        var groups: [String] = []
    }

    private static let rounds = 60

    private func line(_ name: String, _ groups: [String], _ end: String, hash: String = KnownHashes.ssha) -> Line {
        Line(text: "\(name);\(hash);\(groups.joined(separator: ","))", end: end, name: name, groups: groups)
    }

    @Test(arguments: [1, 2, 3])
    func `random changes keep all other lines byte for byte`(seed: UInt64) async throws {
        var random = Random(seed: seed)
        for round in 0..<Self.rounds {
            let folder = try TemporaryFolder()
            var model = start(&random)
            try folder.write(model.map { $0.text + $0.end }.joined())
            let realm = try FileRealm.make(folder, ["format": .string("glassfish")])
            for _ in 0..<8 {
                try await step(realm, &model, &random)
                let written = try folder.text()
                let wanted = model.map { $0.text + $0.end }.joined()
                #expect(Array(written.utf8) == Array(wanted.utf8), "seed \(seed), round \(round)")
                #expect(realm.listing == model.filter { $0.name != nil }.map(listed))
            }
        }
    }

    private func listed(_ line: Line) -> String {
        "\(line.text.contains(";!") ? "!" : "")\(line.name ?? ""): \(line.groups.joined(separator: ","))"
    }

    private func start(_ random: inout Random) -> [Line] {
        var lines: [Line] = []
        for number in 0..<random.below(8) {
            let end = random.pick(["\n", "\n", "\r\n"])
            switch random.below(4) {
            case 0: lines.append(Line(text: random.pick(["", "# c", "#u;h;g", "odd", ";;", "  "]), end: end))
            default: lines.append(line("u\(number)", random.pick([[], ["a"], ["a", "b"]]), end))
            }
        }
        if random.below(3) == 0, let last = lines.indices.last, !lines[last].text.isEmpty { lines[last].end = "" }
        return lines
    }

    private func step(_ realm: FileRealm, _ model: inout [Line], _ random: inout Random) async throws {
        let name = "u\(random.below(10))"
        let user = try Username(name)
        let index = model.firstIndex { $0.name == name }
        let groups = random.pick([[], ["a"], ["b", "c"], ["x y", "\u{E9}"]])
        guard let index else {
            try await realm.add(UserRecord(user, groups: groups), hash: KnownHashes.ssha)
            let first = model.first { $0.end != "" }?.end ?? "\n"
            if let last = model.indices.last, model[last].end.isEmpty { model[last].end = first }
            model.append(line(name, groups, first))
            return
        }
        var changes = UserChanges()
        switch random.below(4) {
        case 0:
            try await realm.remove(user)
            model.remove(at: index)
            return
        case 1:
            changes.groups = groups
            let start = model[index].text.prefix { $0 != ";" }.utf8.count + 1
            let hash = model[index].text.utf8.dropFirst(start).prefix { $0 != UInt8(ascii: ";") }
            model[index].text = "\(name);\(String(hash) ?? "");\(groups.joined(separator: ","))"
            model[index].groups = groups
        case 2:
            changes.isEnabled = false
            if !model[index].text.contains(";!") { model[index].text.insert("!", at: after(name, in: model[index])) }
        default:
            changes.isEnabled = true
            if model[index].text.contains(";!") { model[index].text.remove(at: after(name, in: model[index])) }
        }
        try await realm.change(user, changes)
    }

    private func after(_ name: String, in line: Line) -> String.Index {
        line.text.index(line.text.startIndex, offsetBy: name.count + 1)
    }
}
