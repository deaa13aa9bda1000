// SPDX-License-Identifier: Apache-2.0

import Files
import Glibc
import Testing

/// Files that are read as a whole.
struct FileContentsTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("file") }

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(path, Array("abc".utf8))
    }

    private func read(
        _ name: String = "file",
        as use: FileTrust.Use? = .users,
        limit: Int = 3,
        mayGrow: Bool = false
    ) throws(UnreadableFile) -> [UInt8] {
        try FileContents(folder.file(name), as: use, limit: limit, mayGrow: mayGrow).bytes
    }

    @Test(arguments: [true, false]) func `a file may be as long as the limit`(mayGrow: Bool) throws {
        #expect(try read(mayGrow: mayGrow) == Array("abc".utf8))
        #expect(throws: UnreadableFile.tooLong(limit: 2)) { try read(limit: 2, mayGrow: mayGrow) }
        #expect(UnreadableFile.tooLong(limit: 2 << 20).reason == "it is longer than 2 MiB")
        #expect(try FileContents(path, as: .users, limit: 3, mayGrow: mayGrow).stamp == FileStamp(of: path))
    }

    @Test func `a pipe, a folder and a missing file are refused without waiting`() throws {
        #expect(unsafe mkfifo(folder.file("pipe"), 0o600) == 0)
        #expect(throws: UnreadableFile.notRegular(isFolder: false)) { try read("pipe") }
        #expect(throws: UnreadableFile.notRegular(isFolder: true)) { try read("") }
        #expect(throws: UnreadableFile.system(SystemError(number: ENOENT))) { try read("none") }
        let fault = UnreadableFile.notRegular(isFolder: true)
        #expect(FileFault("users", unreadable: fault).description == "users: it is not a regular file")
    }

    @Test func `a file that grows or shrinks while it is read is refused, or read to its end`() throws {
        let (file, status) = try OpenFile.regular(path)
        try OpenFile(path, .appending).write([0x64])
        #expect(throws: UnreadableFile.beingWritten) { try file.contents(of: status, limit: 3) }
        try file.rewind()
        try OpenFile(path, .own).truncate(to: 2)
        #expect(throws: UnreadableFile.beingWritten) { try file.contents(of: status, limit: 3) }
        // The size of a file of the kernel is 0.
        let file2 = try FileContents("/proc/self/stat", as: nil, limit: 1 << 20, mayGrow: true)
        #expect(!file2.bytes.isEmpty)
    }

    @Test func `a file that every user may change is refused if its use says so`() throws {
        unsafe chmod(path, 0o606)
        let fault = #expect(throws: UnreadableFile.self) { try read() }
        #expect(fault.map { FileFault(path, unreadable: $0).description } == fault?.reason)
        #expect(fault?.reason == "\(path): every user of this machine may write to it; chmod o-w \(path)")
        #expect(try read(as: nil) == Array("abc".utf8))
        let warnings = try FileContents(path, as: .settings, limit: 3, mayGrow: false).warnings
        #expect(warnings == [fault?.reason])
    }
}
