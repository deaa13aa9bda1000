// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What a file holds at a moment, and whose it is.
struct FileSnapshot: Sendable {
    /// The most bytes that are read: 64 MiB.
    static let maximumSize = 64 << 20

    /// Where the file really is, links resolved.
    let path: String
    let bytes: [UInt8]
    let stamp: FileStamp
    let owner: FileOwner

    /// Reads a file as a whole; one that everybody may change is refused.
    init(reading name: String) throws(FileFault) {
        guard let path = Self.resolve(name) else { throw .system(name) }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(name) }
        defer { close(descriptor) }
        // Looked at on the open descriptor, so that the file cannot be exchanged in between.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(name) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileFault("\(name): it is not a regular file") }
        self.path = path
        stamp = FileStamp(status)
        owner = FileOwner(status)
        try owner.checkTrust(of: path)
        bytes = try Self.bytes(of: descriptor, count: Int(status.st_size), name)
        var after = stat()
        guard unsafe fstat(descriptor, &after) == 0 else { throw .system(name) }
        // One that was replaced meanwhile has lost its name, which leaves a trace on it, but none in what was read.
        guard FileStamp(after) == stamp || after.st_nlink == 0 && FileStamp(after).modified == stamp.modified else {
            throw FileFault("\(name): it is being written")
        }
    }

    /// The folder the file is in.
    var folder: String { Self.split(path).folder }

    /// The path without links; nil, and errno, if there is no such file.
    static func resolve(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let name = String(path[path.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }

    private static func bytes(of descriptor: Int32, count: Int, _ name: String) throws(FileFault) -> [UInt8] {
        guard count <= maximumSize else { throw FileFault("\(name): it is longer than \(maximumSize >> 20) MiB") }
        var number: Int32 = 0
        // One byte more than there should be shows whether the file has grown.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count + 1) { buffer, filled in
            while filled < count + 1 {
                let room = count + 1 - filled
                let got = unsafe read(descriptor, buffer.baseAddress.map { unsafe $0 + filled }, room)
                if got < 0, errno == EINTR { continue }
                if got < 0 { number = errno }
                guard got > 0 else { return }
                filled += got
            }
        }
        guard number == 0 else { throw FileFault(name, number) }
        guard bytes.count == count else { throw FileFault("\(name): it is being written") }
        return bytes
    }
}
