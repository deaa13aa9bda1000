// SPDX-License-Identifier: Apache-2.0

extension Digest {
    /// Computes the SHA-256 digest of several fields.
    ///
    /// Each field is preceded by its length: 8 bytes, the least significant first. So different lists of fields never
    /// have the same bytes (CVE-2026-71326).
    ///
    /// - Parameter fields: The fields.
    /// - Returns: The digest.
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if no provider offers SHA-256.
    public static func sha256(fields: [String]) throws(OpenSSLError) -> Digest {
        var message: [UInt8] = []
        defer { for index in message.indices { message[index] = 0 } }
        for field in fields {
            let length = UInt64(field.utf8.count)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                message.append(UInt8(truncatingIfNeeded: length >> shift))
            }
            message.append(contentsOf: field.utf8)
        }
        return try sha256(message)
    }
}
