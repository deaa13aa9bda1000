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
    /// - Throws: 414 or 431 as soon as it is longer than it may be.
    mutating func end(of bytes: Span<UInt8>, _ limits: HTTPLimits) throws(RequestFault) -> Int? {
        let count = bytes.count
        while scanned < count {
            guard bytes[scanned] == Character.lineFeed else {
                scanned += 1
                continue
            }
            let length = scanned - lineStart
            scanned += 1
            lineStart = scanned
            lineCount += 1
            // A line feed without its carriage return ends the search too: the parser refuses it.
            if length == 0 || length == 1 && bytes[scanned - 2] == Character.carriageReturn {
                // What comes with a long head after it has no part in this bound.
                guard scanned <= limits.head else { throw RequestFault(431, "the header is too long") }
                return scanned
            }
        }
        if lineCount == 0 {
            guard count <= limits.requestLine else { throw RequestFault(414, "the request line is too long") }
        } else {
            guard count <= limits.head else { throw RequestFault(431, "the header is too long") }
            guard count - lineStart <= limits.fieldLine else { throw RequestFault(431, "a header field is too long") }
        }
        return nil
    }
}
