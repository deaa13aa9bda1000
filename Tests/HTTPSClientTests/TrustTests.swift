// SPDX-License-Identifier: Apache-2.0

import HTTPSClient
import HTTPSTesting
import OpenSSLKit
import TLSTesting
import Testing

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct TrustTests {
    private static func pin(_ name: String) throws -> Digest { try Fixture.pki.certificates(name)[0].publicKeyDigest() }

    /// Sends a request to a service with a certificate; returns nil if the server is trusted.
    private static func error(_ certificate: String, trust: TLSTrust) async throws -> HTTPSClientError? {
        try await Fixture.withService(certificate, respond: { _ in [Fixture.response("x")] }) { service in
            let client = try HTTPSClient(HTTPSClientConfiguration(trust: trust))
            let url = try service.url()
            do throws(HTTPSClientError) {
                _ = try await client.get(url)
                return nil
            } catch {
                #expect(service.requests.isEmpty)
                #expect(!error.mayHaveReachedServer)
                return error
            }
        }
    }

    @Test(arguments: [("other", "name"), ("expiredserver", "expired"), ("wronguse", "name")])
    func `a certificate with another name, or that has expired`(certificate: String, cause: String) async throws {
        let error = try #require(try await Self.error(certificate, trust: Fixture.trust()))
        #expect(error.code == .certificateRejected)
        #expect(error.cause.contains(cause) || error.cause.contains("match"), "\(error.cause)")
    }

    @Test func `a certificate of an unknown authority`() async throws {
        let trust = TLSTrust.authorities(try Fixture.pki.certificates("strange"))
        #expect(try await Self.error("server", trust: trust)?.code == .certificateRejected)
        #expect(try await Self.error("server", trust: .system)?.code == .certificateRejected)
    }

    @Test func `a pinned key replaces the check of the chain`() async throws {
        #expect(try await Self.error("other", trust: .pinnedKeys([Self.pin("other")])) == nil)
        #expect(try await Self.error("expiredserver", trust: .pinnedKeys([Self.pin("expiredserver")])) == nil)
        let changed = try await Self.error("server", trust: .pinnedKeys([Self.pin("other"), Self.pin("client")]))
        #expect(changed?.code == .certificateRejected)
        // The cause names the key, so that the administrator can compare it with the service's new key.
        let key = try Self.pin("server").pin
        #expect(changed?.cause == "the server's certificate was rejected: the key \(key) is not pinned")
    }

    @Test func `with authorities, the key and the chain are checked`() async throws {
        let root = try Fixture.pki.certificates("root")
        let pin = try Self.pin("server")
        #expect(try await Self.error("server", trust: .pinnedKeys([pin], authorities: root)) == nil)
        let strange = try Fixture.pki.certificates("strange")
        #expect(
            try await Self.error("server", trust: .pinnedKeys([pin], authorities: strange))
                == .some(.init(.certificateRejected, ""))
        )
        let others = try [Self.pin("other"), Self.pin("expiredserver")]
        #expect(try await Self.error("server", trust: .pinnedKeys(Set(others), authorities: root)) != nil)
        #expect(try await Self.error("other", trust: .pinnedKeys(Set(others), authorities: root)) != nil)
        #expect(try await Self.error("expiredserver", trust: .pinnedKeys(Set(others), authorities: root)) != nil)
    }

    @Test func `the forms of a pin`() throws {
        let pin = try Self.pin("server")
        #expect(Digest(pin: pin.pin) == pin)
        #expect(Digest(pin: pin.hex) == pin)
        #expect(Digest(pin: pin.fingerprint) == pin)
        for text in [
            "", "sha256//", "sha256//YQ==", "sha1//YQ==", String(pin.hex.dropLast()), pin.hex + "00",
        ] {
            #expect(Digest(pin: text) == nil, "\(text)")
        }
    }

    @Test func `the pin is that of openssl`() throws {
        let certificate = try #require(
            try Certificate.chain(pem: Array(Self.example.utf8), name: "example").first
        )
        // openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256
        #expect(try certificate.publicKeyDigest().hex == Self.exampleDigest)
    }

    private static let example = """
        -----BEGIN CERTIFICATE-----
        MIIBezCCASGgAwIBAgIURIiO8Ld98LFfVvkXOLFZYdXoADEwCgYIKoZIzj0EAwIw
        EjEQMA4GA1UEAwwHZXhhbXBsZTAgFw0yNjExMjIxMzEwNTlaGA8yMTI2MTAyOTEz
        MTA1OVowEjEQMA4GA1UEAwwHZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
        A0IABCsLgsRUs4xJNJMl5XHBwNnqV1LWXRseWmmdItW1uLWXyM94OrDu9BFASADm
        8N2LAZ31JA+uk85+D0PECgImXDCjUzBRMB0GA1UdDgQWBBRZlfObP35i42oHVJan
        UXkNu9CVFzAfBgNVHSMEGDAWgBRZlfObP35i42oHVJanUXkNu9CVFzAPBgNVHRMB
        Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCYuNNpSCydUcZ25nQBVvtJ9stZ
        HCxwM2kKEnpGREfNLQIgLP7YvyNEkJYKX1pkl/sX7EbPTreKnlILwOy1Lpr2Das=
        -----END CERTIFICATE-----
        """
    private static let exampleDigest = "2b2782ac9627271536964896628e14826465ff67b5875e5a0e39d4131e887b46"

    @Test func `empty lists of pins and authorities are rejected`() throws {
        #expect(throws: HTTPSClientError.self) { try HTTPSClient(HTTPSClientConfiguration(trust: .pinnedKeys([]))) }
        #expect(throws: HTTPSClientError.self) {
            try HTTPSClient(HTTPSClientConfiguration(trust: .authorities([])))
        }
    }

    @Test func `a client certificate is presented if there is one`() async throws {
        let policy = try ClientCertificatePolicy(mode: .required, authorities: Fixture.pki.certificates("root"))
        let tls = try TLSConfiguration.server(Fixture.pki.identity("server"), clientCertificates: policy)
        let service = try await TestService(tls: tls, respond: { _ in [Fixture.response("x")] })
        let client = try Fixture.client { $0.identity = try Fixture.pki.identity("client") }
        #expect(try await client.get(service.url()).status == 200)
        let error = try await #require(throws: HTTPSClientError.self) { try await Fixture.client().get(service.url()) }
        #expect(error.code == .connectionClosed || error.code == .connectFailed, "\(error)")
        #expect(service.requests.count == 1)
        try await service.stop()
    }
}
