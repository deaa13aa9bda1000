// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import RealmKit
import Sessions
import Testing
import Throttle

@testable import Store

@Suite struct GatehouseStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-store-\(UUID())").path

    private func name(_ text: String) throws -> Username { try Username(text) }

    private func row(_ text: String, groups: [String] = [], hash: String? = nil, cost: String? = nil) throws -> NewUser
    {
        NewUser(UserRecord(try name(text), groups: groups, format: cost), hash: hash)
    }

    @Test func `a stored user is read back unchanged, with the groups in their order`() async throws {
        let store = try GatehouseStore.inMemory()
        var record = UserRecord(try name("ann"), groups: ["Staff", "Admin", "staff"])
        record.isEnabled = false
        record.expiry = 1_800_000_000
        record.mustChangePassword = true
        record.format = "c"
        try await store.add([NewUser(record, hash: "h")], to: "r")
        let user = try #require(try await store.user(try name("ann"), in: "r"))
        #expect(user.record == record)
        #expect(user.hash == "h")
        #expect(try await store.user(try name("ann"), in: "other") == nil)
        #expect(try await store.user(try name("Ann"), in: "r") == nil)
    }

    @Test func `a broken page is found`() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/\(GatehouseStore.fileName)"
        do {
            let store = try GatehouseStore.open(folder: folder)
            for number in 0..<200 { try await store.add([try row("user \(number)", groups: ["Staff"])], to: "r") }
            #expect(try await store.damage() == nil)
        }
        try await DatabaseQueue(path: path).writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try file.seekToEnd()
        // The first page stays, without which the file is not opened.
        for page in UInt64(4)..<size / 4096 {
            try file.seek(toOffset: page * 4096)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 512))
        }
        try file.close()
        var found: String?
        do throws(StoreFault) {
            found = try await GatehouseStore.open(folder: folder).damage()
        } catch {
            found = error.description
        }
        #expect(found != nil)
    }

    @Test func `the store contains one message to all users, which is cut to its maximum length`() async throws {
        let store = try GatehouseStore.inMemory()
        #expect(try await store.announcement() == nil)
        for text in ["e\u{301} <b>'\"", "Maintenance"] {
            try await store.setAnnouncement(Announcement(text, until: 1_800_000_000))
            let read = try #require(try await store.announcement())
            #expect(read.text.utf8.elementsEqual(text.utf8) && read.end == 1_800_000_000)
        }
        // Another program may have written a longer text.
        try await store.write { database in
            try database.execute(
                sql: "UPDATE announcement SET text = ?",
                arguments: [String(repeating: "a", count: 9999)]
            )
        }
        #expect(try await store.announcement()?.text.count == Announcement.maximumLength)
        try await store.setAnnouncement(nil)
        #expect(try await store.announcement() == nil)
    }

    @Test func `attributes are read back unchanged by every query, and changed one by one`() async throws {
        let store = try GatehouseStore.inMemory()
        let (ann, bob) = (try name("ann"), try name("bob"))
        let mail = try UserAttribute(name: "mail", values: ["ann@example.org", "a@example.org"])
        let shown = try UserAttribute(name: "displayName", values: ["e\u{301} | \"'\\ \u{1F600}"])
        let record = UserRecord(ann, groups: ["Staff"], attributes: [mail, shown])
        try await store.add([NewUser(record, hash: nil), try row("bob")], to: "r")
        #expect(try await store.user(ann, in: "r")?.record == record)
        #expect(try await store.users(of: "r").map(\.record) == [record, UserRecord(bob)])
        #expect(try await store.login(ann, in: "r").attributes == [mail, shown])
        #expect(try await store.login(bob, in: "r").attributes == [])
        #expect(try await store.login(try name("carl"), in: "r").attributes == [])
        #expect(try await store.login(ann, in: "other").attributes == [])
        let before = try await store.changes(in: "r", after: nil).number
        var changes = UserChanges()
        let other = try UserAttribute(name: "mail", values: ["new@example.org"])
        changes.attributes = [.set(other), .remove("displayName"), .remove("none")]
        try await store.change(ann, in: "r", changes: changes, cost: nil)
        #expect(try await store.user(ann, in: "r")?.record == UserRecord(ann, groups: ["Staff"], attributes: [other]))
        #expect(try await store.changes(in: "r", after: before).users == .some([ann]))
        // A change of something else keeps them, and a new user of the same name inherits nothing.
        var groups = UserChanges()
        groups.groups = ["Admin"]
        try await store.change(ann, in: "r", changes: groups, cost: nil)
        #expect(try await store.user(ann, in: "r")?.record.attributes == [other])
        try await store.remove(ann, from: "r")
        try await store.add([try row("ann")], to: "r")
        #expect(try await store.user(ann, in: "r")?.record.attributes == [])
        #expect(try await store.login(ann, in: "r").attributes == [])
    }

    @Test func `a store of a version without attributes is upgraded, and its users stay as they were`() async throws {
        let path = "\(folder)/\(GatehouseStore.fileName)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
        do {
            let queue = try DatabaseQueue(path: path)
            try Migrations.all.migrate(queue, upTo: "child sessions")
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO users (realm, name, hash, cost, expiry) VALUES ('r', 'ann', 'h', 'c', 7);
                        INSERT INTO user_groups VALUES ('r', 'ann', 0, 'Staff');
                        """
                )
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(throws: StoreFault.self) { try GatehouseStore.openExisting(folder: folder) }
        let store = try GatehouseStore.open(folder: folder)
        let ann = try name("ann")
        let old = UserRecord(ann, groups: ["Staff"], expiry: 7, format: "c")
        #expect(try await store.user(ann, in: "r") == StoredUser(record: old, hash: "h"))
        #expect(try await store.login(ann, in: "r").groups == ["Staff"])
        var changes = UserChanges()
        changes.attributes = [.set(try UserAttribute(name: "mail", values: ["a@b"]))]
        try await store.change(ann, in: "r", changes: changes, cost: nil)
        let reader = try GatehouseStore.openExisting(folder: folder)
        #expect(try await reader.user(ann, in: "r")?.record.attributes.values(of: "mail") == ["a@b"])
        // An older program that is still running removes the user together with the attributes.
        try await store.write { try $0.execute(sql: "DELETE FROM users WHERE realm = 'r' AND name = 'ann'") }
        let left = try await store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM user_attributes") }
        #expect(left == 0)
    }

    @Test func `a name in any case is found, also in a store of an earlier version`() async throws {
        let path = "\(folder)/\(GatehouseStore.fileName)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
        do {
            let queue = try DatabaseQueue(path: path)
            try Migrations.all.migrate(queue, upTo: "announcement")
            try await queue.write { database in
                for name in ["Ann", "bob", " x", "\u{39F}\u{394}\u{39F}\u{3A3}"] {
                    try database.execute(sql: "INSERT INTO users (realm, name) VALUES ('r', ?)", arguments: [name])
                }
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let store = try GatehouseStore.open(folder: folder)
        try await store.add([try row("Carl"), try row("dan")], to: "r")
        // The last letter of the Greek word has two small letters.
        let greek = ["\u{3BF}\u{3B4}\u{3BF}\u{3C2}", "\u{3BF}\u{3B4}\u{3BF}\u{3C3}"]
        for typed in ["ANN", "ann", "Ann", "BOB", "bob", "carl", "DAN"] + greek {
            let found = try await store.spelling(of: try name(typed), in: "r")
            #expect(found?.caseFolded == (try name(typed).caseFolded), "\(typed)")
            #expect(try await store.spelling(of: try name(typed), in: "other") == nil)
        }
        #expect(try await store.spelling(of: try name("eve"), in: "r") == nil)
        #expect(try store.namesDifferingInCase(in: "r") == [])
        await #expect(throws: StoreFault(.exists, "")) {
            try await store.add([try row("ANN")], to: "r", ignoringCase: true)
        }
        try await store.add([try row("ANN"), try row("DAN")], to: "r")
        #expect(try store.namesDifferingInCase(in: "r") == [["ANN", "Ann"], ["DAN", "dan"]])
        #expect(try store.namesDifferingInCase(in: "other") == [])
        await #expect(throws: StoreFault(.unavailable, "")) { try await store.spelling(of: try name("Ann"), in: "r") }
    }

    @Test func `rows that are not a valid attribute are left out`() async throws {
        let store = try GatehouseStore.inMemory()
        try await store.add([try row("ann")], to: "r")
        try await store.write { database in
            for (place, (name, value)) in [("mail", "a@b"), ("bad name", "x"), ("cn", ""), ("mail", "c@d")].enumerated()
            {
                try database.execute(
                    sql: "INSERT INTO user_attributes VALUES ('r', 'ann', ?, ?, ?)",
                    arguments: [place, name, value]
                )
            }
        }
        let mail = try UserAttribute(name: "mail", values: ["a@b", "c@d"])
        #expect(try await store.user(try name("ann"), in: "r")?.record.attributes == [mail])
        #expect(try await store.login(try name("ann"), in: "r").attributes == [mail])
    }

    @Test func `a program that only reads can open the store while another program creates it`() async throws {
        for number in 0..<20 {
            let folder = "\(folder)-\(number)"
            let creation = Task.detached { try GatehouseStore.open(folder: folder) }
            let reading = Task.detached { () async throws -> Void in
                while !FileManager.default.fileExists(atPath: "\(folder)/gatehouse.sqlite") { await Task.yield() }
                for _ in 0..<10 {
                    let users = try await GatehouseStore.openExisting(folder: folder).users(of: "r")
                    #expect(users.isEmpty)
                }
            }
            _ = try await creation.value
            try await reading.value
        }
    }

    @Test func `names that differ in one byte belong to different users`() async throws {
        let store = try GatehouseStore.inMemory()
        try await store.add([try row("e\u{301}", hash: "1"), try row("\u{e9}", hash: "2")], to: "r")
        #expect(try await store.user(try name("\u{e9}"), in: "r")?.hash == "2")
        #expect(try await store.user(try name("e\u{301}"), in: "r")?.hash == "1")
        #expect(try await store.users(of: "r").count == 2)
    }

    @Test func `if one of several users already exists, no user is added`() async throws {
        let store = try GatehouseStore.inMemory()
        try await store.add([try row("ann")], to: "r")
        await #expect(throws: StoreFault.self) { try await store.add([try row("bob"), try row("ann")], to: "r") }
        #expect(try await store.users(of: "r").map(\.record.name.text) == ["ann"])
        try await store.add([try row("ann")], to: "other")
    }

    @Test func `users that are read in batches are added in one transaction`() async throws {
        let store = try GatehouseStore.inMemory()
        struct Broken: Error {}
        let batches = try (0..<3).map { batch in try (0..<2).map { try row("u\(batch)\($0)") } }
        await #expect(throws: StoreFault.self) {
            try await store.add(to: "r") { add in
                for batch in batches { try add(batch) }
                throw Broken()
            }
        }
        #expect(try await store.users(of: "r").isEmpty)
        try await store.add(to: "r") { add in for batch in batches { try add(batch) } }
        #expect(try await store.users(of: "r").count == 6)
    }

    @Test(arguments: [9_999, 10_000, 10_001])
    func `the addition of many users is reported, and the next change too`(count: Int) async throws {
        let store = try GatehouseStore.inMemory()
        try await store.add([try row("ann")], to: "r")
        let (begin, _) = try await store.changes(in: "r", after: nil)
        let rows = try (0..<count).map { try row("u\($0)") }
        try await store.add(rows, to: "r")
        let (next, users) = try await store.changes(in: "r", after: begin)
        switch users {
        case .all: #expect(count > 10_000)
        case .some(let names): #expect(count <= 10_000 && names.count == count)
        }
        #expect(next == begin + Int64(count))
        try await store.add([try row("bob")], to: "r")
        #expect(try await store.changes(in: "r", after: next).users == .some([try name("bob")]))
    }

    @Test func `a new user does not get the groups of a removed user of the same name`() async throws {
        let store = try GatehouseStore.inMemory()
        try await store.add([try row("ann", groups: ["Admin"])], to: "r")
        try await store.remove(try name("ann"), from: "r")
        try await store.add([try row("ann")], to: "r")
        #expect(try await store.user(try name("ann"), in: "r")?.record.groups == [])
        await #expect(throws: StoreFault.self) { try await store.remove(try name("bob"), from: "r") }
    }

    @Test func `a login reads one hash of every cost, for known and unknown users`() async throws {
        let store = try GatehouseStore.inMemory()
        for number in 0..<300 {
            try await store.add([try row("u\(number)", hash: "h\(number % 3)", cost: "c\(number % 3)")], to: "r")
        }
        try await store.add([try row("none")], to: "r")
        try await store.add([try row("far", hash: "x", cost: "elsewhere")], to: "other")
        for user in ["u7", "nobody", "none"] {
            let found = try await store.login(try name(user), in: "r")
            #expect(found.costs.map(\.cost) == ["c0", "c1", "c2"])
            #expect(found.costs.map(\.hash) == ["h0", "h1", "h2"])
        }
        #expect(try await store.login(try name("u7"), in: "empty").costs.isEmpty)
    }

    @Test func `a hash that was replaced meanwhile is not replaced again`() async throws {
        let store = try GatehouseStore.inMemory()
        try await store.add([try row("ann", hash: "old", cost: "c")], to: "r")
        var changed = UserChanges()
        changed.hash = "of a new password"
        try await store.change(try name("ann"), in: "r", changes: changed, cost: "c")
        var rehashed = UserChanges()
        rehashed.hash = "of the old password"
        rehashed.replacing = "old"
        try await store.change(try name("ann"), in: "r", changes: rehashed, cost: "c")
        #expect(try await store.user(try name("ann"), in: "r")?.hash == "of a new password")
        rehashed.replacing = "of a new password"
        rehashed.hash = "again"
        try await store.change(try name("ann"), in: "r", changes: rehashed, cost: "d")
        #expect(try await store.user(try name("ann"), in: "r")?.record.format == "d")
    }

    @Test func `a changed user is reported once, only in its realm, and a rehash is not reported`() async throws {
        let store = try GatehouseStore.inMemory()
        try await store.add([try row("ann", hash: "h"), try row("bob")], to: "r")
        let (begin, initial) = try await store.changes(in: "r", after: nil)
        #expect(initial == .none)
        var changes = UserChanges()
        changes.groups = ["x"]
        try await store.change(try name("ann"), in: "r", changes: changes, cost: nil)
        try await store.add([try row("cy")], to: "other")
        var rehashed = UserChanges()
        rehashed.hash = "new"
        rehashed.replacing = "h"
        try await store.change(try name("ann"), in: "r", changes: rehashed, cost: nil)
        let (next, users) = try await store.changes(in: "r", after: begin)
        #expect(users == .some([try name("ann")]))
        #expect(try await store.changes(in: "r", after: next).users == .none)
        try await store.remove(try name("bob"), from: "r")
        #expect(try await store.changes(in: "r", after: next).users == .some([try name("bob")]))
        // An unknown number means another file, or that older changes were removed.
        #expect(try await store.changes(in: "r", after: next + 1000).users == .all)
    }

    @Test func `the file is readable by its owner only, and another program reads the same users`() async throws {
        let store = try GatehouseStore.open(folder: folder)
        try await store.add([try row("ann", groups: ["g"], hash: "h", cost: "c")], to: "r")
        let path = "\(folder)/\(GatehouseStore.fileName)"
        for file in [path, "\(path)-wal", "\(path)-shm"] {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        let other = try GatehouseStore.open(folder: folder)
        #expect(try await other.user(try name("ann"), in: "r")?.record.groups == ["g"])
        try await other.remove(try name("ann"), from: "r")
        #expect(try await store.user(try name("ann"), in: "r") == nil)
    }

    @Test func `opening for reading creates no file`() async throws {
        let store = try GatehouseStore.openExisting(folder: folder)
        #expect(try await store.users(of: "r").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `a store of a newer version is not changed`() async throws {
        _ = try GatehouseStore.open(folder: folder)
        let queue = try DatabaseQueue(path: "\(folder)/\(GatehouseStore.fileName)")
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of tomorrow')") }
        try queue.close()
        #expect(throws: StoreFault(.tooNew, "")) { _ = try GatehouseStore.open(folder: folder) }
    }

    @Test func `a file that is not a store is rejected and stays as it is`() throws {
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let path = "\(folder)/\(GatehouseStore.fileName)"
        let bytes = Data("this is not a database\n".utf8)
        try bytes.write(to: URL(filePath: path))
        #expect(throws: StoreFault(.unavailable, "")) { _ = try GatehouseStore.open(folder: folder) }
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }

    @Test(arguments: [
        (ResultCode.SQLITE_FULL, "full; remove files there, or enlarge the file system"),
        (.SQLITE_READONLY, "full; mount the file system writable, or set state in the server block to another folder"),
        (.SQLITE_CORRUPT, "full"),
    ])
    func `an error of the file system says what to do`(code: ResultCode, end: String) {
        let fault = StoreFault(DatabaseError(resultCode: code, message: "full"), path: "none/gatehouse.sqlite")
        #expect(fault.description == "the store none/gatehouse.sqlite cannot be used: \(end)")
    }

    @Test func `a folder that other users may write to is rejected`() throws {
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o777]
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
        #expect(throws: StoreFault(.unavailable, "")) { _ = try GatehouseStore.open(folder: folder) }
    }

    @Test(arguments: [true, false])
    func `a store whose file was removed or replaced throws at every use`(isReplaced: Bool) async throws {
        let store = try GatehouseStore.open(folder: folder)
        try await store.add([try row("ann", hash: "h", cost: "c")], to: "r")
        let path = "\(folder)/\(GatehouseStore.fileName)"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        if isReplaced { try FileManager.default.copyItem(atPath: path + ".old", toPath: path) }
        await #expect(throws: StoreFault(.unavailable, "")) { try await store.login(try name("ann"), in: "r") }
        await #expect(throws: StoreFault(.unavailable, "")) { try await store.remove(try name("ann"), from: "r") }
        await #expect(throws: StoreFault(.unavailable, "")) { try await store.changes(in: "r", after: 0) }
        await #expect(throws: (any Error).self) { try await store.clear(.all) }
    }

    @Test func `a cost without a hash does not prevent logins`() async throws {
        let store = try GatehouseStore.open(folder: folder)
        try await store.add([try row("ann", hash: "h", cost: "c")], to: "r")
        let queue = try DatabaseQueue(path: "\(folder)/\(GatehouseStore.fileName)")
        try await queue.write { database in
            try database.execute(
                sql: "INSERT INTO users (realm, name, cost) VALUES ('r', 'bob', 'b'), ('r', ' x', NULL)"
            )
        }
        try queue.close()
        #expect(try await store.login(try name("ann"), in: "r").costs.map(\.cost) == ["c"])
        #expect(try await store.users(of: "r").map(\.record.name.text) == ["ann", "bob"])
    }
}

extension GatehouseStore {
    /// Opens a store as a program that only reads.
    static func openExisting(folder: String) throws(StoreFault) -> GatehouseStore {
        try LazyStore(folder: folder, access: .existingOnly).store()
    }

    fileprivate func add(
        _ users: [NewUser],
        to realm: String,
        ignoringCase ignoresCase: Bool = false
    ) async throws(StoreFault) {
        try await add(to: realm, ignoringCase: ignoresCase) { add throws(StoreFault) in try add(users) }
    }
}
