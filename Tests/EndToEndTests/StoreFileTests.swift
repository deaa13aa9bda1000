// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Unusable files of the store, and concurrent commands that change the store.
@Suite struct StoreFileTests {
    private static let everyCommand = [
        ["user", "list"], ["user", "show", "ann"], ["user", "add", "--password-stdin", "bob"],
        ["user", "set-password", "--password-stdin", "ann"], ["user", "remove", "ann"], ["user", "unlock", "ann"],
        ["lockouts", "list"], ["lockouts", "clear", "--all"], ["check"], ["serve"],
    ]

    /// Returns the contents of a store, or the bytes of the file if it is not a store.
    private func contents(_ people: People) async throws -> Data? {
        // SQLite may write to a file without changing its contents.
        if let sqlite = Program.system("sqlite3") {
            let dump = try await Program.run(sqlite, [people.store.path, ".dump"])
            if dump.status == 0, dump.output.contains("COMMIT") { return Data(dump.output.utf8) }
        }
        return FileManager.default.contents(atPath: people.store.path)
    }

    /// Expects that every command reports the error with the path of the file, and does not change the file.
    private func expectRefusal(_ people: People, _ words: String...) async throws {
        let before = try await contents(people)
        for command in Self.everyCommand {
            let finished = try await Program.run(
                Program.built("gatehouse"),
                command,
                input: People.password,
                in: people.folder.url
            )
            #expect(finished.status == 3, "\(command): \(finished)")
            #expect(finished.errors.contains("realms.conf:8:1: error: "), "\(command): \(finished)")
            for word in words { #expect(finished.errors.contains(word), "\(command): \(finished)") }
            #expect(!finished.output.contains("listening"))
        }
        #expect(try await people.authcheck("ann", People.password).status == 3)
        #expect(try await contents(people) == before)
    }

    @Test func `a file that is not a database is not changed`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        try Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }).write(to: people.store)
        try await expectRefusal(people, "var/gatehouse.sqlite", "not a database")
    }

    @Test(.enabled(if: Program.system("sqlite3") != nil, "sqlite3 is not installed"))
    func `a store of a newer version is not changed`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let sqlite = try #require(Program.system("sqlite3"))
        let statement = "INSERT INTO grdb_migrations VALUES ('of a version to come'); PRAGMA wal_checkpoint(TRUNCATE)"
        #expect(try await Program.run(sqlite, [people.store.path, statement]).status == 0)
        try await expectRefusal(people, "var/gatehouse.sqlite was written by a newer version of this program")
    }

    @Test(.enabled(if: Program.system("sqlite3") != nil, "sqlite3 is not installed"))
    func `check warns of a store of an older version, and the next start upgrades it`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let sqlite = try #require(Program.system("sqlite3"))
        let statement = """
            DROP TABLE announcement; DELETE FROM grdb_migrations WHERE identifier = 'announcement';
            PRAGMA wal_checkpoint(TRUNCATE)
            """
        #expect(try await Program.run(sqlite, [people.store.path, statement]).status == 0)
        let before = try await contents(people)
        let checked = try await people.gatehouse("check")
        #expect(checked.status == 0 && checked.output.contains("people"), "\(checked)")
        let warning =
            "realms.conf:8:1: warning: the store in var is of an older version; the next start of gatehouse serve upgrades it\n"
        #expect(checked.errors.contains(warning), "\(checked)")
        #expect(try await contents(people) == before)
        #expect(try await people.gatehouse("user", "list").status == 3)
        // A command that writes upgrades the store too.
        #expect(try await people.add("bob").status == 0)
        #expect(try await people.gatehouse("check").errors == "")
        #expect(try await people.names() == ["ann", "bob"])
    }

    @Test(.enabled(if: Program.system("sqlite3") != nil, "sqlite3 is not installed"))
    func `check finds a broken page that no other part of the configuration needs`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let sqlite = try #require(Program.system("sqlite3"))
        let statements = """
            CREATE TABLE other (text TEXT); INSERT INTO other VALUES (hex(zeroblob(20000)));
            PRAGMA wal_checkpoint(TRUNCATE); PRAGMA page_size; SELECT rootpage FROM sqlite_schema WHERE name = 'other'
            """
        let made = try await Program.run(sqlite, [people.store.path, statements])
        let numbers = made.output.split(separator: "\n").suffix(2).compactMap { UInt64($0) }
        let (size, page) = (try #require(numbers.first), try #require(numbers.last))
        #expect(try await people.gatehouse("check").status == 0)
        let file = try FileHandle(forUpdating: people.store)
        try file.seek(toOffset: (page - 1) * size)
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size)))
        try file.close()
        let checked = try await people.gatehouse("check")
        #expect(checked.status == 3 && checked.errors.contains("var"), "\(checked)")
        #expect(checked.errors.contains("damaged") || checked.errors.contains("malformed"), "\(checked)")
    }

    @Test func `a folder or a link in place of the store is refused`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let other = people.folder.url.appendingPathComponent("other.sqlite")
        try FileManager.default.moveItem(at: people.store, to: other)
        try FileManager.default.createDirectory(at: people.store, withIntermediateDirectories: false)
        try await expectRefusal(people, "var/gatehouse.sqlite is not a regular file")
        try FileManager.default.removeItem(at: people.store)
        try FileManager.default.createSymbolicLink(at: people.store, withDestinationURL: other)
        try await expectRefusal(people, "var/gatehouse.sqlite is not a regular file")
    }

    @Test func `commands that only read also report an unusable state folder`() async throws {
        let people = try People()
        try people.folder.write("", to: "var")
        try await expectRefusal(people, "var")
    }

    @Test func `a state folder that other users can write to is refused`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let folder = people.store.deletingLastPathComponent().path
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
        try await expectRefusal(people, "var", "var: other users may write to it; chmod 700 var")
    }

    @Test(.enabled(if: geteuid() == 0 && Program.system("setpriv") != nil, "not root, or setpriv is not installed"))
    func `an unreadable store is reported with its path`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let setpriv = try #require(Program.system("setpriv"))
        // Other users may not be able to reach the build folder.
        let program = people.folder.url.appendingPathComponent("gatehouse")
        try FileManager.default.copyItem(at: Program.built("gatehouse"), to: program)
        let options = ["--reuid", "65534", "--regid", "65534", "--clear-groups", program.path]
        let configuration = people.folder.url.appendingPathComponent("realms.conf").path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: configuration)
        for (mode, file) in [(0o700, 0o600), (0o755, 0o600), (0o755, 0o644)] {
            let state = people.store.deletingLastPathComponent().path
            try FileManager.default.setAttributes([.posixPermissions: file], ofItemAtPath: people.store.path)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: state)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: people.folder.url.path)
            for command in [["user", "list"], ["user", "remove", "ann"], ["check"]] {
                let finished = try await Program.run(setpriv, options + command, in: people.folder.url)
                #expect(finished.status == 3, "\(command): \(finished)")
                #expect(finished.errors.contains("realms.conf:8:1: error: "), "\(command): \(finished)")
                #expect(finished.errors.contains("var"), "\(command): \(finished)")
                let advice = "belongs to the user root; run the command as that user, or as root: runuser -u root --"
                #expect(finished.errors.contains(advice), "\(command): \(finished)")
            }
        }
    }

    @Test func `only the owner can read the store, even after it was restored with wider permissions`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let state = people.store.deletingLastPathComponent().path
        #expect(try FileManager.default.attributesOfItem(atPath: state)[.posixPermissions] as? Int == 0o700)
        func mode() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: people.store.path)[.posixPermissions] as? Int
        }
        #expect(try mode() == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: people.store.path)
        #expect(try await people.gatehouse("user", "disable", "ann").status == 0)
        #expect(try mode() == 0o600)
    }

    @Test func `concurrent commands add all users, and add a repeated name only once`() async throws {
        let people = try People()
        let names = (0..<12).map { "user\($0)" }
        let statuses = try await withThrowingTaskGroup { group in
            for name in names + ["same", "same", "same", "same"] {
                group.addTask { (name, try await people.gatehouse("user", "add", "--no-password", name).status) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0, default: []].append($1.1) }
        }
        for name in names { #expect(statuses[name] == [0], "\(name)") }
        #expect(statuses["same"]?.sorted() == [0, 1, 1, 1])
        #expect(try await people.names() == (names + ["same"]).sorted())
    }

    @Test func `groups that are added concurrently are all stored`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        let groups = (0..<12).map { "group\($0)" }
        try await withThrowingTaskGroup { tasks in
            for group in groups {
                tasks.addTask {
                    let finished = try await people.gatehouse("user", "groups", "ann", "--add", group)
                    #expect(finished.status == 0, "\(finished)")
                }
            }
            try await tasks.waitForAll()
        }
        let shown = try await people.gatehouse("user", "groups", "ann").output.split(separator: "\n").map(String.init)
        #expect(shown.sorted() == groups.sorted())
    }

    @Test func `a file without tables, of a command that was killed at once, is no store`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        try FileManager.default.removeItem(at: people.store)
        try Data().write(to: people.store)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: people.store.path)
        #expect(try await people.names() == [])
        #expect(try await people.add("bob").status == 0)
        #expect(try await people.names() == ["bob"])
    }

    @Test func `after a command has reported success its user is stored, even if the command is killed`() async throws {
        let people = try People()
        var acknowledged: [String] = []
        for number in 0..<20 {
            let output = try people.folder.write("", to: "log\(number)")
            let child = try Child(
                Program.built("gatehouse"),
                ["user", "add", "--no-password", "user\(number)"],
                in: people.folder.url,
                input: nil,
                output: output,
                errors: output
            )
            try await Task.sleep(for: .milliseconds(20 + number * 10))
            child.signal(SIGKILL)
            _ = await child.end()
            if try String(contentsOf: output, encoding: .utf8).contains("added") {
                acknowledged.append("user\(number)")
            }
        }
        let names = Set(try await people.names())
        for name in acknowledged { #expect(names.contains(name), "\(name)") }
        #expect(try await people.add("last").status == 0)
    }
}
