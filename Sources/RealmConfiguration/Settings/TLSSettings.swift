// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What the `tls` block of realms.conf says.
///
/// Files are named and not read here; names of suites and groups, and of hosts, are checked by who knows TLS.
public struct TLSSettings: Sendable {
    /// The oldest version of TLS that is spoken.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        /// TLS 1.2.
        case tls12 = "1.2"
        /// TLS 1.3.
        case tls13 = "1.3"
    }

    /// Whether clients show certificates.
    public enum ClientCertificates: String, Sendable, Hashable, CaseIterable {
        /// They are not asked.
        case none
        /// They are asked and may show none.
        case optional
        /// Without one there is no connection.
        case required
    }

    /// The files of a certificate.
    public struct CertificateFiles: Sendable {
        /// The certificate chain in PEM, the leaf first.
        public var certificate: Placed<String>
        /// The private key in PEM.
        public var key: Placed<String>
        /// The OCSP response in DER; nil for none.
        public var ocspResponse: Placed<String>?

        /// The files of a certificate.
        public init(certificate: Placed<String>, key: Placed<String>, ocspResponse: Placed<String>? = nil) {
            self.certificate = certificate
            self.key = key
            self.ocspResponse = ocspResponse
        }
    }

    /// A certificate of its own for clients that ask for certain names.
    public struct Host: Sendable {
        /// Host names, `*.` in front allowed; one or more.
        public var names: [Placed<String>]
        /// The certificate shown to clients that ask for one of them.
        public var files: CertificateFiles

        /// A host.
        public init(names: [Placed<String>], files: CertificateFiles) {
            self.names = names
            self.files = files
        }
    }

    /// The certificate of the server; nil for a development certificate of its own.
    public var files: CertificateFiles?
    /// Certificates for certain names.
    public var hosts: [Host] = []
    /// The oldest version of TLS that is spoken.
    ///
    /// The default is 1.2.
    public var minimumVersion = Version.tls12
    /// Cipher suites of TLS 1.2 by OpenSSL's names; nil for the default.
    public var ciphers: [Placed<String>]?
    /// Cipher suites of TLS 1.3 by OpenSSL's names; nil for the default.
    public var ciphersuites: [Placed<String>]?
    /// Groups of the key exchange by OpenSSL's names; nil for the default.
    public var groups: [Placed<String>]?
    /// Whether sessions can be resumed by tickets.
    ///
    /// The default is yes.
    public var sessionTickets = true
    /// Files with ticket keys that machines share, the one that makes tickets first; none for keys of its own.
    public var ticketKeyFiles: [Placed<String>] = []
    /// Whether clients show certificates.
    ///
    /// The default is none.
    public var clientCertificates = ClientCertificates.none
    /// The file with the authorities of client certificates in PEM; nil exactly when no certificates are asked for.
    public var clientAuthorityFile: Placed<String>?
    /// Files with revocation lists in PEM.
    public var clientRevocationFiles: [Placed<String>] = []
    /// How many intermediates there may be between a client's certificate and its authority's.
    ///
    /// The default is 1.
    public var clientDepth = 1

    /// The defaults.
    public init() {}
}
