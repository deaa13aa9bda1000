// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Makes self-signed certificates for servers in development.
public enum SelfSignedCertificate {
    /// Makes a P-256 key and a version 3 certificate for it.
    ///
    /// The serial number has 128 random bits. The extensions are subjectAltName, basicConstraints (critical, CA:FALSE),
    /// keyUsage (critical, digitalSignature), extendedKeyUsage (serverAuth) and subjectKeyIdentifier. The validity
    /// begins five minutes before `now`, for clients whose clock is slow. A client trusts the certificate if it is in
    /// the client's CA file.
    ///
    /// - Parameters:
    ///   - dnsNames: Host names (RFC 1123). A name may begin with `*.`.
    ///   - ipAddresses: IPv4 and IPv6 addresses in text form.
    ///   - days: The number of days of validity, 1 to 825.
    ///   - now: Seconds since 1970-01-01 00:00 UTC.
    /// - Returns: The certificate and its key.
    /// - Throws: ``OpenSSLError`` with code `invalidName`, `invalidConfiguration` or `libraryFailure`.
    public static func make(
        dnsNames: [String],
        ipAddresses: [String],
        validFor days: Int,
        now: Int64
    ) throws(OpenSSLError) -> (certificate: Certificate, key: PrivateKey) {
        guard let commonName = dnsNames.first ?? ipAddresses.first else {
            throw OpenSSLError(.invalidConfiguration, context: "self-signed certificate without a name")
        }
        // Apple's clients accept server certificates with a validity of at most 825 days.
        guard (1...825).contains(days) else {
            throw OpenSSLError(.invalidConfiguration, context: "self-signed certificate for \(days) days (1 to 825)")
        }
        let key = try PrivateKey.makeP256()
        let builder = try CertificateBuilder.begin(for: key, from: now - 300, to: now + Int64(days) * 86_400)
        // RFC 5280 appendix A.1: a common name has at most 64 characters.
        try builder.setName(commonName: commonName.utf8.count <= 64 ? commonName : "Gatehouse")
        try builder.addServerExtensions(dnsNames: dnsNames, ipAddresses: ipAddresses)
        return (try builder.sign(with: key), key)
    }
}
