// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An authority that issues certificates for `localhost`, `127.0.0.1` and `::1`.
///
/// Clients that trust it trust it for these names only (RFC 5280 4.2.1.10), and for servers only.
public enum LocalhostAuthority {
    /// Makes a P-256 key and the certificate of an authority.
    ///
    /// The validity begins five minutes before `now`, in seconds since 1970-01-01 00:00 UTC.
    ///
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
    /// The validity begins five minutes before `now`, and ends no later than that of the authority.
    ///
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
