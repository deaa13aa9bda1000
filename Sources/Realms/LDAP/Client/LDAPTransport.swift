// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
internal import Bytes
internal import CLDAP
internal import ServerConnections

/// The settings of TLS for connections to directory servers.
///
/// The certificate of the server is always checked: its chain, its dates, and its names against the host of the URL.
struct LDAPTransport: Sendable {
    /// True to use StartTLS (RFC 4511 section 4.14) with `ldap` URLs.
    var startsTLS = false
    /// A PEM file with the trusted authorities.
    var authorities: String
    /// The files of this program's own certificate; nil for none.
    var certificate: ClientCertificateFiles?
    /// The time for the connection and the handshake.
    var connectTimeout = Duration.seconds(3)

    /// Starts TLS if the URL or the settings ask for it.
    ///
    /// - Parameters:
    ///   - handle: A handle of libldap without TLS.
    ///   - url: The server.
    ///   - guarding: Runs a function that waits for the server without a time limit.
    /// - Throws: ``ServerFault`` if the handshake fails, or the certificate is rejected.
    func start(
        on handle: OpaquePointer,
        url: LDAPServerURL,
        guarding: (() -> Int32) throws(ServerFault) -> Int32
    ) throws(ServerFault) {
        guard url.scheme == .ldaps || (url.scheme == .ldap && startsTLS) else { return }
        try unsafe setOptions(of: handle)
        let status = try guarding {
            unsafe url.scheme == .ldaps ? ldap_install_tls(handle) : ldap_start_tls_s(handle, nil, nil)
        }
        // Positive codes are those of the server.
        guard url.scheme == .ldaps || status <= 0 else {
            let name = unsafe String(cString: ldap_err2string(status))
            throw ServerFault(.unreachable, "the server has answered StartTLS with \(status) (\(name))")
        }
        guard status == LDAP_SUCCESS, unsafe ldap_tls_inplace(handle) != 0 else {
            let text = unsafe gatehouse_ldap_diagnostic(handle)
            defer { if let text = unsafe text { unsafe ldap_memfree(text) } }
            let cause = unsafe text.map { LDAPText.printable(unsafe String(cString: $0)) } ?? ""
            // libldap has no text for a rejected certificate.
            let isAboutCertificate = cause.isEmpty || cause.hasBytes(of: "(unknown error code)")
            throw ServerFault(
                .unreachable,
                "no TLS connection: "
                    + (isAboutCertificate
                        ? "the certificate of the server is not trusted, or not for \(url.host)" : cause)
            )
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
        // A common name is not a host name (RFC 9525).
        let numbers = [
            (LDAP_OPT_X_TLS_REQUIRE_CERT, LDAP_OPT_X_TLS_HARD), (LDAP_OPT_X_TLS_REQUIRE_SAN, LDAP_OPT_X_TLS_HARD),
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
