// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What sessions must have in common to be resumed, as the session id context of OpenSSL.
enum SessionScope {
    /// Computes it.
    ///
    /// - Parameters:
    ///   - configuration: The server's.
    ///   - names: The host's names; none for the server itself.
    /// - Returns: 32 bytes, the most that OpenSSL takes.
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    static func digest(_ configuration: TLSConfiguration, names: [String]) throws(OpenSSLError) -> Digest {
        // Each part behind its length, so that no two lists of parts are the same bytes.
        var parts = ["gatehouse sessions 1", configuration.sessionScope]
        parts += names.map { ServerNames<Int>.normalized($0) ?? $0 }.sorted()
        parts.append("client certificates")
        if let policy = configuration.clientCertificates {
            parts += [policy.mode.rawValue, "\(policy.maximumDepth)"]
            parts += policy.authorities.map(\.digest.hex).sorted()
        }
        var bytes: [UInt8] = []
        for part in parts {
            bytes += "\(part.utf8.count):".utf8
            bytes += part.utf8
        }
        return try Digest.sha256(bytes)
    }
}
