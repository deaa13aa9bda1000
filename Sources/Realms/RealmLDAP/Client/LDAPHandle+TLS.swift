// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import Glibc
internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections

extension LDAPHandle {
    /// Starts TLS if the URL or the settings ask for it; the attempt ends at a time of `MonotonicTime`.
    func startTLS(_ url: LDAPServerURL, until time: UInt64) throws(ServerFault) {
        guard url.scheme == .ldaps || url.scheme == .ldap && transport.startsTLS else { return }
        try setTLSOptions()
        let status = try call.guarding(descriptor, until: time) { () throws(ServerFault) in
            unsafe url.scheme == .ldaps ? ldap_install_tls(handle) : ldap_start_tls_s(handle, nil, nil)
        }
        // Positive codes are those of the server.
        guard url.scheme == .ldaps || status <= 0 else {
            let answer = "\(status) (\(Self.text(of: status)))"
            throw ServerFault(.unreachable, "the server has answered StartTLS with \(answer)")
        }
        guard status != LDAP_SERVER_DOWN else {
            throw ServerFault(.unreachable, "no TLS connection: the server has closed the connection")
        }
        guard status == LDAP_SUCCESS, unsafe ldap_tls_inplace(handle) != 0 else {
            let text = unsafe gatehouse_ldap_diagnostic(handle)
            defer { if let text = unsafe text { unsafe ldap_memfree(text) } }
            let cause = unsafe text.map { LDAPText.printable(unsafe String(cString: $0)) } ?? ""
            // libldap has no text for a rejected certificate.
            guard cause.isEmpty || cause.hasBytes(of: "(unknown error code)") else {
                throw ServerFault(.unreachable, "no TLS connection: \(cause)")
            }
            throw rejection(url, until: time)
        }
        // GnuTLS, as libldap uses it, does not check the purpose.
        guard !transport.checksCertificate || certificate?.isForServers == true else {
            throw rejection(url, until: time)
        }
    }

    private func setTLSOptions() throws(ServerFault) {
        var files = [(LDAP_OPT_X_TLS_CACERTFILE, transport.authorities)]
        if let certificate = transport.certificate {
            files += [(LDAP_OPT_X_TLS_CERTFILE, certificate.chain), (LDAP_OPT_X_TLS_KEYFILE, certificate.key)]
        }
        for (option, file) in files where unsafe gatehouse_ldap_set_text(handle, option, file) != LDAP_OPT_SUCCESS {
            throw ServerFault(.failed, "libldap does not take the file \(file)")
        }
        let numbers = [
            (LDAP_OPT_X_TLS_REQUIRE_CERT, transport.checksCertificate ? LDAP_OPT_X_TLS_HARD : LDAP_OPT_X_TLS_NEVER),
            // A common name is not a host name (RFC 9525).
            (LDAP_OPT_X_TLS_REQUIRE_SAN, LDAP_OPT_X_TLS_HARD), (LDAP_OPT_X_TLS_PROTOCOL_MIN, 0x303),
            // The options apply to a new context, which must be the last option.
            (LDAP_OPT_X_TLS_NEWCTX, 0),
        ]
        for (option, value) in numbers
        where unsafe gatehouse_ldap_set_number(handle, option, value) != LDAP_OPT_SUCCESS {
            throw ServerFault(.failed, "libldap does not take the option \(option) of TLS, or cannot read its files")
        }
    }

    /// The certificate of the server; nil if there is no TLS, or the certificate cannot be read.
    private var certificate: Certificate? {
        var value = unsafe berval()
        guard unsafe ldap_get_option(handle, LDAP_OPT_X_TLS_PEERCERT, &value) == LDAP_OPT_SUCCESS,
            let bytes = unsafe value.bv_val
        else { return nil }
        defer { unsafe ldap_memfree(bytes) }
        return try? Certificate(der: unsafe Self.bytes(value), context: "certificate of a directory")
    }

    // MARK: Rejected certificates

    /// Returns the fault for a rejected certificate, with its content.
    ///
    /// libldap does not keep it, so it is read on another connection, on which nothing is sent.
    private func rejection(_ url: LDAPServerURL, until time: UInt64) -> ServerFault {
        var certificate: Certificate?
        // A server may end that connection as well.
        if transport.checksCertificate {
            var unchecked = transport
            (unchecked.checksCertificate, unchecked.certificate) = (false, nil)
            let other = try? LDAPHandle(url, transport: unchecked, call: call, until: time)
            certificate = other?.certificate
        }
        let text = LDAPTransport.rejection(of: certificate, host: url.host, now: Int(Glibc.time(nil)))
        return ServerFault(.unreachable, "no TLS connection: \(text)")
    }
}

extension LDAPTransport {
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
}
#endif
