// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import TLSTesting
import Testing

@testable import OpenSSLKit

@Suite(.enabled(if: TestPKI.isPossible, "needs the openssl command"))
struct ServerIdentityTests {
    let pki: TestPKI

    init() throws {
        pki = try TestPKI.shared.get()
    }

    /// The subject of the certificate that a client gets for a server name, and the name that the server read.
    private func shown(_ server: TLSContext, to name: String, _ version: TLSVersion) throws -> (String, String?) {
        let pins = try Set(["server", "other", "direct"].flatMap(pki.certificates).map(\.digest))
        var configuration = TLSConfiguration.client(trusting: .pinned(pins))
        configuration.maximumVersion = version
        let pair = try Pair(server: server, client: TLSContext(configuration), name: name)
        try pair.shakeHands()
        return (try #require(try pair.client.tls.peerCertificate()).subject, pair.server.tls.info.serverName)
    }

    @Test(
        arguments: [
            ("other.test", "CN=other"), ("OTHER.Test", "CN=other"), ("www.other.test", "CN=server"),
            ("a.wild.test", "CN=other"), ("exact.wild.test", "CN=direct"), ("a.b.wild.test", "CN=server"),
            ("wild.test", "CN=server"), ("localhost", "CN=server"), ("unknown.test", "CN=server"),
        ],
        TLSVersion.allCases
    )
    func `the certificate is selected by the requested server name`(
        expected: (name: String, subject: String),
        version: TLSVersion
    ) throws {
        var configuration = TLSConfiguration.server(try pki.identity("server"))
        configuration.hosts = [
            TLSHost(names: ["Other.Test.", "*.wild.test"], identity: try pki.identity("other")),
            TLSHost(names: ["exact.wild.test"], identity: try pki.identity("direct")),
        ]
        let server = try TLSContext(configuration)
        let (subject, name) = try shown(server, to: expected.name, version)
        #expect(subject == expected.subject)
        #expect(name == expected.name.lowercased())
    }

    @Test func `a client that sends no server name gets the default certificate`() throws {
        var configuration = TLSConfiguration.server(try pki.identity("server"))
        configuration.hosts = [TLSHost(names: ["other.test"], identity: try pki.identity("other"))]
        let (subject, name) = try shown(TLSContext(configuration), to: "127.0.0.1", .tls13)
        #expect(subject == "CN=server")
        #expect(name == nil)
    }

    @Test(arguments: [["a b"], [""], [], ["x.test", "X.TEST"], ["*.*.test"], ["a.*"], ["*"], ["."]])
    func `invalid and repeated host names are refused`(names: [String]) throws {
        var configuration = TLSConfiguration.server(try pki.identity("server"))
        configuration.hosts = [TLSHost(names: names, identity: try pki.identity("other"))]
        let bad = configuration
        #expect(throws: OpenSSLError(.invalidName, context: "")) { try TLSContext(bad) }
    }

    @Test(
        arguments: [
            ([0, 7, 0, 0, 4, 97, 46, 98, 46], "a.b"), ([0, 4, 0, 0, 1, 65], "a"), ([0, 4, 1, 0, 1, 65], nil),
            ([0, 4, 0, 0, 2, 65], nil), ([0, 5, 0, 0, 1, 65], nil), ([0, 4, 0, 0, 1, 0], nil),
            ([0, 4, 0, 0, 1, 46], nil),
            ([], nil), ([0, 3, 0, 0, 0], nil), ([0, 5, 0, 0, 1, 65, 66], nil), ([0, 4, 0, 0, 1, 200], nil),
        ] as [([UInt8], String?)]
    )
    func `malformed bytes of the server name extension give no name`(bytes: [UInt8], name: String?) {
        unsafe #expect(bytes.withUnsafeBufferPointer { unsafe serverName(in: $0) } == name)
    }

    @Test func `new connections use the new context, and existing connections continue`() throws {
        let source = TLSContextSource(try TLSContext(.server(try pki.identity("server"))))
        let client = try TLSContext(pki.client())
        let old = try Pair(server: source.current, client: client)
        try old.shakeHands()
        let next = try TLSContext(.server(try pki.identity("other")))
        let before = source.replace(with: next)
        #expect(source.current === next && before !== next)
        let new = try Pair(server: source.current, client: client, name: "other.test")
        try new.shakeHands()
        #expect(try new.client.tls.peerCertificate()?.subject == "CN=other")
        #expect(try old.client.write([7]) == .written)
        old.client.deliver(to: old.server)
        #expect(try old.server.read().bytes == [7])
    }
}

@Suite(.enabled(if: TestPKI.isPossible, "needs the openssl command"))
struct OCSPTests {
    let pki: TestPKI

    init() throws {
        pki = try TestPKI.shared.get()
    }

    @Test func `a valid OCSP response is accepted, and the end of its validity is read`() throws {
        let identity = try pki.identity("server", ocsp: "server.ocsp")
        let next = try #require(identity.ocspResponse?.nextUpdate)
        #expect(abs(next - secondsNow - 7 * 86_400) < 3_600)
    }

    @Test func `an OCSP response is refused if it is for another certificate, has a bad status, or is truncated`() throws {
        let leaf = try pki.certificates("server")[0]
        let revoked = try pki.certificates("revoked")[0]
        let good = try pki.bytes("server.ocsp")
        #expect(throws: OpenSSLError(.rejectedOCSPResponse, context: "")) {
            try OCSPResponse(der: pki.bytes("other.ocsp"), for: leaf, name: "x")
        }
        let error = #expect(throws: OpenSSLError(.rejectedOCSPResponse, context: "")) {
            try OCSPResponse(der: pki.bytes("revoked.ocsp"), for: revoked, name: "x")
        }
        #expect(error?.context.contains("revoked") == true)
        for bytes in [[], Array(good.dropLast()), good + [0], Array("text".utf8)] {
            #expect(throws: OpenSSLError(.malformedOCSPResponse, context: "")) {
                try OCSPResponse(der: bytes, for: leaf, name: "x")
            }
        }
        // A response without an answer: status tryLater (RFC 6960 4.2.1).
        let later = #expect(throws: OpenSSLError(.rejectedOCSPResponse, context: "")) {
            try OCSPResponse(der: [0x30, 3, 0x0a, 1, 3], for: leaf, name: "x")
        }
        #expect(later?.context.contains("trylater") == true)
    }
}

@Suite struct ParameterTests {
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

    @Test func `the first cipher suite of the client that the server accepts is selected`() throws {
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
}
