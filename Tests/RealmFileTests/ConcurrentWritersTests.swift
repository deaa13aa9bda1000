// SPDX-License-Identifier: Apache-2.0

import Files
import Foundation
import RealmKit
import Testing

@testable import RealmFile

/// Tests of concurrent writers in one or several processes, and of changes that fail.
struct ConcurrentWritersTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("filewriter").path

    /// Starts the helper program in a shell that first runs the command `limits`.
    private func spawn(_ words: [String], limits: String = ":") throws -> pid_t {
        let all = ["/bin/sh", "-c", "\(limits); exec \"$0\" \"$@\"", Self.program] + words
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_addopen(
            &actions,
            2,
            folder.file("errors"),
            O_WRONLY | O_CREAT | O_APPEND,
            0o600
        )
        var pointers = unsafe all.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        var process: pid_t = 0
        try #require(unsafe posix_spawn(&process, all[0], &actions, nil, &pointers, environ) == 0)
        return process
    }

    private func status(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status >> 8
    }

    @Test(arguments: ["-", "groups"])
    func `no change is lost if several processes change the same file at the same time`(groups: String) async throws {
        try folder.write(groups == "-" ? "# here\n" : "# here\nann:\(KnownHashes.ssha)\n")
        try folder.write("", to: "groups")
        let groupFile = groups == "-" ? "-" : folder.file("groups")
        let processes = try (0..<4).map { try spawn([folder.file("users"), groupFile, "many", "p\($0)x", "25"]) }
        for process in processes { #expect(status(process) == 0, "\((try? folder.text("errors")) ?? "")") }
        let realm = try FileRealm.make(folder, groups: groups == "-" ? nil : "groups")
        #expect(realm.warnings == [])
        for process in 0..<4 {
            for number in 0..<25 {
                let user = try Username("p\(process)x\(number)")
                #expect(try await Set(realm.groupNames(of: user)) == ["p\(process)x", "all"])
            }
        }
        #expect(realm.files.table.users.count == (groups == "-" ? 100 : 101))
        #expect(try folder.names.filter { $0.contains(".new-") } == [])
    }

    @Test func `no change is lost if several realms of one process change the same file at the same time`() async throws
    {
        try folder.write("# here\n")
        let realms = try (0..<3).map { _ in try FileRealm.make(folder) }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (index, realm) in realms.enumerated() {
                tasks.addTask {
                    for number in 0..<15 { try await realm.add(UserRecord(Username("r\(index)n\(number)")), hash: nil) }
                }
            }
            try await tasks.waitForAll()
        }
        for realm in realms { #expect(try await realm.users().count == 45) }
    }

    @Test func `the error of a timeout names the process that holds the lock`() throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n")
        let file = try FileSnapshot(reading: folder.file("users"))
        let lock = try FileLock(of: file.path, timeLimit: 0)
        withExtendedLifetime(lock) {
            let message = "\(file.path) is locked by process \(getpid()), which is changing it"
            let fault = #expect(throws: FileFault.self) { _ = try FileLock(of: file.path, timeLimit: 30_000_000) }
            #expect(fault?.description.hasPrefix(message) == true)
        }
    }

    @Test func `after the lock file is removed, the next writer locks a new lock file`() throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n")
        let file = try FileSnapshot(reading: folder.file("users"))
        let first = try FileLock(of: file.path, timeLimit: 0)
        try FileManager.default.removeItem(atPath: folder.file(".users.lock"))
        let second = try FileLock(of: file.path, timeLimit: 0)
        withExtendedLifetime((first, second)) {
            let fault = #expect(throws: FileFault.self) { _ = try FileLock(of: file.path, timeLimit: 30_000_000) }
            #expect(fault != nil)
        }
    }

    @Test func `a change on a full disk fails, and the file does not change`() async throws {
        var text = "# here\n"
        for number in 0..<40 { text += "user\(number);\(KnownHashes.ssha);users\n" }
        try folder.write(text)
        // The limit of 2 blocks stops every file at 1024 bytes.
        let process = try spawn([folder.file("users"), "-", "add", "ann", "a"], limits: "trap '' XFSZ; ulimit -f 2")
        #expect(status(process) == 1)
        #expect(try folder.text() == text)
        #expect(try folder.text("errors").contains("nothing is changed: cannot write"))
        #expect(try folder.names == [".users.lock", "errors", "users"])
    }

    @Test(.enabled(if: geteuid() == 0, "needs root to run a process as another user"))
    func `a process that may not write to the folder, or does not own the file, changes nothing`() async throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n", mode: 0o644)
        unsafe chmod(folder.path, 0o755)
        unsafe chown(folder.path, 65534, 65534)
        let words = [folder.file("users"), "-", "add", "bob", "a"]
        try folder.write("", to: "errors", mode: 0o666)
        // The writer owns the folder but not the file, so a replacement would change the owner of the file.
        let other = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        let process = try spawn(words, limits: "set -- \(other) \"$0\" \"$@\"; exec \"$@\"")
        #expect(status(process) == 1)
        #expect(try folder.text("errors").contains("cannot change the owner of"))
        #expect(try folder.text() == "ann;\(KnownHashes.ssha);a\n")
        unsafe chown(folder.path, 0, 0)
        try FileManager.default.removeItem(atPath: folder.file(".users.lock"))
        let second = try spawn(words, limits: "set -- \(other) \"$0\" \"$@\"; exec \"$@\"")
        #expect(status(second) == 1)
        #expect(try folder.text("errors").contains("cannot open the lock file"))
        #expect(try folder.text() == "ann;\(KnownHashes.ssha);a\n")
    }

    /// A change writes two files.
    ///
    /// Between the two writes, a user may only be in groups that are in both the old and the new list.
    @Test func `after a change that fails halfway, the user is only in groups of both the old and the new list`()
        async throws
    {
        try folder.write("ann:\(KnownHashes.ssha)\n")
        try folder.write("old: ann\nstays: ann\nnew:\n", to: "groups")
        let realm = try FileRealm.make(folder, groups: "groups")
        // A folder with the name of the temporary file stops the change after the first file.
        try FileManager.default.createDirectory(
            atPath: folder.file(".users.new-\(getpid())"),
            withIntermediateDirectories: true
        )
        var changes = UserChanges()
        (changes.groups, changes.hash) = (["stays", "new"], KnownHashes.lilac)
        await #expect(throws: RealmError.unavailable("")) { try await realm.change(try Username("ann"), changes) }
        #expect(try folder.text() == "ann:\(KnownHashes.ssha)\n")
        #expect(try folder.text("groups") == "old:\nstays: ann\nnew:\n")
        #expect(try await realm.groupNames(of: Username("ann")) == ["stays"])
        await #expect(throws: RealmError.unavailable("")) { try await realm.remove(try Username("ann")) }
        #expect(try folder.text("groups") == "old:\nstays: ann\nnew:\n")
    }
}
