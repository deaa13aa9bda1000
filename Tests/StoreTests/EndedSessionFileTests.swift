// SPDX-License-Identifier: Apache-2.0

import Files
import Foundation
import Glibc
import Sessions
import Synchronization
import Testing

@testable import Store

/// Tests of the file for ended sessions on disks that fail.
@Suite struct EndedSessionFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-ended-\(UUID())").path
    private let disk = FaultyDisk()
    private var path: String { "\(folder)/\(EndedSessionFile.fileName)" }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func id(_ number: Int) throws -> SessionID {
        let digits = "\(number)"
        return try #require(SessionID(String(repeating: "A", count: 21 - digits.count) + digits + "A"))
    }

    /// Returns the IDs that another process would read from the file.
    private func storedIDs() async throws -> Set<SessionID> { try await EndedSessionFile(path).read() }

    @Test func `a failed write can be repeated, and does not use up a line`() async throws {
        let file = EndedSessionFile(path, calls: disk.calls)
        try await file.prepare()
        disk.setFailing(writes: true)
        for _ in 0..<3000 {
            await #expect(throws: StoreFault(.unavailable, "")) { try await file.add([try id(1)]) }
        }
        disk.setFailing()
        try await file.add([try id(1)])
        try await file.add(try (2...EndedSessionFile.capacity).map { try id($0) })
        #expect(try await storedIDs() == Set(try (1...EndedSessionFile.capacity).map { try id($0) }))
        // A removal that cannot be written does not use up a line.
        disk.setFailing(writes: true)
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.remove([try id(1), try id(2)]) }
        disk.setFailing()
        try await file.add([try id(5001), try id(5002)])
        #expect(try await storedIDs().isSuperset(of: [try id(5001), try id(5002)]))
    }

    @Test func `a pipe or a folder instead of the file is rejected without blocking`() async throws {
        #expect(unsafe mkfifo(path, 0o600) == 0)
        await #expect(throws: StoreFault(.unavailable, "")) { _ = try await EndedSessionFile(path).read() }
        await #expect(throws: StoreFault(.unavailable, "")) { try await EndedSessionFile(path).prepare() }
        #expect(unsafe unlink(path) == 0)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        await #expect(throws: StoreFault(.unavailable, "")) { try await EndedSessionFile(path).prepare() }
    }

    @Test func `IDs that could not be synced are written again`() async throws {
        let file = EndedSessionFile(path, calls: disk.calls)
        try await file.prepare()
        // As on Linux, the error is reported once, and the data that was not written is lost.
        disk.loseAtNextSync(path)
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.add([try id(1), try id(2)]) }
        #expect(try await storedIDs().isEmpty)
        try await file.add([try id(1)])
        #expect(try await storedIDs() == [try id(1), try id(2)])
        // IDs that are on the disk are not written again.
        let writes = disk.writes
        try await file.add([try id(1), try id(2)])
        #expect(disk.writes == writes)
    }

    @Test func `free lines that could not be synced are written again`() async throws {
        let file = EndedSessionFile(path, calls: disk.calls)
        disk.loseAtNextSync(path)
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.prepare() }
        let writes = disk.writes
        try await file.prepare()
        #expect(disk.writes == writes + EndedSessionFile.capacity)
    }

    @Test(arguments: ["removed", "replaced", "emptied"])
    func `IDs are not written to a file that was replaced`(damage: String) async throws {
        let file = EndedSessionFile(path, calls: disk.calls)
        try await file.add([try id(1)])
        switch damage {
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
        // The new file also contains the earlier IDs.
        #expect(
            try await storedIDs() == Set(try [1, 2].map { try id($0) } + (damage == "replaced" ? [try id(7)] : []))
        )
        try await file.remove([try id(1), try id(2)])
        #expect(try await storedIDs() == Set(damage == "replaced" ? [try id(7)] : []))
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(size == 23 * EndedSessionFile.capacity)
    }

    @Test func `an ID is rejected if the file is no longer a regular file`() async throws {
        let file = EndedSessionFile(path, calls: disk.calls)
        try await file.add([try id(1)])
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".old")
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.add([try id(2)]) }
        try FileManager.default.removeItem(atPath: path)
        try await file.add([try id(2)])
        #expect(try await storedIDs() == [try id(1), try id(2)])
    }

    @Test func `the folder is synced after the file is created, and a failed sync is an error`() async throws {
        let file = EndedSessionFile(path, calls: disk.calls)
        disk.setFailing(folders: true)
        await #expect(throws: StoreFault(.unavailable, "")) { try await file.prepare() }
        #expect(disk.folders == 1)
        disk.setFailing()
        try await file.prepare()
        try await file.add([try id(1)])
        try await file.add([try id(2)])
        #expect(disk.folders == 2)
    }
}

/// A disk on which a test can make writes and syncs fail.
private final class FaultyDisk: Sendable {
    private struct State {
        var failsWrites = false
        var failsFolders = false
        var losing: String?
        var writes = 0
        var folders = 0
    }

    private let state = Mutex(State())

    /// The number of attempted writes.
    var writes: Int { state.withLock { $0.writes } }
    /// The number of times that a folder was synced.
    var folders: Int { state.withLock { $0.folders } }

    func setFailing(writes: Bool = false, folders: Bool = false) {
        state.withLock { state in
            state.failsWrites = writes
            state.failsFolders = folders
        }
    }

    /// Makes the next sync of a file fail.
    ///
    /// The file then loses its contents.
    func loseAtNextSync(_ path: String) { state.withLock { $0.losing = path } }

    var calls: EndedSessionFile.SystemCalls {
        let real = EndedSessionFile.SystemCalls()
        var calls = real
        calls.write = { [self] (file, bytes, offset) throws(SystemError) in
            let fails = state.withLock { state in
                state.writes += 1
                return state.failsWrites
            }
            guard fails else { return try real.write(file, bytes, offset) }
            // A part of the bytes is written before the error.
            try real.write(file, Array(bytes.prefix(7)), offset)
            throw SystemError(number: ENOSPC)
        }
        calls.sync = { [self] file throws(SystemError) in
            let isLost = state.withLock { state in
                defer { state.losing = nil }
                return state.losing != nil
            }
            guard isLost else { return try real.sync(file) }
            try real.write(file, [UInt8](repeating: UInt8(ascii: "."), count: 23 * EndedSessionFile.capacity), 0)
            throw SystemError(number: EIO)
        }
        calls.syncFolder = { [self] folder throws(SystemError) in
            let fails = state.withLock { state in
                state.folders += 1
                return state.failsFolders
            }
            guard !fails else { throw SystemError(number: EIO) }
            try real.syncFolder(folder)
        }
        return calls
    }
}
