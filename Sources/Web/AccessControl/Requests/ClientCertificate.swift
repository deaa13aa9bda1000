// SPDX-License-Identifier: Apache-2.0

package import OpenSSLKit

/// The client certificate of a connection, which TLS has verified.
///
/// The certificates are read once for each connection. All requests of the connection share them.
package struct ClientCertificate: Sendable {
    // Not empty. The only property, so that requests without a certificate cost nothing.
    private let chain: [Certificate]

    /// The certificate of a verified chain; nil if the chain is empty.
    ///
    /// - Parameter chain: The chain from the client's certificate to the authority.
    package init?(_ chain: [Certificate]) {
        guard !chain.isEmpty else { return nil }
        self.chain = chain
    }

    /// The certificate of the client.
    private var leaf: Certificate { chain[0] }

    /// The SHA-256 digest of the client's certificate.
    package var digest: Digest { leaf.digest }

    /// The last second in which all certificates of the chain are valid, in seconds since 1970.
    package var notAfter: Int { Int(chain.lazy.map(\.notAfter).min() ?? 0) }

    /// Returns true if all certificates of the chain are valid at a time.
    ///
    /// A connection may stay open after a certificate has expired.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: True if no certificate has expired or is not valid yet.
    package func isValid(at now: Int) -> Bool {
        chain.allSatisfy { $0.notBefore <= Int64(now) && Int64(now) <= $0.notAfter }
    }

    /// Returns the certificate for a conversation with login modules.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: The certificate in DER; nil if the chain is not valid at this time, or OpenSSL fails.
    package func der(at now: Int) -> [UInt8]? {
        guard isValid(at: now) else { return nil }
        do throws(OpenSSLError) {
            return try leaf.der
        } catch {
            // Without the certificate the login fails.
            return nil
        }
    }
}
