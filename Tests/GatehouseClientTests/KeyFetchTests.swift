// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPSTesting
import SignIn
import Synchronization
import TLSTesting
import TestTools
import Testing

@testable import GatehouseClient

/// The keys of a server on the loopback interface.
@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
final class KeyFetchTests: Sendable {
    private let first, second: TestSigner
    private let wall = TestWallClock()
    /// The steps of the next response.
    private let answer = Mutex<[TestService.Step]>([])

    init() throws {
        (first, second) = (try TestSigner(), try TestSigner())
        publish([first])
    }

    private func publish(_ signers: [TestSigner]) {
        let json = IdentityKeySet(signers.map(\.key)).json
        answer.withLock { $0 = [.response(json, type: IdentityKeySet.mediaType)] }
    }

    /// Runs `body` with a verifier that fetches its keys.
    private func withVerifier(_ body: (TestService, IdentityTokenVerifier) async throws -> Void) async throws {
        try await withService(respond: { [self] _ in answer.withLock { $0 } }) { service, server in
            let verifier = try IdentityTokenVerifier(
                keys: VerificationKeys(of: server, clock: wall.clock),
                issuer: TestSigner.issuer,
                audience: TestSigner.audience,
                // The clock of the keys is advanced by hours, and the tokens stay valid.
                clock: WallClock { TestSigner.time }
            )
            try await body(service, verifier)
        }
    }

    @Test func `the keys are fetched for the first token, and again after five minutes`() async throws {
        try await withVerifier { (service, verifier) async throws in
            #expect(service.requests.isEmpty)
            for seconds in [0, 0, 1, 298] {
                wall.advance(by: seconds)
                #expect(try await verifier.verify(first.token()).user != nil)
                #expect(service.requests.count == 1)
            }
            wall.advance(by: 1)
            #expect(try await verifier.verify(first.token()).user != nil)
            #expect(service.requests.map(\.line) == Array(repeating: "GET /gatehouse/jwks.json HTTP/1.1", count: 2))
        }
    }

    @Test func `many first tokens at once make one request, and a cancelled caller does not end it`() async throws {
        let latch = Latch()
        answer.withLock { $0.insert(.wait(latch), at: 0) }
        try await withVerifier { (service, verifier) async throws in
            let token = try first.token()
            let cancelled = Task { await verifier.verify(token) }
            try await Waiting.until { service.requests.count == 1 }
            cancelled.cancel()
            let others = (0..<50).map { _ in Task { await verifier.verify(token) } }
            latch.open()
            for task in others { #expect(await task.value.user != nil) }
            #expect(await cancelled.value.user != nil)
            #expect(service.requests.count == 1)
        }
    }

    @Test func `a new key is fetched when a token names it`() async throws {
        try await withVerifier { (service, verifier) async throws in
            #expect(try await verifier.verify(first.token()).user != nil)
            publish([first, second])
            #expect(try await verifier.verify(second.token()).code == .unknownKey)
            wall.advance(by: 10)
            #expect(try await verifier.verify(second.token()).user != nil)
            #expect(try await verifier.verify(first.token()).user != nil)
            #expect(service.requests.count == 2)
        }
    }

    @Test func `a key that the server has removed is trusted for at most five minutes`() async throws {
        try await withVerifier { (service, verifier) async throws in
            #expect(try await verifier.verify(first.token()).user != nil)
            publish([second])
            wall.advance(by: 299)
            #expect(try await verifier.verify(first.token()).user != nil)
            wall.advance(by: 1)
            #expect(try await verifier.verify(first.token()).code == .unknownKey)
            #expect(try await verifier.verify(second.token()).user != nil)
            #expect(service.requests.count == 2)
        }
    }

    @Test func `a flood of tokens with unknown keys makes one request in ten seconds, and stops no other token`()
        async throws
    {
        try await withVerifier { (service, verifier) async throws in
            #expect(try await verifier.verify(first.token()).user != nil)
            wall.advance(by: 10)
            for number in 0..<500 {
                let token = try second.sign(header: #"{"alg":"ES256","kid":"\#(number)","typ":"JWT"}"#)
                #expect(await verifier.verify(token).code == .unknownKey)
            }
            #expect(try await verifier.verify(first.token()).user != nil)
            #expect(service.requests.count == 2)
        }
    }

    @Test func `while a fetch fails the earlier keys are used for up to an hour`() async throws {
        try await withVerifier { (service, verifier) async throws in
            #expect(try await verifier.verify(first.token()).user != nil)
            answer.withLock { $0 = [.response("", status: 503)] }
            wall.advance(by: 300)
            #expect(try await verifier.verify(first.token()).user != nil)
            #expect(service.requests.count == 2)
            // An unknown key may be a new one.
            #expect(
                try await verifier.verify(second.token()).cause?.hasSuffix("/gatehouse/jwks.json: status 503") == true
            )
            wall.advance(by: 3299)
            #expect(try await verifier.verify(first.token()).user != nil)
            wall.advance(by: 1)
            #expect(try await verifier.verify(first.token()).cause != nil)
            publish([first])
            wall.advance(by: 10)
            #expect(try await verifier.verify(first.token()).user != nil)
            #expect(service.requests.count == 4)
        }
    }

    @Test func `without any keys a token is neither accepted nor rejected, and the fetch is tried again`() async throws
    {
        answer.withLock { $0 = [.abort] }
        try await withVerifier { (service, verifier) async throws in
            for _ in 0..<20 { #expect(try await verifier.verify(first.token()).cause != nil) }
            #expect(service.requests.count == 1)
            publish([first])
            wall.advance(by: 9)
            #expect(try await verifier.verify(first.token()).cause != nil)
            wall.advance(by: 1)
            #expect(try await verifier.verify(first.token()).user != nil)
        }
    }

    @Test func `a clock that is set back makes a new fetch`() async throws {
        try await withVerifier { (service, verifier) async throws in
            #expect(try await verifier.verify(first.token()).user != nil)
            wall.advance(by: -100_000)
            #expect(try await verifier.verify(first.token()).user != nil)
            #expect(service.requests.count == 2)
        }
    }

    @Test(arguments: ["", "<html>", "{}", #"{"keys":[]}"#, "long", "redirect"])
    func `an answer that is no key set is no answer`(body: String) async throws {
        let step: TestService.Step =
            switch body {
            case "redirect": TestService.Step.send("HTTP/1.1 302 X\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n")
            case "long": .flood(3 << 20)
            default: .response(body)
            }
        let head = "HTTP/1.1 200 X\r\nContent-Length: 3145728\r\n\r\n"
        answer.withLock { $0 = body == "long" ? [.send(head), step] : [step] }
        try await withVerifier { (service, verifier) async throws in
            #expect(try await verifier.verify(first.token()).cause != nil)
            #expect(service.requests.count == 1)
        }
    }

    @Test func `the keys of a server that is not trusted are not requested`() async throws {
        let keys = IdentityKeySet([first.key]).json
        try await withService(respond: { _ in [.response(keys)] }) { service, _ in
            let pki = try TestPKI.shared.get()
            for authorities in [nil, pki.file("strange.pem").path] {
                let server = try GatehouseEndpoint("https://localhost:\(service.port)", authorities: authorities)
                let verifier = try first.verifier(keys: VerificationKeys(of: server))
                let cause = try await verifier.verify(first.token()).cause
                #expect(cause?.contains("certificate was rejected") == true)
            }
            #expect(service.requests.isEmpty)
        }
    }

    @Test(arguments: [
        "", "http://a", "auth.example.com", "https://", "https://a?x", "https://a/?", "https://a#x", "https://u@a",
        "https://a/..", "https://a b",
    ])
    func `a URL that is not one of a server is an error`(url: String) {
        #expect(throws: GatehouseClientError.self) { try GatehouseEndpoint(url) }
    }

    @Test func `a file without authorities is an error that names it`() throws {
        let pki = try TestPKI.shared.get()
        for name in ["missing.pem", "server.key", "."] {
            let error = #expect(throws: GatehouseClientError.self) {
                try GatehouseEndpoint("https://a", authorities: pki.file(name).path)
            }
            #expect(error?.description.contains(pki.folder.path) == true)
        }
    }

    @Test func `a slash at the end of the URL makes no difference`() throws {
        for url in ["https://a", "https://a/", "https://A:443//"] {
            #expect(try GatehouseEndpoint(url).url("/realms") == "https://a/realms")
        }
        #expect(try GatehouseEndpoint("https://a:8443/x/").url("/realms") == "https://a:8443/x/realms")
    }
}
