// SPDX-License-Identifier: Apache-2.0

/// The connection that a request came over.
struct ClientConnection: Sendable {
    /// The address at the other end of the connection; nil if it is not known.
    let peer: String?
    /// The client certificate of the connection; nil if the TLS of the connection is not the system's OpenSSL.
    let certificate: ConnectionCertificate?
}
