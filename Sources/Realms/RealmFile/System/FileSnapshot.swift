// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc

/// The contents of a file at one moment, with its stamp and its permissions.
struct FileSnapshot: Sendable {
    /// The maximum size of a file, 64 MiB.
    static let maximumSize = 64 << 20

    /// The path with links resolved.
    let path: String
    let bytes: [UInt8]
    let stamp: FileStamp
    let permissions: FilePermissions
    /// The warnings about the owner and the mode of the file and of the folders above it.
    let trustWarnings: [String]

    /// Reads a whole file; throws if every user of the machine may change it.
    init(reading name: String, as use: FileTrust.Use = .users) throws(FileFault) {
        guard let path = Self.resolve(name) else { throw .system(name) }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(name) }
        defer { close(descriptor) }
        // The open descriptor is checked, so that the file cannot be replaced between the check and the read.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(name) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileFault("\(name): it is not a regular file") }
        self.path = path
        stamp = FileStamp(status)
        permissions = FilePermissions(status)
        trustWarnings = try FilePermissions.checkTrust(of: name, as: use, opened: status)
        bytes = try Self.bytes(of: descriptor, count: Int(status.st_size), name: name)
        var after = stat()
        guard unsafe fstat(descriptor, &after) == 0 else { throw .system(name) }
        // If the file was replaced during the read, its name was removed. That changes the ctime in its stamp, but not
        // its contents.
        guard FileStamp(after) == stamp || after.st_nlink == 0 && FileStamp(after).modified == stamp.modified else {
            throw FileFault("\(name): it is being written")
        }
    }

    /// The folder of the file.
    var folder: String { Self.split(path).folder }

    /// Returns the path with links resolved; nil, with errno set, if there is no such file.
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

    private static func bytes(of descriptor: Int32, count: Int, name: String) throws(FileFault) -> [UInt8] {
        guard count <= maximumSize else { throw FileFault("\(name): it is longer than \(maximumSize >> 20) MiB") }
        do throws(FileBytes.Fault) {
            return try FileBytes.read(descriptor, count: count)
        } catch {
            switch error {
            case .system(let number): throw FileFault(name, number: number)
            case .isBeingWritten: throw FileFault("\(name): it is being written")
            }
        }
    }
}
