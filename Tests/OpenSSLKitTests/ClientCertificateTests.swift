// SPDX-License-Identifier: Apache-2.0

import TLSTesting
import Testing

@testable import OpenSSLKit

@Suite(.enabled(if: TestPKI.isPossible, "needs the openssl command"))
struct ClientCertificateTests {
    let pki: TestPKI
    let keys: SessionTicketKeys

    init() throws {
        pki = try TestPKI.shared.get()
        keys = try SessionTicketKeys(now: { 1_000 })
    }

    private func server(
        _ mode: ClientCertificatePolicy.Mode?,
        authorities: [String] = ["root"],
        lists: [RevocationList] = [],
        depth: Int = 1,
        hosts: [TLSHost] = [],
        minimum: TLSVersion = .tls12
    ) throws -> TLSContext {
        let certificates = try authorities.flatMap(pki.certificates)
        let policy = try mode.map {
            try ClientCertificatePolicy(
                mode: $0,
                authorities: certificates,
                revocationLists: lists,
                maximumDepth: depth
            )
        }
        var configuration = TLSConfiguration.server(
            try pki.identity("server"),
            sessionTickets: keys,
            clientCertificates: policy
        )
        configuration.hosts = hosts
        return try TLSContext(configuration)
    }

    private func client(_ identity: String?, _ version: TLSVersion) throws -> ReturningClient {
        try ReturningClient(pki.client(identity), version)
    }

    /// The subjects of the client's verified chain, from the client's certificate to the authority.
    private func chain(_ pair: Pair) -> [String] { pair.server.tls.verifiedPeerChain().map(\.subject) }

    @Test(arguments: TLSVersion.allCases, ClientCertificatePolicy.Mode.allCases)
    func `a valid certificate is accepted with its verified chain, also on resumed connections`(
        version: TLSVersion,
        mode: ClientCertificatePolicy.Mode
    ) throws {
        let server = try server(mode, lists: pki.lists("all.crl"))
        let client = try client("client", version)
        for round in 0..<4 {
            let pair = try client.connect(to: server)
            #expect(pair.server.tls.info.isResumed == (round > 0))
            #expect(chain(pair) == ["CN=client", "CN=inter", "CN=root"])
            #expect(try pair.server.tls.peerCertificate()?.subject == "CN=client")
        }
        // The client has also verified the server.
        let pair = try self.client("client", version).connect(to: server)
        #expect(pair.client.tls.verifiedPeerChain().map(\.subject) == ["CN=server", "CN=inter", "CN=root"])
    }

    @Test(arguments: TLSVersion.allCases)
    func `a client without a certificate is accepted if certificates are optional, and refused if they are required`(
        version: TLSVersion
    ) throws {
        let client = try client(nil, version)
        let optional = try server(.optional)
        let first = try client.connect(to: optional)
        #expect(chain(first).isEmpty)
        let again = try client.connect(to: optional)
        #expect(again.server.tls.info.isResumed)
        #expect(chain(again).isEmpty)
        let required = try server(.required)
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) {
            try self.client(nil, version).connect(to: required)
        }
    }

    @Test(
        arguments: ["expired", "future", "wronguse", "stranger", "revoked"],
        [(ClientCertificatePolicy.Mode.optional, TLSVersion.tls12), (.optional, .tls13), (.required, .tls13)]
    )
    func `an invalid certificate is refused, even if certificates are optional`(
        name: String,
        how: (ClientCertificatePolicy.Mode, TLSVersion)
    ) throws {
        let server = try server(how.0, lists: pki.lists("all.crl"))
        let client = try client(name, how.1)
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) { try client.connect(to: server) }
    }

    @Test func `a policy verifies a certificate of a file as a handshake does`() throws {
        let lists = try pki.lists("all.crl")
        let policy = try ClientCertificatePolicy(
            mode: .optional,
            authorities: pki.certificates("root"),
            revocationLists: lists
        )
        let intermediate = try pki.certificates("inter")
        try policy.verify([pki.certificates("client")[0]] + intermediate)
        try policy.verify([pki.certificates("direct")[0]])
        let reasons = [
            "expired": "certificate has expired", "future": "certificate is not yet valid",
            "wronguse": "unsuitable certificate purpose", "revoked": "certificate revoked",
            "stranger": "unable to get local issuer certificate",
        ]
        for (name, reason) in reasons {
            let error = #expect(throws: OpenSSLError.self, "\(name)") {
                try policy.verify([pki.certificates(name)[0]] + intermediate)
            }
            #expect(error?.code == .certificateRejected)
            #expect(error?.reasons == [reason], "\(name)")
        }
        // Without the intermediate there is no chain.
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) {
            try policy.verify([pki.certificates("client")[0]])
        }
        let flat = try ClientCertificatePolicy(mode: .required, authorities: pki.certificates("root"), maximumDepth: 0)
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) {
            try flat.verify([pki.certificates("client")[0]] + intermediate)
        }
        let unlisted = try ClientCertificatePolicy(
            mode: .optional,
            authorities: pki.certificates("root"),
            revocationLists: pki.lists("inter.crl")
        )
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) {
            try unlisted.verify([pki.certificates("client")[0]] + intermediate)
        }
        #expect(throws: OpenSSLError(.noCertificate, context: "")) { try policy.verify([]) }
    }

    @Test func `a certificate is refused if a revocation list is missing or expired`() throws {
        for lists in [["inter.crl"], ["root.crl"], ["root.crl", "old.crl"]] {
            let server = try server(.required, lists: lists.flatMap { try pki.lists($0) })
            #expect(throws: OpenSSLError(.certificateRejected, context: ""), "\(lists)") {
                try client("client", .tls13).connect(to: server)
            }
        }
    }

    @Test func `a chain longer than the maximum depth is refused`() throws {
        let flat = try server(.required, depth: 0)
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) {
            try client("client", .tls13).connect(to: flat)
        }
        let pair = try client("direct", .tls13).connect(to: flat)
        #expect(chain(pair) == ["CN=direct", "CN=root"])
    }

    @Test(arguments: TLSVersion.allCases)
    func `a session of a server without client certificates is not resumed by a server that requests them`(
        version: TLSVersion
    ) throws {
        let client = try client("client", version)
        try client.connect(to: server(nil))
        #expect(try client.isResumed(by: server(nil)))
        for mode in ClientCertificatePolicy.Mode.allCases {
            #expect(try !client.isResumed(by: server(mode)))
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a session is not resumed under another mode, depth or set of authorities`(version: TLSVersion) throws {
        let client = try client("client", version)
        try client.connect(to: server(.required))
        #expect(try client.isResumed(by: server(.required)))
        #expect(try !client.isResumed(by: server(.optional)))
        #expect(try !client.isResumed(by: server(.required, depth: 2)))
        #expect(try !client.isResumed(by: server(.required, authorities: ["root", "strange"])))
        #expect(try !client.isResumed(by: server(nil)))
    }

    @Test(arguments: TLSVersion.allCases)
    func `a client without a certificate cannot use a ticket of the optional mode if certificates are required`(
        version: TLSVersion
    ) throws {
        let client = try client(nil, version)
        try client.connect(to: server(.optional))
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) { try client.connect(to: server(.required)) }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a certificate revoked after its session began is refused, although its ticket is valid`(
        version: TLSVersion
    ) throws {
        let client = try client("revoked", version)
        let before = try server(.required, lists: pki.lists("root.crl", "none.crl"))
        try client.connect(to: before)
        #expect(try client.isResumed(by: before))
        // Both servers have the same session scope, so only the check at the resumption can refuse the certificate.
        let after = try server(.required, lists: pki.lists("all.crl"))
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) { try client.connect(to: after) }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a session is not resumed if a revocation list has expired since the session began`(version: TLSVersion) throws
    {
        let client = try client("client", version)
        try client.connect(to: server(.required, lists: pki.lists("root.crl", "none.crl")))
        let after = try server(.required, lists: pki.lists("root.crl", "old.crl"))
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) { try client.connect(to: after) }
    }

    @Test(arguments: TLSVersion.allCases)
    func
        `CVE-2025-23419, CVE-2025-23048, CVE-2026-32305, GHSA-gv8r-9rw9-9697: a session of one host is not resumed by another`(
            version: TLSVersion
        ) throws
    {
        let hosts = [
            TLSHost(names: ["other.test"], identity: try pki.identity("other")),
            TLSHost(names: ["*.wild.test"], identity: try pki.identity("other")),
        ]
        let server = try server(.required, hosts: hosts)
        let client = try client("client", version)
        try client.connect(to: server)
        #expect(try client.isResumed(by: server))
        #expect(try !client.isResumed(by: server, name: "other.test"))
        #expect(try !client.isResumed(by: server, name: "a.wild.test"))
        let other = try self.client("client", version)
        let pair = try other.connect(to: server, name: "other.test")
        #expect(chain(pair) == ["CN=client", "CN=inter", "CN=root"])
        #expect(try other.isResumed(by: server, name: "other.test"))
        #expect(try !other.isResumed(by: server))
    }

    @Test func `client certificates are checked for additional hosts too`() throws {
        let hosts = [TLSHost(names: ["other.test"], identity: try pki.identity("other"))]
        let server = try server(.required, lists: pki.lists("all.crl"), hosts: hosts)
        for name in [nil, "expired", "stranger", "revoked"] {
            #expect(throws: OpenSSLError(.certificateRejected, context: ""), "\(name ?? "none")") {
                try client(name, .tls13).connect(to: server, name: "other.test")
            }
        }
    }

    @Test func `a policy needs authorities, and a depth within its limits`() throws {
        let root = try pki.certificates("root")
        let leaf = try pki.certificates("client")
        #expect(throws: OpenSSLError.self) { try ClientCertificatePolicy(mode: .required, authorities: []) }
        #expect(throws: OpenSSLError.self) { try ClientCertificatePolicy(mode: .optional, authorities: leaf) }
        for depth in [-1, 21] {
            #expect(throws: OpenSSLError.self) {
                try ClientCertificatePolicy(mode: .required, authorities: root, maximumDepth: depth)
            }
        }
    }

    @Test func `a file without a revocation list, with a truncated list or a delta is refused`() throws {
        let good = try pki.bytes("all.crl")
        #expect(try RevocationList.lists(pem: good, name: "x").map(\.issuer) == ["CN=root", "CN=inter"])
        for bytes in [[], Array("text".utf8), try pki.bytes("root.pem")] {
            #expect(throws: OpenSSLError(.noRevocationList, context: "")) {
                try RevocationList.lists(pem: bytes, name: "x")
            }
        }
        // Between complete lists, too.
        #expect(throws: OpenSSLError(.deltaRevocationList, context: "")) {
            try RevocationList.lists(pem: good + Array("\n\(TestPKI.deltaList)\n".utf8) + good, name: "x")
        }
        let half = Array(good[..<(good.count - 100)])
        #expect(throws: OpenSSLError(.malformedRevocationList, context: "")) {
            try RevocationList.lists(pem: half, name: "x")
        }
    }
}
