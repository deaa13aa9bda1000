// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPLimits

/// Finds the end of a header whose bytes arrive in several pieces.
///
/// Each byte is scanned only once.
struct HeadScanner {
    /// True if an empty line precedes this header.
    let followsEmptyLine: Bool
    private var scanned = 0
    private var lineStart = 0
    private var lineCount = 0

    init(followsEmptyLine: Bool = false) {
        self.followsEmptyLine = followsEmptyLine
    }

    /// True if a part of the header has arrived.
    var hasBegun: Bool { scanned > 0 }

    /// Scans the bytes that have arrived since the last call.
    ///
    /// - Parameters:
    ///   - bytes: All bytes from the beginning of the header.
    ///   - limits: The limits for the header's length.
    /// - Returns: The number of bytes of the header, including its empty line; nil if its end has not arrived.
    /// - Throws: A fault with status 414 or 431 as soon as a line or the header is too long. If both are too long, the
    ///   fault is for the limit that is exceeded at the earlier byte, however the bytes are divided into pieces.
    mutating func end(of bytes: Span<UInt8>, limits: HTTPLimits) throws(RequestFault) -> Int? {
        let count = bytes.count
        while scanned < count {
            guard bytes[scanned] == ASCII.lineFeed else {
                scanned += 1
                continue
            }
            let length = scanned - lineStart
            try checkLine(length: length, end: scanned + 1, limits: limits)
            scanned += 1
            lineStart = scanned
            lineCount += 1
            // A line feed without a carriage return also ends the header. The parser then rejects it.
            if length == 0 || length == 1 && bytes[scanned - 2] == ASCII.carriageReturn { return scanned }
        }
        try checkLine(length: count - lineStart, end: count, limits: limits)
        return nil
    }

    /// Checks the length of a line without its line feed, and the length of the header up to the end of the line.
    private func checkLine(length: Int, end: Int, limits: HTTPLimits) throws(RequestFault) {
        // `length` counts the carriage return, and the limits do not.
        let maximum = (lineCount == 0 ? limits.requestLine : limits.fieldLine) + 1
        guard length > maximum || end > limits.header else { return }
        guard length > maximum, lineStart + maximum <= limits.header else { throw .longHeader }
        throw lineCount == 0 ? .longRequestLine : .longField
    }
}
