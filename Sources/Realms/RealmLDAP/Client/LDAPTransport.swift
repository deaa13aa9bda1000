// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections

/// The settings of TLS for connections to directory servers.
///
/// The certificate of the server is always checked: its chain, its dates, its names against the host of the URL, and its
/// purpose.
struct LDAPTransport: Sendable {
    /// True to use StartTLS (RFC 4511 section 4.14) with `ldap` URLs.
    var startsTLS = false
    /// A PEM file with the trusted authorities.
    var authorities: String
    /// The files of this program's own certificate; nil for none.
    var certificate: ClientCertificateFiles?
    /// The time for the connection and the handshake.
    var connectTimeout = Duration.seconds(3)
    /// False only for a connection that reads the certificate of a server for a message, and sends nothing.
    var checksCertificate = true

    /// Starts TLS if the URL or the settings ask for it; returns false if the certificate is rejected.
    ///
    /// `guarding` runs a function that waits for the server without a time limit.
    func start(
        on handle: OpaquePointer,
        url: LDAPServerURL,
        guarding: (() -> Int32) throws(ServerFault) -> Int32
    ) throws(ServerFault) -> Bool {
        guard url.scheme == .ldaps || (url.scheme == .ldap && startsTLS) else { return true }
        try unsafe setOptions(of: handle)
        let status = try guarding {
            unsafe url.scheme == .ldaps ? ldap_install_tls(handle) : ldap_start_tls_s(handle, nil, nil)
        }
        // Positive codes are those of the server.
        guard url.scheme == .ldaps || status <= 0 else {
            let name = unsafe String(cString: ldap_err2string(status))
            throw ServerFault(.unreachable, "the server has answered StartTLS with \(status) (\(name))")
        }
        guard status != LDAP_SERVER_DOWN else {
            throw ServerFault(.unreachable, "no TLS connection: the server has closed the connection")
        }
        guard status == LDAP_SUCCESS, unsafe ldap_tls_inplace(handle) != 0 else {
            let text = unsafe gatehouse_ldap_diagnostic(handle)
            defer { if let text = unsafe text { unsafe ldap_memfree(text) } }
            let cause = unsafe text.map { LDAPText.printable(unsafe String(cString: $0)) } ?? ""
            // libldap has no text for a rejected certificate.
            if cause.isEmpty || cause.hasBytes(of: "(unknown error code)") { return false }
            throw ServerFault(.unreachable, "no TLS connection: \(cause)")
        }
        // GnuTLS, as libldap uses it, does not check the purpose.
        guard checksCertificate else { return true }
        return unsafe Self.certificate(of: handle)?.isForServers == true
    }

    var withoutChecks: LDAPTransport {
        var transport = self
        (transport.checksCertificate, transport.certificate) = (false, nil)
        return transport
    }

    /// Returns the certificate of the server; nil if there is no TLS, or the certificate cannot be read.
    static func certificate(of handle: OpaquePointer) -> Certificate? {
        var value = unsafe berval()
        guard unsafe ldap_get_option(handle, LDAP_OPT_X_TLS_PEERCERT, &value) == LDAP_OPT_SUCCESS,
            let bytes = unsafe value.bv_val
        else { return nil }
        defer { unsafe ldap_memfree(bytes) }
        return try? Certificate(der: unsafe LDAPHandle.bytes(value), context: "certificate of a directory")
    }

    /// Returns the reason why the certificate of a server was probably rejected, with its content; `now` is in seconds
    /// since 1970.
    static func rejection(of certificate: Certificate?, host: String, now: Int) -> String {
        let general = "the certificate of the server is not trusted, or not for \(host)"
        guard let certificate else { return general }
        let names = certificate.dnsNames + certificate.ipAddresses
        let (start, end) = (Int(certificate.notBefore), Int(certificate.notAfter))
        let reason =
            if now > end {
                "it has expired"
            } else if now < start {
                "it is not valid yet"
            } else if !certificate.isForServers {
                "it is not for servers (extended key usage without serverAuth)"
            } else if names.isEmpty {
                "it has no alternative name, and its common name is no host name"
            } else if !isNamed(host, in: certificate) {
                "it has other alternative names"
            } else {
                "its issuer is none of the authorities (ca-file), or an intermediate certificate is missing or has expired"
            }
        return general + ": \(reason); subject \(LDAPText.printable(certificate.subject)), issuer "
            + "\(LDAPText.printable(certificate.issuer)), valid from \(UTCTime.readableText(start)) to "
            + "\(UTCTime.readableText(end)), alternative names: "
            + (names.isEmpty ? "none" : LDAPText.printable(names.joined(separator: ", ")))
    }

    /// Returns whether a certificate has the name or the address of a host, with wildcards as in RFC 9525 section 6.3.
    private static func isNamed(_ host: String, in certificate: Certificate) -> Bool {
        if let address = NetworkAddress(host[...]) {
            return certificate.ipAddresses.contains { NetworkAddress($0[...]) == address }
        }
        let wanted = host.lowercased()
        let parent = wanted.utf8.firstIndex(of: UInt8(ascii: ".")).map { "*" + wanted[$0...] }
        return certificate.dnsNames.map { $0.lowercased() }.contains { name in
            name.hasBytes(of: wanted) || parent.map { name.hasBytes(of: $0) } == true
        }
    }

    private func setOptions(of handle: OpaquePointer) throws(ServerFault) {
        var texts = [(LDAP_OPT_X_TLS_CACERTFILE, authorities)]
        if let certificate {
            texts += [(LDAP_OPT_X_TLS_CERTFILE, certificate.chain), (LDAP_OPT_X_TLS_KEYFILE, certificate.key)]
        }
        for (option, value) in texts {
            guard unsafe gatehouse_ldap_set_text(handle, option, value) == LDAP_OPT_SUCCESS else {
                throw ServerFault(.failed, "libldap does not take the file \(value)")
            }
        }
        let check = checksCertificate ? LDAP_OPT_X_TLS_HARD : LDAP_OPT_X_TLS_NEVER
        // A common name is not a host name (RFC 9525).
        let numbers = [
            (LDAP_OPT_X_TLS_REQUIRE_CERT, check), (LDAP_OPT_X_TLS_REQUIRE_SAN, LDAP_OPT_X_TLS_HARD),
            (LDAP_OPT_X_TLS_PROTOCOL_MIN, 0x303),
            // The options apply to a new context, which must be the last option.
            (LDAP_OPT_X_TLS_NEWCTX, 0),
        ]
        for (option, value) in numbers {
            guard unsafe gatehouse_ldap_set_number(handle, option, value) == LDAP_OPT_SUCCESS else {
                throw ServerFault(
                    .failed,
                    "libldap does not take the option \(option) of TLS, or cannot read its files"
                )
            }
        }
    }
}
#endif
