// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The settings of the `tls` block of realms.conf.
///
/// Files are named and not read here. Names of cipher suites, groups and hosts are checked when the server starts.
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
        /// No certificate is requested from clients.
        case none
        /// Clients may present a certificate.
        case optional
        /// Clients have to present a certificate.
        case required
    }

    /// The files of a certificate.
    public struct CertificateFiles: Sendable {
        /// The certificate chain in PEM, the leaf first.
        public var certificate: Located<String>
        /// The private key in PEM.
        public var key: Located<String>
        /// The OCSP response in DER; nil for none.
        public var ocspResponse: Located<String>?

        /// The files of a certificate.
        public init(certificate: Located<String>, key: Located<String>, ocspResponse: Located<String>? = nil) {
            self.certificate = certificate
            self.key = key
            self.ocspResponse = ocspResponse
        }
    }

    /// A certificate of its own for certain host names.
    public struct Host: Sendable {
        /// Host names, `*.` in front allowed; one or more.
        public var names: [Located<String>]
        /// The certificate for these names.
        public var files: CertificateFiles

        /// A host.
        public init(names: [Located<String>], files: CertificateFiles) {
            self.names = names
            self.files = files
        }
    }

    /// The certificate of the server; nil for a development certificate of its own.
    public var files: CertificateFiles?
    /// The certificates for certain host names.
    public var hosts: [Host] = []
    /// The oldest version of TLS that is accepted.
    ///
    /// The default is 1.2.
    public var minimumVersion = Version.tls12
    /// Cipher suites of TLS 1.2 by OpenSSL's names; nil for the default.
    public var ciphers: [Located<String>]?
    /// Cipher suites of TLS 1.3 by OpenSSL's names; nil for the default.
    public var ciphersuites: [Located<String>]?
    /// Groups of the key exchange by OpenSSL's names; nil for the default.
    public var groups: [Located<String>]?
    /// True if TLS sessions can be resumed with tickets.
    ///
    /// The default is true.
    public var sessionTickets = true
    /// The files with ticket keys that several machines share, the one for new tickets first; empty for random keys.
    public var ticketKeyFiles: [Located<String>] = []
    /// The use of client certificates.
    ///
    /// The default is none.
    public var clientCertificates = ClientCertificates.none
    /// The file with the authorities of client certificates in PEM; nil if no certificate is requested.
    public var clientAuthorityFile: Located<String>?
    /// Files with revocation lists in PEM.
    public var clientRevocationFiles: [Located<String>] = []
    /// The most intermediates between a client's certificate and its authority's.
    ///
    /// The default is 1.
    public var clientDepth = 1

    /// The defaults.
    public init() {}
}
