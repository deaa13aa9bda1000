// SPDX-License-Identifier: Apache-2.0

import Files
import Glibc
import Testing

/// Files that are replaced, and the lock for it.
struct FileReplacementTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("file") }
    private var temporary: String { folder.file("temporary") }
    private var lockFile: String { folder.file("lock") }

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(path, Array("old".utf8))
    }

    private func replace(
        _ path: String,
        mode: mode_t = 0o640,
        folderSync: FileReplacement.FolderSync = .required
    ) throws(FileReplacement.Fault) {
        try FileReplacement.replace(
            path,
            with: Array("new".utf8),
            through: temporary,
            owner: (geteuid(), getegid()),
            mode: mode,
            folderSync: folderSync
        )
    }

    @Test(arguments: [FileReplacement.FolderSync.none, .attempted, .required])
    func `a file is replaced with its mode, and nothing else stays`(folderSync: FileReplacement.FolderSync) throws {
        try replace(path, folderSync: folderSync)
        #expect(try folder.bytes("file") == Array("new".utf8))
        #expect(try FileStatus(of: path).mode == 0o640)
        #expect(throws: SystemError(number: ENOENT)) { try FileStatus(ofLink: temporary) }
    }

    @Test func `a file that cannot be replaced stays, and the temporary file is removed`() throws {
        try FilePath.makeFolder(folder.file("folder"), mode: 0o700)
        let fault = #expect(throws: FileReplacement.Fault.self) { try replace(folder.file("folder")) }
        #expect(fault?.step == .rename && fault?.error == SystemError(number: EISDIR))
        #expect(throws: SystemError(number: ENOENT)) { try FileStatus(ofLink: temporary) }
        // The file of another writer is not removed.
        try folder.write(temporary)
        let other = #expect(throws: FileReplacement.Fault.self) { try replace(path) }
        #expect(other?.step == .create && other?.error == SystemError(number: EEXIST))
        #expect(try FileStatus(ofLink: temporary).isRegular)
        #expect(try folder.bytes("file") == Array("old".utf8))
    }

    private func lock(milliseconds: Int = 30) throws(FileLock.Fault) -> FileLock {
        try FileLock(lockFile, owner: nil, timeLimit: milliseconds * 1_000_000)
    }

    @Test func `one writer holds the lock, and the others learn which`() throws {
        let first = try lock()
        try withExtendedLifetime(first) {
            let fault = #expect(throws: FileLock.Fault.self) { try lock() }
            guard case .isHeld("process \(getpid())") = fault else { throw try #require(fault) }
            #expect(try !OpenFile(lockFile, .own).tryLock(.shared))
        }
        #expect(try FileStatus(of: lockFile).mode == 0o600)
    }

    @Test func `a lock that comes after the deadline is released again`() throws {
        var first: FileLock? = try lock()
        for _ in 0..<3 { #expect(throws: FileLock.Fault.self) { try lock(milliseconds: 0) } }
        withExtendedLifetime(first) {}
        first = nil
        _ = try lock(milliseconds: 10_000)
    }

    @Test func `two programs may share a lock`() throws {
        let (first, second) = (try OpenFile(lockFile, .own), try OpenFile(lockFile, .own))
        #expect(try first.tryLock(.shared) && second.tryLock(.shared))
        #expect(try !second.tryLock(.exclusive))
        withExtendedLifetime((first, second)) {}
        #expect(throws: SystemError(number: EBADF)) { try OpenFile(owning: -1).tryLock(.exclusive) }
    }
}
