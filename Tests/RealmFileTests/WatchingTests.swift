// SPDX-License-Identifier: Apache-2.0

import Files
import Foundation
import RealmKit
import Synchronization
import Testing

@testable import RealmFile

struct WatchingTests {
    private let folder: TemporaryFolder
    private let clock = ManualWallClock()
    private let log = RecordedLog()

    init() throws { folder = try TemporaryFolder() }

    private func start(_ text: String, groups: String? = nil) throws -> FileRealm {
        try folder.write(text)
        if let groups { try folder.write(groups, to: "groups") }
        return try FileRealm.make(folder, groups: groups == nil ? nil : "groups", log: log, clock: clock)
    }

    /// Replaces a file by a new one, as editors do.
    private func replace(_ text: String, _ name: String = "users") throws {
        try folder.write(text, to: "fresh")
        #expect(unsafe rename(folder.file("fresh"), folder.file(name)) == 0)
    }

    /// Sets the clock to the time at which a file was last written.
    ///
    /// On a busy machine some time may have passed since then.
    private func setClockToWriting(_ name: String = "users") throws {
        clock.set(try #require(FileStamp(of: folder.file(name))).changed)
    }

    private func names(_ changed: ChangedUsers) -> [String]? {
        guard case .some(let users) = changed else { return nil }
        return users.map(\.text).sorted()
    }

    @Test func `a refresh reports no users if the file has not changed`() async throws {
        let realm = try start("ann;\(KnownHashes.ssha);a\n")
        #expect(await realm.refresh() == .none)
        #expect(await realm.refresh() == .none)
    }

    @Test func `every removed or changed user is reported once`() async throws {
        let realm = try start(
            "gone;\(KnownHashes.ssha);a\nhash;\(KnownHashes.ssha);a\ngroups;\(KnownHashes.ssha);a\noff;\(KnownHashes.ssha);a\nsame;\(KnownHashes.ssha);a\n"
        )
        try replace(
            "new;\(KnownHashes.ssha);a\nsame;\(KnownHashes.ssha);a\nhash;\(KnownHashes.lilac);a\ngroups;\(KnownHashes.ssha);b\noff;!\(KnownHashes.ssha);a\n"
        )
        #expect(names(await realm.refresh()) == ["gone", "groups", "hash", "off"])
        #expect(await realm.refresh() == .none)
        #expect(realm.listing == ["new: a", "same: a", "hash: a", "groups: b", "!off: a"])
    }

    @Test func `a user whose name is spelled in another case now is reported as changed`() async throws {
        let clock = ManualWallClock()
        try folder.write("kim;\(KnownHashes.ssha);a\n")
        let realm = try FileRealm.make(folder, ["case-sensitive": .boolean(false)], clock: clock)
        try folder.write("Kim;\(KnownHashes.ssha);a\n")
        clock.advance(seconds: 10)
        #expect(await realm.refresh() == .some([try Username("kim")]))
    }

    @Test func `a change that a lookup has already read is still reported by the next refresh`() async throws {
        let realm = try start("ann;\(KnownHashes.ssha);a\n")
        try replace("bob;\(KnownHashes.ssha);a\n")
        #expect(try await realm.groupNames(of: Username("bob")) == ["a"])
        #expect(names(await realm.refresh()) == ["ann"])
    }

    @Test func `a change of the group file is read, and its users are reported as changed`() async throws {
        let realm = try start("ann:\(KnownHashes.ssha)\nbob:\(KnownHashes.ssha)\n", groups: "a: ann bob\n")
        try replace("a: bob\n", "groups")
        #expect(names(await realm.refresh()) == ["ann"])
        #expect(realm.listing == ["ann: ", "bob: a"])
    }

    /// The arguments are the kind of damage and the beginning of the message.
    @Test(arguments: [
        ("missing", "users: No such file"), ("writable", "users: every user of this machine may write"),
        ("nul", "users:2: it is not a text file"), ("format", "users: it is an htpasswd file (user:hash) now"),
        ("mixed", "users:2: this line is in the format of"), ("folder", "users: it is not a regular file"),
        ("long", "users: it is longer than 64 MiB"),
    ])
    func `while the file is unusable, the realm keeps the previous users and logs one error`(
        damage: String,
        message: String
    ) async throws {
        let realm = try start("ann;\(KnownHashes.ssha);a\n")
        try damageFile(damage)
        for _ in 0..<3 {
            #expect(try await realm.groupNames(of: Username("ann")) == ["a"])
            #expect(await realm.refresh() == .none)
            clock.advance(seconds: 1)
        }
        await #expect(throws: RealmError.unavailable("")) { try await realm.users() }
        await #expect(throws: RealmError.unavailable("")) { try await realm.add(UserRecord(Username("x")), hash: nil) }
        let entries = log.entries.map { $0.replacingOccurrences(of: folder.path + "/", with: "") }
        #expect(entries.count == 1)
        #expect(entries.first?.hasPrefix("error: \(message)") == true)
        #expect(entries.first?.hasSuffix("; the previous users are kept") == true)
        try? FileManager.default.removeItem(atPath: folder.file("users"))
        try replace("ann;\(KnownHashes.ssha);b\n")
        #expect(names(await realm.refresh()) == ["ann"])
        #expect(log.entries.last == "notice: \(folder.file("users")): it can be read again")
        #expect(log.entries.count == 2)
    }

    private func damageFile(_ damage: String) throws {
        switch damage {
        case "missing": try FileManager.default.removeItem(atPath: folder.file("users"))
        case "writable": try folder.write("ann;\(KnownHashes.ssha);admins\n", mode: 0o666)
        case "nul": try folder.write("ann;\(KnownHashes.ssha);b\n\0\n")
        case "format": try folder.write("ann:\(KnownHashes.ssha)\n")
        case "mixed": try folder.write("ann;\(KnownHashes.ssha);b\nbob:\(KnownHashes.ssha)\n")
        case "folder":
            try FileManager.default.removeItem(atPath: folder.file("users"))
            try FileManager.default.createDirectory(atPath: folder.file("users"), withIntermediateDirectories: true)
        default: unsafe truncate(folder.file("users"), 65 << 20)
        }
    }

    @Test func `a warning about the mode is logged once when the file is read again`() async throws {
        let text = "ann;\(KnownHashes.ssha);a\n"
        let realm = try start(text)
        unsafe chmod(folder.path, 0o755)
        for (mode, count) in [(0o644, 1), (0o644, 1), (0o600, 1), (0o644, 2)] as [(mode_t, Int)] {
            try folder.write(text, to: "fresh", mode: mode)
            #expect(unsafe rename(folder.file("fresh"), folder.file("users")) == 0)
            for _ in 0..<2 {
                #expect(await realm.refresh() == .none)
                clock.advance(seconds: 1)
            }
            #expect(log.entries.count == count, "\(log.entries)")
        }
        let warning = "every user of this machine may read the password hashes; chmod o-r "
        #expect(log.entries.allSatisfy { $0.hasPrefix("warning: ") && $0.contains(warning) }, "\(log.entries)")
    }

    @Test func `a file in an unsafe folder is not read until the folder is safe again`() async throws {
        let realm = try start("ann;\(KnownHashes.ssha);a\n")
        unsafe chmod(folder.path, 0o777)
        try replace("ann;\(KnownHashes.ssha);admins\n")
        #expect(try await realm.groupNames(of: Username("ann")) == ["a"])
        // The repair does not change the file itself.
        unsafe chmod(folder.path, 0o700)
        clock.advance(seconds: 1)
        #expect(try await realm.groupNames(of: Username("ann")) == ["admins"])
    }

    @Test func `no user is reported as changed while htpasswd writes a file that is empty for a moment`() async throws {
        clock.set(FileStamp.systemNow())
        let realm = try start("ann:\(KnownHashes.ssha)\nbob:\(KnownHashes.ssha)\n")
        try folder.write("")
        try setClockToWriting()
        #expect(await realm.refresh() == .none)
        #expect(realm.listing == ["ann: ", "bob: "])
        try folder.write("ann:\(KnownHashes.ssha)\nbob:{SS")
        try setClockToWriting()
        clock.advance(seconds: 0.3)
        #expect(await realm.refresh() == .none)
        #expect(realm.listing == ["ann: ", "bob: "])
        try folder.write("ann:\(KnownHashes.ssha)\nbob:\(KnownHashes.lilac)\n")
        try setClockToWriting()
        clock.advance(seconds: 0.6)
        #expect(await realm.refresh() == .none)
        clock.advance(seconds: 2)
        #expect(names(await realm.refresh()) == ["bob"])
    }

    @Test func `a change waits until another program has finished writing the file in place`() async throws {
        clock.set(FileStamp.systemNow())
        let realm = try start("ann:\(KnownHashes.ssha)\n")
        try folder.write("")
        try setClockToWriting()
        async let added: Void = realm.add(UserRecord(try Username("new")), hash: nil)
        // The clock does not advance, so the change has to wait for the complete file.
        try folder.write("ann:\(KnownHashes.ssha)\nbob:*\n")
        try await added
        #expect(try folder.text() == "ann:\(KnownHashes.ssha)\nbob:*\nnew:*\n")
    }

    @Test func `a file that stays empty is read as empty after a second`() async throws {
        clock.set(FileStamp.systemNow())
        let realm = try start("ann:\(KnownHashes.ssha)\n")
        try folder.write("")
        try setClockToWriting()
        #expect(await realm.refresh() == .none)
        clock.advance(seconds: 1.5)
        #expect(names(await realm.refresh()) == ["ann"])
        #expect(realm.listing == [])
    }

    @Test func `a recent change is read even if the file's stamp stays the same`() async throws {
        let realm = try start("ann;\(KnownHashes.ssha);a\n")
        // The state is set as if the file had been read and then written again within the same tick of the clock.
        let stamps = realm.files.settings.stamps()
        let written = try #require(stamps.first??.changed)
        try folder.write("ann;\(KnownHashes.ssha);b\n")
        let now = realm.files.settings.stamps()
        realm.files.state.withLock { state in
            state.checkedStamps = now
            state.checkedAt = written
            state.isSettled = false
        }
        clock.set(written + 300_000_000)
        #expect(try await realm.groupNames(of: Username("ann")) == ["b"])
    }

    @Test func `changes made through the realm are reported by the next refresh, but rehashes are not`() async throws {
        let realm = try start("ann;\(KnownHashes.ssha);a\nbob;\(KnownHashes.ssha);a\n")
        clock.set(FileStamp.systemNow())
        var changes = UserChanges()
        (changes.hash, changes.replacing) = (KnownHashes.lilac, KnownHashes.ssha)
        try await realm.files.apply(.change(try Username("ann"), changes), isRehash: true)
        #expect(await realm.refresh() == .none)
        try await realm.files.apply(.change(try Username("bob"), changes))
        #expect(names(await realm.refresh()) == ["bob"])
        changes.replacing = nil
        changes.hash = KnownHashes.glassfish
        try await realm.change(try Username("ann"), changes)
        #expect(names(await realm.refresh()) == ["ann"])
    }

    @Test func `concurrent reads return either the old or the new users, never a mixture`() async throws {
        let states = ["a", "b"].map { group in
            (0..<300).map { "u\($0);\(KnownHashes.ssha);\(group)\n" }.joined()
        }
        let realm = try start(states[0])
        let users = try (0..<300).map { try Username("u\($0)") }
        await withTaskGroup(of: Bool.self) { tasks in
            for _ in 0..<4 {
                tasks.addTask {
                    for _ in 0..<200 {
                        await realm.files.reload()
                        let table = realm.files.table
                        let groups = Set(users.compactMap { table[$0]?.groups.first })
                        if groups.count != 1 || table.users.count != 300 { return false }
                    }
                    return true
                }
            }
            for round in 0..<40 { try? replace(states[round % 2]) }
            for await isWhole in tasks { #expect(isWhole) }
        }
    }
}
