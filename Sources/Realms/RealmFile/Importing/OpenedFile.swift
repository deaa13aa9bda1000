// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc
internal import OpenSSLKit
internal import RealmKit

/// A file that stays open while it is read in parts, once or several times.
final class OpenedFile: Sendable {
    /// The name of the file, for messages.
    let name: String
    let size: Int
    private let descriptor: Int32
    /// The size of the parts, and the maximum length of a line.
    private let partSize: Int

    /// Opens a file; throws if every user of the machine may change it.
    ///
    /// - Parameters:
    ///   - name: The path of the file.
    ///   - partSize: The size of the parts, and the maximum length of a line.
    /// - Throws: ``FileFault`` if the file cannot be opened.
    init(_ name: String, partSize: Int) throws(FileFault) {
        guard let path = FileSnapshot.resolve(name) else { throw .system(name) }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(name) }
        self.name = name
        self.descriptor = descriptor
        self.partSize = partSize
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let fault = FileFault.system(name)
            close(descriptor)
            throw fault
        }
        size = Int(status.st_size)
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileFault("\(name): it is not a regular file") }
        try FilePermissions.checkTrust(of: name, as: .passwordHashes, opened: status)
    }

    deinit { close(descriptor) }

    /// A part of the file that contains whole lines.
    struct Part {
        let bytes: [UInt8]
        let lines: [TextLine]
        /// The number of bytes of the file up to the end of the part.
        let end: Int
    }

    /// Reads the whole file in parts.
    ///
    /// - Parameter body: Receives the parts in order; their contents are text.
    /// - Returns: The digest of the contents. If two calls return the same digest, they have read the same bytes.
    /// - Throws: ``RealmError`` of code `unavailable` if the file cannot be read; the error of the closure.
    func read(_ body: (Part) throws(RealmError) -> Void) throws(RealmError) -> [UInt8] {
        var digest = try FileDigest(name)
        var rest: [UInt8] = []
        var (offset, lineCount) = (0, 0)
        var isAtEnd = false
        while !isAtEnd {
            var bytes = rest
            let count = try append(to: &bytes, from: offset)
            try digest.append(bytes.span.extracting(last: count))
            offset += count
            isAtEnd = count == 0
            let end = isAtEnd ? bytes.count : bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            rest = Array(bytes[end...])
            guard rest.count <= partSize else {
                throw .unavailable("\(name):\(lineCount + 1): the line is longer than \(partSize) bytes")
            }
            bytes.removeSubrange(end...)
            guard !bytes.isEmpty else { continue }
            do throws(FileFault) {
                try TextLine.checkText(bytes, after: lineCount, path: name)
            } catch {
                throw .unavailable(error.description)
            }
            let lines = TextLine.lines(of: bytes, after: lineCount)
            lineCount += lines.count
            try body(Part(bytes: bytes, lines: lines, end: offset - rest.count))
        }
        return try digest.finish()
    }

    /// Reads the next bytes of the file; returns their number, 0 at the end of the file.
    private func append(to bytes: inout [UInt8], from offset: Int) throws(RealmError) -> Int {
        var (count, number): (Int, Int32) = (0, 0)
        let next = unsafe [UInt8](unsafeUninitializedCapacity: partSize) { buffer, filled in
            repeat {
                count = unsafe pread(descriptor, buffer.baseAddress, partSize, offset)
            } while count < 0 && errno == EINTR
            number = errno
            filled = max(count, 0)
        }
        guard count >= 0 else { throw .unavailable(FileFault(name, number: number).description) }
        bytes += next
        return count
    }
}

/// The digest of a file that is read in parts.
private struct FileDigest: ~Copyable {
    private let name: String
    private var hashing: Hashing

    init(_ name: String) throws(RealmError) {
        self.name = name
        do throws(OpenSSLError) {
            hashing = try Hashing(.sha256)
        } catch {
            throw .unavailable("\(name): \(error)")
        }
    }

    mutating func append(_ bytes: Span<UInt8>) throws(RealmError) {
        do throws(OpenSSLError) {
            try hashing.append(bytes)
        } catch {
            throw .unavailable("\(name): \(error)")
        }
    }

    consuming func finish() throws(RealmError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: HashFunction.sha256.byteCount)
        do throws(OpenSSLError) {
            var span = digest.mutableSpan
            try hashing.finish(into: &span)
        } catch {
            throw .unavailable("\(name): \(error)")
        }
        return digest
    }
}
