// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc

/// A file that is read as a whole for an import.
struct ImportFile {
    /// The error for a file that cannot be read, or that other users of the machine may change.
    struct Fault: Error {
        let reason: String
    }

    /// The maximum size, 64 MiB.
    static let maximumSize = 64 << 20

    let bytes: [UInt8]
    /// The problems that do not prevent the import.
    let warnings: [String]

    init(_ path: String) throws(Fault) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw Fault.system() }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Fault.system() }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Fault(reason: "it is not a regular file") }
        let findings = FileTrust.findings(path, as: .passwordHashes, opened: status)
        if let error = findings.first(where: \.isError) { throw Fault(reason: error.text) }
        guard status.st_size <= Self.maximumSize else {
            throw Fault(reason: "it is longer than \(Self.maximumSize >> 20) MiB")
        }
        warnings = findings.map(\.text)
        bytes = try Self.read(descriptor, count: Int(status.st_size))
    }

    /// Returns the first bytes of a file, which show its format; none if it cannot be read.
    static func beginning(of path: String) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let size = 4096
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = unsafe max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
    }

    private static func read(_ descriptor: Int32, count: Int) throws(Fault) -> [UInt8] {
        do throws(FileBytes.Fault) {
            return try FileBytes.read(descriptor, count: count)
        } catch {
            switch error {
            case .system(let number): throw Fault.system(number)
            case .isBeingWritten: throw Fault(reason: "it is being written")
            }
        }
    }
}

extension ImportFile.Fault {
    fileprivate static func system(_ number: Int32 = errno) -> Self {
        Self(reason: unsafe String(cString: strerror(number)))
    }
}
