// SPDX-License-Identifier: Apache-2.0

/// The scope in which a session can be resumed.
///
/// It is the session id context of OpenSSL.
enum SessionScope {
    /// Computes the scope.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the server.
    ///   - names: The names of a ``TLSHost``; empty for the default identity.
    /// - Returns: 32 bytes, which is the maximum for OpenSSL.
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    static func digest(_ configuration: TLSConfiguration, names: [String]) throws(OpenSSLError) -> Digest {
        // Each part is preceded by its length, so that different lists of parts never have the same bytes.
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
