// SPDX-License-Identifier: Apache-2.0

import TLSTesting
import Testing

@testable import OpenSSLKit

@Suite(.enabled(if: TestPKI.isPossible, "needs the openssl command"))
struct ServerIdentityTests {
    let pki: TestPKI

    init() throws {
        pki = try TestPKI.shared.get()
    }

    /// Returns the subject of the certificate that a client gets for a server name, and the name that the server got.
    private func shown(_ server: TLSContext, to name: String, _ version: TLSVersion) throws -> (String, String?) {
        let pins = try ["server", "other", "direct"].flatMap(pki.certificates).map { try $0.publicKeyDigest() }
        var configuration = TLSConfiguration.client(trusting: .pinnedKeys(Set(pins)))
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
    func `a malformed server name extension is read as no name`(bytes: [UInt8], name: String?) {
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
