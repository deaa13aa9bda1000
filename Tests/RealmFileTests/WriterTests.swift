// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import RealmKit
import Testing

@testable import RealmFile

/// Concurrent writers, in one process and in several, and changes that fail.
struct WriterTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("filewriter").path

    /// Starts the helper program from a shell, which may set limits first.
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
    func `processes that change the same file at the same time lose no change`(groups: String) async throws {
        try folder.write(groups == "-" ? "# here\n" : "# here\nann:\(Known.ssha)\n")
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

    @Test func `realms of one process that change the same file at the same time lose no change`() async throws {
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

    @Test func `a wait for the lock that times out names the process that holds it`() throws {
        try folder.write("ann;\(Known.ssha);a\n")
        let file = try FileSnapshot(reading: folder.file("users"))
        let lock = try FileLock(of: file.path, timeLimit: 0)
        withExtendedLifetime(lock) {
            let message = "\(file.path) is locked by process \(getpid()), which is changing it"
            let fault = #expect(throws: FileFault.self) { _ = try FileLock(of: file.path, timeLimit: 30_000_000) }
            #expect(fault?.description.hasPrefix(message) == true)
        }
    }

    @Test func `after the lock file is removed the next writer locks a new one`() throws {
        try folder.write("ann;\(Known.ssha);a\n")
        let file = try FileSnapshot(reading: folder.file("users"))
        let first = try FileLock(of: file.path, timeLimit: 0)
        try FileManager.default.removeItem(atPath: folder.file(".users.lock"))
        let second = try FileLock(of: file.path, timeLimit: 0)
        withExtendedLifetime((first, second)) {
            let fault = #expect(throws: FileFault.self) { _ = try FileLock(of: file.path, timeLimit: 30_000_000) }
            #expect(fault != nil)
        }
    }

    @Test func `a full disk changes nothing, and the message names the write that failed`() async throws {
        var text = "# here\n"
        for number in 0..<40 { text += "user\(number);\(Known.ssha);users\n" }
        try folder.write(text)
        // No file may become longer than 2 blocks of 512 bytes.
        let process = try spawn([folder.file("users"), "-", "add", "ann", "a"], limits: "trap '' XFSZ; ulimit -f 2")
        #expect(status(process) == 1)
        #expect(try folder.text() == text)
        #expect(try folder.text("errors").contains("nothing is changed: cannot write"))
        #expect(try folder.names == [".users.lock", "errors", "users"])
    }

    @Test(.enabled(if: geteuid() == 0, "needs root, to run as another user"))
    func `without write permission on the folder, or ownership of the file, nothing is changed`() async throws {
        try folder.write("ann;\(Known.ssha);a\n", mode: 0o644)
        unsafe chmod(folder.path, 0o755)
        unsafe chown(folder.path, 65534, 65534)
        let words = [folder.file("users"), "-", "add", "bob", "a"]
        try folder.write("", to: "errors", mode: 0o666)
        // The writer owns the folder but not the file: a replacement would change the file's owner.
        let other = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        let process = try spawn(words, limits: "set -- \(other) \"$0\" \"$@\"; exec \"$@\"")
        #expect(status(process) == 1)
        #expect(try folder.text("errors").contains("cannot give"))
        #expect(try folder.text() == "ann;\(Known.ssha);a\n")
        unsafe chown(folder.path, 0, 0)
        try FileManager.default.removeItem(atPath: folder.file(".users.lock"))
        let second = try spawn(words, limits: "set -- \(other) \"$0\" \"$@\"; exec \"$@\"")
        #expect(status(second) == 1)
        #expect(try folder.text("errors").contains("cannot open the lock file"))
        #expect(try folder.text() == "ann;\(Known.ssha);a\n")
    }

    /// A change writes two files; between the two writes a user may have only groups of both states.
    @Test func `a change that fails half-way leaves only memberships that are in both states`() async throws {
        try folder.write("ann:\(Known.ssha)\n")
        try folder.write("old: ann\nstays: ann\nnew:\n", to: "groups")
        let realm = try FileRealm.make(folder, groups: "groups")
        // A folder in the place where the user file's new contents would be written stops the change in the middle.
        try FileManager.default.createDirectory(
            atPath: folder.file(".users.new-\(getpid())"),
            withIntermediateDirectories: true
        )
        var changes = UserChanges()
        (changes.groups, changes.hash) = (["stays", "new"], Known.lilac)
        await #expect(throws: RealmError.unavailable("")) { try await realm.change(try Username("ann"), changes) }
        #expect(try folder.text() == "ann:\(Known.ssha)\n")
        #expect(try folder.text("groups") == "old:\nstays: ann\nnew:\n")
        #expect(try await realm.groupNames(of: Username("ann")) == ["stays"])
        await #expect(throws: RealmError.unavailable("")) { try await realm.remove(try Username("ann")) }
        #expect(try folder.text("groups") == "old:\nstays: ann\nnew:\n")
    }
}
