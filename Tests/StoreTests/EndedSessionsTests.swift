// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import Glibc
import Sessions
import Synchronization
import Testing

@testable import Store

/// The file in which ends are noted, on disks that fail.
@Suite struct EndedSessionsTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-ended-\(UUID())").path
    private let disk = Disk()
    private var path: String { "\(folder)/\(EndedSessions.fileName)" }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func id(_ number: Int) throws -> SessionID {
        let digits = "\(number)"
        return try #require(SessionID(String(repeating: "A", count: 21 - digits.count) + digits + "A"))
    }

    /// The names that another program finds.
    private func found() async throws -> Set<SessionID> { try await EndedSessions(path).read() }

    @Test func `failed writes lose no line, and can be repeated`() async throws {
        let file = EndedSessions(path, calls: disk.calls)
        try await file.prepare()
        disk.fails(writes: true)
        for _ in 0..<3000 {
            await #expect(throws: StoreFault(.unavailable, "")) { try await file.add([try id(1)]) }
        }
        disk.fails()
        try await file.add([try id(1)])
        try await file.add(try (2...EndedSessions.room).map { try id($0) })
        #expect(try await found() == Set(try (1...EndedSessions.room).map { try id($0) }))
        // Nor does one that cannot be freed in the file.
        disk.fails(writes: true)
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.remove([try id(1), try id(2)]) }
        disk.fails()
        try await file.add([try id(5001), try id(5002)])
        #expect(try await found().isSuperset(of: [try id(5001), try id(5002)]))
    }

    @Test func `a pipe or a folder in place of the file is refused without blocking`() async throws {
        #expect(unsafe mkfifo(path, 0o600) == 0)
        await #expect(throws: StoreFault(.unavailable, "")) { _ = try await EndedSessions(path).read() }
        await #expect(throws: StoreFault(.unavailable, "")) { try await EndedSessions(path).prepare() }
        #expect(unsafe unlink(path) == 0)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        await #expect(throws: StoreFault(.unavailable, "")) { try await EndedSessions(path).prepare() }
    }

    @Test func `what could not be synced is written again`() async throws {
        let file = EndedSessions(path, calls: disk.calls)
        try await file.prepare()
        // As Linux does: the fault is told once, and what was to be written is dropped.
        disk.losesNext(path)
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.add([try id(1), try id(2)]) }
        #expect(try await found().isEmpty)
        try await file.add([try id(1)])
        #expect(try await found() == [try id(1), try id(2)])
        // What is on the disk is not written again.
        let writes = disk.writes
        try await file.add([try id(1), try id(2)])
        #expect(disk.writes == writes)
    }

    @Test func `room that could not be synced is made again`() async throws {
        let file = EndedSessions(path, calls: disk.calls)
        disk.losesNext(path)
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.prepare() }
        let writes = disk.writes
        try await file.prepare()
        #expect(disk.writes == writes + EndedSessions.room)
    }

    @Test(arguments: ["removed", "replaced", "emptied"])
    func `notes are not written to a file that was replaced`(what: String) async throws {
        let file = EndedSessions(path, calls: disk.calls)
        try await file.add([try id(1)])
        switch what {
        case "removed": try FileManager.default.removeItem(atPath: path)
        case "replaced":
            try Data("\(try id(7))\n".utf8).write(to: URL(filePath: path + ".new"))
            let renamed = unsafe rename(path + ".new", path)
            #expect(renamed == 0)
        default:
            let truncated = unsafe truncate(path, 0)
            #expect(truncated == 0)
        }
        try await file.add([try id(2)])
        // What had been noted before is there, too.
        #expect(try await found() == Set(try [1, 2].map { try id($0) } + (what == "replaced" ? [try id(7)] : [])))
        try await file.remove([try id(1), try id(2)])
        #expect(try await found() == Set(what == "replaced" ? [try id(7)] : []))
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(size == 23 * EndedSessions.room)
    }

    @Test func `a note is refused if the file is no longer a regular file`() async throws {
        let file = EndedSessions(path, calls: disk.calls)
        try await file.add([try id(1)])
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".old")
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.add([try id(2)]) }
        try FileManager.default.removeItem(atPath: path)
        try await file.add([try id(2)])
        #expect(try await found() == [try id(1), try id(2)])
    }

    @Test func `the folder is synced once after the file is made, and a failure to sync is an error`() async throws {
        let file = EndedSessions(path, calls: disk.calls)
        disk.fails(folders: true)
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.prepare() }
        #expect(disk.folders == 1)
        disk.fails()
        try await file.prepare()
        try await file.add([try id(1)])
        try await file.add([try id(2)])
        #expect(disk.folders == 2)
    }
}

/// A disk that can be told to fail.
private final class Disk: Sendable {
    private struct State {
        var failsWrites = false
        var failsFolders = false
        var losing: String?
        var writes = 0
        var folders = 0
    }

    private let state = Mutex(State())

    /// How many writes were tried.
    var writes: Int { state.withLock { $0.writes } }
    /// How often a folder was synced.
    var folders: Int { state.withLock { $0.folders } }

    func fails(writes: Bool = false, folders: Bool = false) {
        state.withLock { state in
            state.failsWrites = writes
            state.failsFolders = folders
        }
    }

    /// Has the next sync of a file fail, and everything in the file be lost.
    func losesNext(_ path: String) { state.withLock { $0.losing = path } }

    var calls: EndedSessions.Calls {
        let real = EndedSessions.Calls()
        var calls = EndedSessions.Calls()
        calls.write = { [self] descriptor, bytes, offset in
            let fails = state.withLock { state in
                state.writes += 1
                return state.failsWrites
            }
            guard fails else { return real.write(descriptor, bytes, offset) }
            errno = ENOSPC
            // Some of it may have been written.
            return real.write(descriptor, Array(bytes.prefix(7)), offset)
        }
        calls.sync = { [self] descriptor, isFolder in
            let (fails, lost) = state.withLock { state -> (Bool, String?) in
                defer { if !isFolder { state.losing = nil } }
                if isFolder { state.folders += 1 }
                return isFolder ? (state.failsFolders, nil) : (state.losing != nil, state.losing)
            }
            guard fails else { return real.sync(descriptor, isFolder) }
            if lost != nil {
                let dots = [UInt8](repeating: UInt8(ascii: "."), count: 23 * EndedSessions.room)
                _ = real.write(descriptor, dots, 0)
            }
            errno = EIO
            return -1
        }
        return calls
    }
}
