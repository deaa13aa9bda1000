// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import SeededRandom
import Synchronization
import Testing

@testable import RealmFile

/// Tests of the reading of files of any size for an import.
struct CheckedFileTests {
    private func users(_ checked: CheckedUserFile) throws -> [NewUser] {
        var users: [NewUser] = []
        try checked.users.read { users += $0 }
        return users
    }

    private func check(_ file: String, _ groupFile: String? = nil, partSize: Int = 1 << 20) throws -> CheckedUserFile {
        try FileRealm.checkFile(file, groupFile: groupFile, readOptions: ReadOptions(), partSize: partSize)
    }

    /// The users of a file that is read as a whole, as a realm reads it for logins.
    private func exported(_ file: String, _ groupFile: String?) async throws -> (users: [NewUser], lines: [String]) {
        var values: [String: PropertyValue] = ["file": .string(file)]
        if let groupFile { values["group-file"] = .string(groupFile) }
        let realm = try FileRealm(RealmProperties(values, schema: FileRealm.properties, realmName: "r"))
        let lines = realm.files.table.lineWarnings.map { line in
            line.replacing("cannot sign in: ", with: "is not imported: ")
                .replacing(": the user cannot sign in", with: ": the user is not imported")
        }
        return (try await realm.exportUsers(), lines)
    }

    @Test(arguments: [41, 42])
    func `a damaged file that is read in parts has the same users and problems as a file that is read as a whole`(
        seed: UInt64
    ) async throws {
        let folder = try TemporaryFolder()
        let damage = DamagedFileTests()
        var random = Random(seed: seed)
        var compared = 0
        for round in 0..<500 {
            let isHtpasswd = random.below(2) == 0
            let text = isHtpasswd ? DamagedFileTests.htpasswd : DamagedFileTests.keyFile
            let file = try folder.write(damage.mutate(Array(text.utf8), &random))
            var groupFile: String?
            if isHtpasswd, random.below(2) == 0 {
                groupFile = try folder.write(
                    damage.mutate(Array(DamagedFileTests.groupFile.utf8), &random),
                    to: "groups"
                )
            }
            guard let (expected, lines) = try? await exported(file, groupFile) else {
                #expect(throws: RealmError.self, "seed \(seed), round \(round)") {
                    try check(file, groupFile, partSize: 100)
                }
                continue
            }
            let partSize = 100 + random.below(200)
            let checked = try check(file, groupFile, partSize: partSize)
            let users = try users(checked)
            let context = "seed \(seed), round \(round), parts of \(partSize) bytes"
            #expect(users.map(\.record.name) == expected.map(\.record.name), "\(context)")
            #expect(users.map(\.record.groups) == expected.map(\.record.groups), "\(context)")
            #expect(users.map(\.record.isEnabled) == expected.map(\.record.isEnabled), "\(context)")
            #expect(users.map(\.hash) == expected.map(\.hash), "\(context)")
            #expect(checked.lineWarningCount == lines.count, "\(context)")
            #expect(checked.lineWarnings == Array(lines.prefix(20)), "\(context)")
            #expect(checked.users.count == users.count, "\(context)")
            compared += 1
        }
        #expect(compared > 250)
    }

    @Test func `users of a group file who are not in the file are named`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("ann:*\nbob:*\n")
        let groups = try folder.write("staff: ann casper\nghosts: casper\n", to: "groups")
        let unknown = "1 user of the group file is not in \(file): casper"
        #expect(try check(file, groups).fileWarnings.contains(unknown))
        let many = try folder.write("staff: \((10...30).map { "u\($0)" }.joined(separator: " ")) ann\n", to: "groups")
        let first = (10..<20).map { "u\($0), " }.joined()
        #expect(
            try check(file, many).fileWarnings.contains("21 users of the group file are not in \(file): \(first)...")
        )
    }

    @Test func `every user has the place in the file`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("# old\nann;\(KnownHashes.ssha);\n\nbob;RESET;a,b\n")
        #expect(try users(check(file, partSize: 64)).map(\.place) == ["\(file):2", "\(file):4"])
    }

    @Test(arguments: [
        "ann;\(KnownHashes.ssha);x\u{1}\n", "ann;\(KnownHashes.ssha);x\u{85}\n", "ann;\n", "ann;no hash;x\n",
        "ann;a;b;c\n",
    ])
    func `a user with a line that cannot be read is not imported by another line`(broken: String) async throws {
        let folder = try TemporaryFolder()
        let good = "ann;\(KnownHashes.lilac);Admin\n"
        for text in [broken + good, good + broken, broken + good + good] {
            let file = try folder.write(text + "bob;RESET\n")
            let checked = try check(file)
            #expect(try users(checked).map(\.record.name.text) == ["bob"], "\(text)")
            #expect(checked.users.count == 1, "\(text)")
            let (exported, lines) = try await exported(file, nil)
            #expect(exported.filter { $0.hash != nil }.isEmpty && exported.allSatisfy { $0.record.groups.isEmpty })
            #expect(checked.lineWarnings == lines, "\(text)")
        }
    }

    @Test func `for a realm that ignores case, names that differ in case only are not imported`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("kim:*\nann:*\nKim:*\nbob:no hash\nBOB:*\n")
        let groups = try folder.write("staff: ANN\n", to: "groups")
        var options = ReadOptions()
        options.isCaseSensitive = false
        let checked = try FileRealm.checkFile(file, groupFile: groups, readOptions: options, partSize: 64)
        let found = try users(checked)
        #expect(found.map(\.record.name.text) == ["ann"])
        #expect(found.map(\.record.groups) == [["staff"]])
        #expect(checked.users.count == 1 && checked.lineWarningCount == 3)
        let text = "\(file):3: duplicate user Kim (also on line 1; the realm ignores case): the user is not imported"
        #expect(checked.lineWarnings.first == text)
        #expect(!checked.fileWarnings.contains { $0.contains("group file") })
    }

    @Test func `a user whose first line is not UTF-8 is not imported by the second line`() throws {
        let folder = try TemporaryFolder()
        let line = "ann;\(KnownHashes.ssha);"
        let file = try folder.write(Array((line + "x").utf8) + [0xFF, 0x0A] + Array((line + "Admin\n").utf8))
        #expect(try users(check(file)).isEmpty)
    }

    @Test func `only the first problems are kept, and all are counted`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("ann;RESET\n" + String(repeating: "no separator\n", count: 1000))
        let checked = try check(file, partSize: 100)
        #expect(checked.lineWarnings.count == CheckedUserFile.maximumWarnings)
        #expect(checked.lineWarningCount == 1000)
        #expect(checked.lineWarnings[0] == "\(file):2: the line is ignored: there is no ;")
        #expect(checked.users.count == 1)
    }

    @Test func `a line longer than a part, a NUL and UTF-16 are rejected with the line`() throws {
        let folder = try TemporaryFolder()
        let long = try folder.write("ann;RESET\n" + String(repeating: "b", count: 300) + ";RESET\n")
        let nul = try folder.write("ann;RESET\nbob;RESET\ncy\0;RESET\n", to: "nul")
        let wide = try folder.write([0xFF, 0xFE, 0x61, 0], to: "wide")
        for (file, text) in [
            (long, ":2: the line is longer than 100 bytes"), (nul, ":3: it is not a text file"), (wide, "UTF-16"),
        ] {
            do {
                _ = try check(file, partSize: 100)
                Issue.record("\(file) was accepted")
            } catch let error as RealmError {
                #expect(error.message.hasPrefix(file) && error.message.contains(text), "\(error)")
            }
        }
    }

    @Test func `a file that was changed after the check is not read to the end without an error`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("ann;RESET;users\nbob;RESET;users\n")
        let checked = try check(file)
        #expect(try users(checked).count == 2)
        // The same size, and the same times.
        let times = try FileManager.default.attributesOfItem(atPath: file)
        try folder.write("ann;RESET;users\nbob;RESET;admin\n")
        try FileManager.default.setAttributes([.modificationDate: times[.modificationDate] as Any], ofItemAtPath: file)
        let error = #expect(throws: RealmError.self) { try users(checked) }
        #expect(error?.message == "\(file): the file was changed while its users were imported")
    }

    @Test func `a file larger than the limit of a realm is read`() throws {
        let folder = try TemporaryFolder()
        let comment = "#" + String(repeating: "x", count: (1 << 20) - 2) + "\n"
        let file = try folder.write("ann;RESET\n" + String(repeating: comment, count: 65) + "bob;RESET\n")
        #expect(throws: BadRealm.self) {
            try FileRealm(RealmProperties(["file": .string(file)], schema: FileRealm.properties, realmName: "r"))
        }
        #expect(try users(check(file)).map(\.record.name.text) == ["ann", "bob"])
    }

    @Test func `the groups of a group file are listed once, in the order of the lines`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(["ann", "bob", "cy"].map { "\($0):\(KnownHashes.lilac)\n" }.joined())
        let groups = try folder.write("b: bob ann bob\na: ann bob\nb: cy bob\nc: cy\na: cy ann\n", to: "groups")
        let found = try users(check(file, groups)).map(\.record.groups)
        #expect(found == [["b", "a"], ["b", "a"], ["b", "c", "a"]])
    }
}
