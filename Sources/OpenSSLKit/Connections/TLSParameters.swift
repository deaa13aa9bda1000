// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// The cipher suites and groups that a side offers or accepts, the preferred first, by OpenSSL's names.
///
/// The client's order of suites decides, as the client can tell whether it has AES in hardware. A name is checked when
/// a ``TLSContext`` is made: a name that is unknown to OpenSSL or means several suites ("HIGH") is rejected, and so is
/// a suite below OpenSSL's security level 2 (112 bits).
public struct TLSParameters: Sendable, Hashable {
    /// Suites of TLS 1.2: "ECDHE-ECDSA-AES128-GCM-SHA256" (openssl-ciphers(1)).
    public var ciphers: [String]
    /// Suites of TLS 1.3: "TLS_AES_128_GCM_SHA256" (RFC 8446 B.4).
    public var ciphersuites: [String]
    /// Groups of the key exchange: "X25519", "P-256".
    public var groups: [String]

    /// Creates parameters; the defaults are those of ``intermediate``.
    public init(
        ciphers: [String] = TLSParameters.intermediate.ciphers,
        ciphersuites: [String] = TLSParameters.intermediate.ciphersuites,
        groups: [String] = TLSParameters.intermediate.groups
    ) {
        self.ciphers = ciphers
        self.ciphersuites = ciphersuites
        self.groups = groups
    }

    /// Mozilla "Server Side TLS", configuration "intermediate", version 5.7, without the DHE suites, which are slow and
    /// which no client with AEAD suites of TLS 1.2 needs.
    ///
    /// If OpenSSL has the hybrid group X25519MLKEM768, it comes first.
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
        // A colon would make it a list.
        unsafe !name.isEmpty && !name.utf8.contains(UInt8(ascii: ":"))
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
            // OpenSSL applies the security level in handshakes only. Here suites with weak or no encryption and without
            // authentication are rejected.
            return unsafe SSL_CIPHER_get_bits(cipher, nil) >= 112 && SSL_CIPHER_get_auth_nid(cipher) != NID_auth_null
        }
        return false
    }

    /// Applies them to a context.
    func apply(to context: OpaquePointer) throws(OpenSSLError) {
        if let name = ciphers.first(where: { !Self.knows(cipher: $0) }) {
            throw OpenSSLError(.invalidConfiguration, context: "TLS 1.2 cipher suite \"\(name)\"")
        }
        if let name = ciphersuites.first(where: { !Self.knows(ciphersuite: $0) }) {
            throw OpenSSLError(.invalidConfiguration, context: "TLS 1.3 cipher suite \"\(name)\"")
        }
        if let name = groups.first(where: { !Self.knows(group: $0) }) {
            throw OpenSSLError(.invalidConfiguration, context: "group \"\(name)\"")
        }
        guard !ciphers.isEmpty, unsafe SSL_CTX_set_cipher_list(context, ciphers.joined(separator: ":")) == 1 else {
            throw .draining(.invalidConfiguration, context: "TLS 1.2 cipher suites")
        }
        guard !ciphersuites.isEmpty,
            unsafe SSL_CTX_set_ciphersuites(context, ciphersuites.joined(separator: ":")) == 1
        else { throw .draining(.invalidConfiguration, context: "TLS 1.3 cipher suites") }
        guard !groups.isEmpty,
            unsafe gatehouse_SSL_CTX_set1_groups_list(context, groups.joined(separator: ":")) == 1
        else { throw .draining(.invalidConfiguration, context: "groups") }
    }
}
