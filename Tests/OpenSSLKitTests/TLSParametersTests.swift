// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenSSLKit

@Suite struct TLSParametersTests {
    private let identity: TLSIdentity

    init() throws {
        identity = try localIdentity()
    }

    private func negotiated(_ parameters: TLSParameters, _ version: TLSVersion) throws -> String? {
        var server = TLSConfiguration.server(identity)
        server.parameters = parameters
        var client = TLSConfiguration.client(trusting: .authorities([identity.leaf]))
        client.maximumVersion = version
        let pair = try Pair(server: server, client: client)
        try pair.shakeHands()
        return pair.server.tls.info.cipherSuite
    }

    @Test func `cipher suites can be configured`() throws {
        let parameters = TLSParameters(
            ciphers: ["ECDHE-ECDSA-CHACHA20-POLY1305"],
            ciphersuites: ["TLS_CHACHA20_POLY1305_SHA256"],
            groups: ["P-256"]
        )
        #expect(try negotiated(parameters, .tls13) == "TLS_CHACHA20_POLY1305_SHA256")
        #expect(
            try negotiated(parameters, .tls12) == "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
        )
    }

    @Test func `the server selects a cipher suite by the client's preference`() throws {
        var server = TLSConfiguration.server(identity)
        server.parameters.ciphersuites = ["TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"]
        var client = TLSConfiguration.client(trusting: .authorities([identity.leaf]))
        client.parameters.ciphersuites = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"]
        let pair = try Pair(server: server, client: client)
        try pair.shakeHands()
        #expect(pair.server.tls.info.cipherSuite == "TLS_AES_128_GCM_SHA256")
    }

    @Test func `without a common group the handshake fails`() throws {
        var server = TLSConfiguration.server(identity)
        server.parameters.groups = ["P-384"]
        var client = TLSConfiguration.client(trusting: .authorities([identity.leaf]))
        client.parameters.groups = ["X25519"]
        let pair = try Pair(server: server, client: client)
        let error = #expect(throws: OpenSSLError.self) { try pair.shakeHands() }
        #expect(error?.code == .noSharedParameters)
    }

    @Test(arguments: [
        TLSParameters(ciphers: ["ECDHE-ECDSA-AES128-GCM-SHA257"]), TLSParameters(ciphers: ["HIGH"]),
        TLSParameters(ciphers: ["NULL-SHA256"]), TLSParameters(ciphers: ["!aNULL"]), TLSParameters(ciphers: [""]),
        TLSParameters(ciphers: ["ECDHE-ECDSA-AES128-GCM-SHA256:RC4-MD5"]), TLSParameters(ciphers: []),
        TLSParameters(ciphers: ["TLS_AES_128_GCM_SHA256"]), TLSParameters(ciphersuites: ["TLS_AES_1"]),
        TLSParameters(ciphersuites: ["ECDHE-ECDSA-AES128-GCM-SHA256"]), TLSParameters(ciphersuites: []),
        TLSParameters(groups: ["P-999"]), TLSParameters(groups: ["X25519:P-256"]), TLSParameters(groups: []),
    ])
    func `unknown names, names of several suites, and empty lists are refused`(parameters: TLSParameters) {
        var configuration = TLSConfiguration.server(identity)
        configuration.parameters = parameters
        let bad = configuration
        #expect(throws: OpenSSLError(.invalidConfiguration, context: "")) { try TLSContext(bad) }
    }

    @Test func `a text that some version of OpenSSL reads as a list of groups is no group`() {
        for name in ["X25519", "P-256", "secp384r1"] { #expect(TLSParameters.knows(group: name), "\(name)") }
        for name in [
            "", "-", "X25519:P-256", "X25519/P-256", "?X25519", "*X25519", "-X25519", "?*X25519", "DEFAULT", "default",
            " X25519", "X25519 ", "X25519,P-256",
        ] {
            #expect(!TLSParameters.knows(group: name), "\(name)")
        }
    }
}
