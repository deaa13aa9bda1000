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
            throw FileFault(name, error)
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
    func read(_ body: (Part) throws(RealmError) -> Void) throws(RealmError) -> [UInt8] {
        var hashing = try reporting { () throws(OpenSSLError) in try Hashing(.sha256) }
        var rest: [UInt8] = []
        var (offset, lineCount) = (0, 0)
        var isAtEnd = false
        while !isAtEnd {
            var bytes = rest
            let count = try append(to: &bytes, from: offset)
            try reporting { () throws(OpenSSLError) in try hashing.append(bytes.span.extracting(last: count)) }
            offset += count
            isAtEnd = count == 0
            let end = isAtEnd ? bytes.count : bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            rest = Array(bytes[end...])
            guard rest.count <= partSize else {
                throw .unavailable("\(name):\(lineCount + 1): the line is longer than \(partSize) bytes")
            }
            bytes.removeSubrange(end...)
            guard !bytes.isEmpty else { continue }
            try FileFault.unavailable { () throws(FileFault) in
                try TextLine.checkText(bytes, after: lineCount, path: name)
            }
            let lines = TextLine.lines(of: bytes, after: lineCount)
            lineCount += lines.count
            try body(Part(bytes: bytes, lines: lines, end: offset - rest.count))
        }
        return try reporting { () throws(OpenSSLError) in
            var digest = [UInt8](repeating: 0, count: HashFunction.sha256.byteCount)
            var span = digest.mutableSpan
            try hashing.finish(into: &span)
            return digest
        }
    }

    private func reporting<Value: ~Copyable>(_ body: () throws(OpenSSLError) -> Value) throws(RealmError) -> Value {
        do {
            return try body()
        } catch {
            throw .unavailable("\(name): \(error)")
        }
    }

    /// Returns the number of bytes, 0 at the end of the file.
    private func append(to bytes: inout [UInt8], from offset: Int) throws(RealmError) -> Int {
        let part = try SystemError.mapping(file.part(ofAtMost: partSize, at: offset)) {
            RealmError.unavailable(FileFault(name, $0).description)
        }
        bytes += part
        return part.count
    }
}
