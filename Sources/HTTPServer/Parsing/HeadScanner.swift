// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Finds the end of a head in bytes that come piece by piece, looking at each byte once.
struct HeadScanner {
    private var scanned = 0
    private var lineStart = 0
    private var lineCount = 0

    /// Looks at what has come since the last call.
    ///
    /// - Parameters:
    ///   - bytes: Everything from the beginning of the head.
    ///   - limits: How long it may be.
    /// - Returns: How many bytes the head has, its empty line included; nil if its end has not come.
    /// - Throws: 414 or 431 as soon as a line or all of it is longer than it may be; the first such place decides, however
    ///   the bytes were cut.
    mutating func end(of bytes: Span<UInt8>, _ limits: HTTPLimits) throws(RequestFault) -> Int? {
        let count = bytes.count
        while scanned < count {
            guard bytes[scanned] == Octet.lineFeed else {
                scanned += 1
                continue
            }
            let length = scanned - lineStart
            try check(length, scanned + 1, limits)
            scanned += 1
            lineStart = scanned
            lineCount += 1
            // A line feed without its carriage return ends the search too: the parser refuses it.
            if length == 0 || length == 1 && bytes[scanned - 2] == Octet.carriageReturn { return scanned }
        }
        try check(count - lineStart, count, limits)
        return nil
    }

    /// Looks at a line, `length` bytes of it without its line feed, `end` bytes up to its end.
    private func check(_ length: Int, _ end: Int, _ limits: HTTPLimits) throws(RequestFault) {
        // One byte more than the limit may be the carriage return.
        let most = (lineCount == 0 ? limits.requestLine : limits.fieldLine) + 1
        guard length > most || end > limits.head else { return }
        guard length > most, lineStart + most <= limits.head else { throw RequestFault(431, "the header is too long") }
        throw lineCount == 0
            ? RequestFault(414, "the request line is too long") : RequestFault(431, "a header field is too long")
    }
}
