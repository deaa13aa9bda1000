// SPDX-License-Identifier: Apache-2.0

/// Detects a plain HTTP request on a connection that should use TLS.
enum PlainHTTP {
    /// The maximum number of bytes that are compared.
    static let prefixSize = 8

    // The methods of RFC 9110 section 9.3 and RFC 5789, and the first word of the HTTP/2 preface (RFC 9113 section 3.4).
    private static let requestPrefixes = [
        "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "CONNECT ", "OPTIONS ", "TRACE ", "PATCH ", "PRI ",
    ]

    /// Returns whether the first bytes of a connection are the start of an HTTP request.
    ///
    /// With fewer than three bytes the result is false.
    static func matches(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 3 && requestPrefixes.contains { prefix in zip(prefix.utf8, bytes).allSatisfy { $0 == $1 } }
    }

    /// Returns whether bytes end with the end of a header.
    ///
    /// Requests without a body end so.
    static func isComplete(_ bytes: Span<UInt8>) -> Bool {
        let end = bytes.count
        guard end >= 4 else { return false }
        return bytes[end - 4] == UInt8(ascii: "\r") && bytes[end - 3] == UInt8(ascii: "\n")
            && bytes[end - 2] == UInt8(ascii: "\r") && bytes[end - 1] == UInt8(ascii: "\n")
    }
}
