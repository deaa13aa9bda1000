// SPDX-License-Identifier: Apache-2.0

/// The settings of the `tls` block of realms.conf.
///
/// The files are not read here. The names of cipher suites, groups and hosts are checked when the server starts.
public struct TLSSettings: Sendable {
    /// The oldest version of TLS that is accepted.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        /// TLS 1.2.
        case tls12 = "1.2"
        /// TLS 1.3.
        case tls13 = "1.3"
    }

    /// The use of client certificates.
    public enum ClientCertificates: String, Sendable, Hashable, CaseIterable {
        /// The server does not request client certificates.
        case none
        /// The server requests a certificate, but accepts clients that send no certificate.
        case optional
        /// The server rejects clients without a certificate.
        case required
    }

    /// The files of a certificate.
    public struct CertificateFiles: Sendable {
        /// The file with the certificate chain in PEM; the leaf certificate is first.
        public var certificate: Located<String>
        /// The file with the private key in PEM.
        public var key: Located<String>
        /// The file with the OCSP response in DER; nil if the server sends no response.
        public var ocspResponse: Located<String>?
    }

    /// The certificate for certain host names.
    public struct Host: Sendable {
        /// One or more host names, which may begin with `*.`.
        public var names: [Located<String>]
        /// The certificate for these names.
        public var files: CertificateFiles
    }

    /// The default certificate; nil for a development certificate, which the server creates.
    public var files: CertificateFiles?
    /// The certificates for certain host names.
    public var hosts: [Host] = []
    /// The oldest version of TLS that is accepted; the default is 1.2.
    public var minimumVersion = Version.tls12
    /// The names of cipher suites for TLS 1.2, as in OpenSSL; nil for the default.
    public var ciphers: [Located<String>]?
    /// The names of cipher suites for TLS 1.3, as in OpenSSL; nil for the default.
    public var ciphersuites: [Located<String>]?
    /// The names of key exchange groups, as in OpenSSL; nil for the default.
    public var groups: [Located<String>]?
    /// True if TLS sessions can be resumed with tickets; the default is true.
    public var sessionTickets = true
    /// The files with ticket keys that several machines share, the first one for new tickets; empty for random keys.
    public var ticketKeyFiles: [Located<String>] = []
    /// The use of client certificates; the default is none.
    public var clientCertificates = ClientCertificates.none
    /// The file with the certificates of the authorities for client certificates, in PEM; nil if none are requested.
    public var clientAuthorityFile: Located<String>?
    /// The files with certificate revocation lists for client certificates, in PEM.
    public var clientRevocationFiles: [Located<String>] = []
    /// The maximum number of intermediate certificates between a client's certificate and an authority, by default 1.
    public var clientDepth = 1

    /// Creates the default settings.
    public init() {}
}
