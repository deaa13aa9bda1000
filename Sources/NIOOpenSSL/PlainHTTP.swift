// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Recognizes a plain HTTP request where a TLS record was expected.
enum PlainHTTP {
    /// The number of bytes that are compared.
    static let prefixSize = 8

    // RFC 9110 section 9.3, RFC 5789, and the first word of HTTP/2's preface (RFC 9113 section 3.4).
    private static let openings = [
        "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "CONNECT ", "OPTIONS ", "TRACE ", "PATCH ", "PRI ",
    ]

    /// Returns whether the first bytes of a connection, three or more, are those of a request.
    static func matches(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 3 && openings.contains { opening in zip(opening.utf8, bytes).allSatisfy { $0 == $1 } }
    }
}
