// SPDX-License-Identifier: Apache-2.0

import Files
import Glibc
import Testing

/// Opening, reading and writing files.
struct OpenFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("file") }
    private let large = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

    init() throws { folder = try TemporaryFolder() }

    @Test func `a file is read to its end, to a limit, or from an offset`() throws {
        try folder.write(path, large)
        #expect(try OpenFile(path, .reading).bytes(atMost: 1 << 20) == large)
        #expect(try OpenFile(path, .stream).bytes(atMost: 70_000) == Array(large.prefix(70_000)))
        let file = try OpenFile(path, .readingWithoutLink)
        #expect(try file.part(ofAtMost: 10, at: 199_995) == Array(large.suffix(5)))
        #expect(try file.part(ofAtMost: 10, at: 200_000) == [])
        #expect(try file.part(ofAtMost: 10) == Array(large.prefix(10)))
        try file.rewind()
        let filled = try [UInt8](capacity: 300_000) { (output) throws(SystemError) in try file.fill(&output) }
        #expect(filled == large)
    }

    @Test func `bytes are written at the end, at an offset, or not at all`() throws {
        try folder.write(path, Array("abc".utf8))
        try OpenFile(path, .appending).write(Array("def".utf8))
        let file = try OpenFile(path, .own)
        try file.write(Array("B".utf8), at: 1)
        #expect(try folder.bytes("file") == Array("aBcdef".utf8))
        try file.truncate(to: 2)
        #expect(try file.status().size == 2)
        try file.sync()
        try file.syncContents()
        #expect(throws: SystemError(number: EBADF)) { try OpenFile(path, .reading).write([0x20]) }
        #expect(throws: SystemError(number: ENOSPC)) { try OpenFile("/dev/full", .appending).write([0x20]) }
    }

    @Test func `a new file has its mode, and an existing one is not overwritten`() throws {
        _ = try OpenFile(path, .new(0o600))
        #expect(try FileStatus(of: path).mode == 0o600)
        #expect(throws: SystemError(number: EEXIST)) { try OpenFile(path, .new(0o600)) }
        _ = try OpenFile(folder.file("own"), .own)
        #expect(try FileStatus(of: folder.file("own")).mode == 0o600)
    }

    @Test func `a symbolic link is followed only where a file is read`() throws {
        try folder.write(path, [0x61])
        let link = folder.file("link")
        #expect(unsafe symlink(path, link) == 0)
        #expect(try OpenFile(link, .reading).bytes(atMost: 9) == [0x61])
        #expect(throws: SystemError(number: ELOOP)) { try OpenFile(link, .readingWithoutLink) }
        #expect(throws: SystemError(number: ELOOP)) { try OpenFile(link, .own) }
        #expect(throws: SystemError(number: EEXIST)) { try OpenFile(link, .new(0o600)) }
        #expect(try FileStatus(ofLink: link).isLink)
        #expect(try FileStatus(of: link).identity == FileStatus(of: path).identity)
    }

    @Test func `a stamp changes with the file`() throws {
        #expect(FileStamp(of: path) == nil)
        try folder.write(path, [0x61])
        let stamp = try #require(FileStamp(of: path))
        #expect(FileStamp(of: path) == stamp)
        #expect(stamp.isUnsettled(at: stamp.changed + 1) && !stamp.isUnsettled(at: stamp.changed + 2_000_000_000))
        try OpenFile(path, .appending).write([0x62])
        #expect(FileStamp(of: path) != stamp)
    }

    @Test func `the folders of a path are made, and what exists stays`() throws {
        #expect(FilePath.parts("/a//b/c") == ["/a", "/a/b", "/a/b/c"])
        #expect(FilePath.parts("a/b") == ["a", "a/b"])
        #expect(FilePath.parts("/") == [])
        #expect(FilePath.split("/a/b") == ("/a", "b") && FilePath.split("/a") == ("/", "a"))
        #expect(FilePath.split("a") == (".", "a"))
        #expect(try FilePath.makeFolder(folder.file("a"), mode: 0o700))
        #expect(try !FilePath.makeFolder(folder.file("a"), mode: 0o700))
        #expect(try !FilePath.makeFolder("/", mode: 0o700))
        #expect(throws: SystemError(number: ENOENT)) { try FilePath.makeFolder(folder.file("b/c"), mode: 0o700) }
        try folder.write(path)
        #expect(try !FilePath.makeFolder(path, mode: 0o700))
        #expect(throws: SystemError(number: ENOENT)) { try FilePath.resolve(folder.file("none")) }
        #expect(SystemError(number: ENOENT).description == "No such file or directory")
    }
}

/// A new folder in /tmp, removed with this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var name = Array("/tmp/gatehouse-trust-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&name) != nil)
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        unsafe chmod(path, 0o755)
    }

    deinit { unsafe system("rm -rf '\(path)'") }

    func write(_ file: String, _ bytes: [UInt8] = []) throws { try OpenFile(file, .new(0o600)).write(bytes) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func bytes(_ name: String) throws -> [UInt8] { try OpenFile(file(name), .reading).bytes(atMost: 1 << 20) }
}
