// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import OpenSSLKit
internal import RealmKit

/// A file that stays open while it is read in parts, once or several times.
final class OpenedFile: Sendable {
    let name: String
    let size: Int
    private let file: OpenFile
    /// In bytes; also the maximum length of a line.
    private let partSize: Int

    /// Opens a file; throws if every user of the machine may change it.
    init(_ name: String, partSize: Int) throws(FileFault) {
        self.name = name
        self.partSize = partSize
        let path = try FileFault.resolve(name)
        do throws(UnreadableFile) {
            let (file, status) = try OpenFile.regular(path)
            (self.file, size) = (file, status.size)
            _ = try FileTrust.check(name, as: .passwordHashes, opened: status)
        } catch {
            throw FileFault(name, unreadable: error)
        }
    }

    /// Whole lines.
    struct Part {
        let bytes: [UInt8]
        let lines: [TextLine]
        /// The number of bytes of the file up to the end of the part.
        let end: Int
    }

    /// Reads the whole file in parts of text, in order; two calls that return the same digest have read the same bytes.
    func read(_ body: (Part) throws -> Void) throws(RealmError) -> [UInt8] {
        try Result { try readParts(body) }.mapError { RealmError(of: $0, name: name) }.get()
    }

    private func readParts(_ body: (Part) throws -> Void) throws -> [UInt8] {
        var hashing = try Hashing(.sha256)
        var rest: [UInt8] = []
        var (offset, lineCount) = (0, 0)
        var isAtEnd = false
        while !isAtEnd {
            let part = try file.part(ofAtMost: partSize, at: offset)
            try hashing.append(part.span)
            offset += part.count
            isAtEnd = part.isEmpty
            var bytes = rest + part
            let end = isAtEnd ? bytes.count : bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            rest = Array(bytes[end...])
            guard rest.count <= partSize else {
                throw FileFault("\(name):\(lineCount + 1): the line is longer than \(partSize) bytes")
            }
            bytes.removeSubrange(end...)
            guard !bytes.isEmpty else { continue }
            try TextLine.checkText(bytes, after: lineCount, path: name)
            let lines = TextLine.lines(of: bytes, after: lineCount)
            lineCount += lines.count
            try body(Part(bytes: bytes, lines: lines, end: offset - rest.count))
        }
        var digest = [UInt8](repeating: 0, count: HashFunction.sha256.byteCount)
        var span = digest.mutableSpan
        try hashing.finish(into: &span)
        return digest
    }
}
