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
            throw .invalid("self-signed certificate without a name")
        }
        // Apple's clients accept server certificates with a validity of at most 825 days.
        guard (1...825).contains(days) else { throw .invalid("self-signed certificate for \(days) days (1 to 825)") }
        let key = try PrivateKey.makeP256()
        let builder = try CertificateBuilder.begin(for: key, from: now - 300, to: now + Int64(days) * 86_400)
        // RFC 5280 appendix A.1: a common name has at most 64 characters.
        try builder.setName(commonName: commonName.utf8.count <= 64 ? commonName : "Gatehouse")
        try builder.addServerExtensions(dnsNames: dnsNames, ipAddresses: ipAddresses)
        return (try builder.sign(with: key), key)
    }
}

/// An authority that issues certificates for `localhost`, `127.0.0.1` and `::1`.
///
/// Clients that trust it trust it for these names only (RFC 5280 4.2.1.10), and for servers only.
public enum LocalhostAuthority {
    /// Makes a P-256 key and the certificate of an authority.
    ///
    /// - Parameters:
    ///   - days: The number of days of validity.
    ///   - now: Seconds since 1970-01-01 00:00 UTC; the validity begins five minutes before.
    /// - Returns: The certificate and its key.
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public static func make(validFor days: Int, now: Int64) throws(OpenSSLError) -> TLSIdentity {
        let key = try PrivateKey.makeP256()
        let builder = try CertificateBuilder.begin(for: key, from: now - 300, to: now + Int64(days) * 86_400)
        try builder.setName(commonName: "Gatehouse development authority")
        try builder.add(NID_basic_constraints, value: "critical,CA:TRUE,pathlen:0")
        try builder.add(NID_key_usage, value: "critical,keyCertSign,cRLSign")
        try builder.add(NID_ext_key_usage, value: "serverAuth")
        try builder.add(
            NID_name_constraints,
            value: """
                critical,permitted;DNS:localhost,permitted;IP:127.0.0.1/255.255.255.255,\
                permitted;IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF
                """
        )
        try builder.add(NID_subject_key_identifier, value: "hash")
        return try TLSIdentity(certificateChain: [builder.sign(with: key)], privateKey: key)
    }

    /// Issues a server's certificate for the three names.
    ///
    /// - Parameters:
    ///   - key: The key of the server.
    ///   - authority: The certificate and the key of the authority.
    ///   - end: The end of the validity, in seconds since 1970-01-01 00:00 UTC; no later than that of the authority.
    ///   - now: The present time; the validity begins five minutes before.
    /// - Returns: The certificate.
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public static func issue(
        for key: PrivateKey,
        by authority: TLSIdentity,
        until end: Int64,
        now: Int64
    ) throws(OpenSSLError) -> Certificate {
        let builder = try CertificateBuilder.begin(for: key, from: now - 300, to: min(end, authority.leaf.notAfter))
        try builder.setName(commonName: "localhost", issuer: authority.leaf)
        try builder.addServerExtensions(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1", "::1"])
        try builder.addKeyIdentifier(of: authority.leaf)
        return try builder.sign(with: authority.privateKey)
    }
}
