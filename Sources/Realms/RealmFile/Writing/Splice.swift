// SPDX-License-Identifier: Apache-2.0

/// The replacement of a range of bytes in a file.
struct Splice: Sendable {
    let range: Range<Int>
    let bytes: [UInt8]

    init(_ range: Range<Int>, _ text: String = "") {
        self.range = range
        bytes = Array(text.utf8)
    }

    init(_ range: Range<Int>, _ bytes: [UInt8]) {
        self.range = range
        self.bytes = bytes
    }

    /// Returns a splice that appends a line.
    static func line(_ text: String, after bytes: [UInt8]) -> Splice {
        let end = TextLine.end(in: bytes)
        let isOpen = bytes.last.map { $0 != 0x0A } ?? false
        return Splice(bytes.count..<bytes.count, (isOpen ? end : []) + Array(text.utf8) + end)
    }

    /// Returns the bytes after all replacements.
    ///
    /// The ranges must not overlap. Insertions at the same index are made in their order.
    static func apply(_ splices: [Splice], to bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + splices.reduce(0) { $0 + $1.bytes.count })
        var index = 0
        let ordered = splices.enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        for (_, splice) in ordered {
            result += bytes[index..<splice.range.lowerBound]
            result += splice.bytes
            index = splice.range.upperBound
        }
        return result + bytes[index...]
    }
}
