// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import COpenSSL

/// The cipher suites and groups that a client offers or a server accepts, by OpenSSL's names.
///
/// A client lists the preferred names first. A server uses the client's order of suites, because the client knows
/// whether it has AES in hardware. The names are checked when a ``TLSContext`` is made. A name is rejected if OpenSSL
/// does not know it, if it means several suites ("HIGH"), or if the suite is below OpenSSL's security level 2 (112
/// bits).
public struct TLSParameters: Sendable, Hashable {
    /// The cipher suites of TLS 1.2, such as "ECDHE-ECDSA-AES128-GCM-SHA256" (openssl-ciphers(1)).
    public var ciphers: [String]
    /// The cipher suites of TLS 1.3, such as "TLS_AES_128_GCM_SHA256" (RFC 8446 B.4).
    public var ciphersuites: [String]
    /// The groups for the key exchange, such as "X25519" or "P-256".
    public var groups: [String]

    /// Creates parameters, by default those of ``intermediate``.
    public init(
        ciphers: [String] = TLSParameters.intermediate.ciphers,
        ciphersuites: [String] = TLSParameters.intermediate.ciphersuites,
        groups: [String] = TLSParameters.intermediate.groups
    ) {
        self.ciphers = ciphers
        self.ciphersuites = ciphersuites
        self.groups = groups
    }

    /// The configuration "intermediate" of Mozilla's "Server Side TLS", version 5.7, without the DHE suites.
    ///
    /// DHE suites are slow. All clients with AEAD suites of TLS 1.2 also support ECDHE. If OpenSSL has the hybrid group
    /// X25519MLKEM768, it is the first group.
    public static let intermediate = TLSParameters(
        ciphers: [
            "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
            "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
            "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
        ],
        ciphersuites: ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"],
        groups: (knows(group: "X25519MLKEM768") ? ["X25519MLKEM768"] : []) + ["X25519", "P-256", "P-384"]
    )

    /// Returns whether OpenSSL knows a suite of TLS 1.2 by exactly this name and accepts it at security level 2.
    public static func knows(cipher name: String) -> Bool {
        unsafe probe { context in
            unsafe SSL_CTX_set_ciphersuites(context, "") == 1 && SSL_CTX_set_cipher_list(context, name) == 1
                && contains(name, in: context)
        }
    }

    /// Returns whether OpenSSL knows a suite of TLS 1.3 by exactly this name.
    public static func knows(ciphersuite name: String) -> Bool {
        unsafe probe { context in
            unsafe SSL_CTX_set_ciphersuites(context, name) == 1 && contains(name, in: context)
        }
    }

    /// Returns whether OpenSSL knows a group by this name.
    public static func knows(group name: String) -> Bool {
        // OpenSSL reads other texts as lists, from version 3.5 also "X25519/P-256", "?X25519", "*X25519" and "DEFAULT".
        let isName =
            !name.isEmpty && name.utf8.first != UInt8(ascii: "-") && name.lowercased() != "default"
            && name.utf8.allSatisfy { ASCII.isLetterOrDigit($0) || "-_".utf8.contains($0) }
        return unsafe isName
            && probe { context in unsafe gatehouse_SSL_CTX_set1_groups_list(context, name) == 1 }
    }

    private static func probe(_ body: (OpaquePointer) -> Bool) -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { return false }
        defer { unsafe SSL_CTX_free(context) }
        unsafe SSL_CTX_set_security_level(context, 2)
        return unsafe body(context)
    }

    private static func contains(_ name: String, in context: OpaquePointer) -> Bool {
        let ciphers = unsafe SSL_CTX_get_ciphers(context)
        for index in 0..<(unsafe gatehouse_sk_SSL_CIPHER_num(ciphers)) {
            let cipher = unsafe gatehouse_sk_SSL_CIPHER_value(ciphers, index)
            guard let known = unsafe SSL_CIPHER_get_name(cipher), unsafe String(cString: known) == name else {
                continue
            }
            // OpenSSL checks the security level only in handshakes. So suites with weak encryption, without encryption
            // or without authentication are rejected here.
            return unsafe SSL_CIPHER_get_bits(cipher, nil) >= 112 && SSL_CIPHER_get_auth_nid(cipher) != NID_auth_null
        }
        return false
    }

    func apply(to context: OpaquePointer) throws(OpenSSLError) {
        if let name = ciphers.first(where: { !Self.knows(cipher: $0) }) {
            throw .invalid("TLS 1.2 cipher suite \"\(name)\"")
        }
        if let name = ciphersuites.first(where: { !Self.knows(ciphersuite: $0) }) {
            throw .invalid("TLS 1.3 cipher suite \"\(name)\"")
        }
        if let name = groups.first(where: { !Self.knows(group: $0) }) { throw .invalid("group \"\(name)\"") }
        guard !ciphers.isEmpty, unsafe SSL_CTX_set_cipher_list(context, ciphers.joined(separator: ":")) == 1 else {
            throw .draining(.invalidConfiguration, context: "TLS 1.2 cipher suites")
        }
        guard !ciphersuites.isEmpty, unsafe SSL_CTX_set_ciphersuites(context, ciphersuites.joined(separator: ":")) == 1
        else { throw .draining(.invalidConfiguration, context: "TLS 1.3 cipher suites") }
        guard !groups.isEmpty, unsafe gatehouse_SSL_CTX_set1_groups_list(context, groups.joined(separator: ":")) == 1
        else { throw .draining(.invalidConfiguration, context: "groups") }
    }
}
