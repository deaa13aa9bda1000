// SPDX-License-Identifier: Apache-2.0

import AccessControl
import Bytes
import HTTPTypes
import NIOCore
import OpenSSLKit
import RealmConfiguration
import RealmKit
import RealmTesting
import Synchronization
import Testing
import Throttle

@testable import SignIn

/// Waits for the cancellation of the login.
private struct EndlessModule: LoginModule {
    static let started = Mutex(0)
    static let cancelled = Mutex(0)

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        Self.started.withLock { $0 += 1 }
        do {
            try await Task.sleep(for: .seconds(3600))
        } catch {
            Self.cancelled.withLock { $0 += 1 }
        }
        return .failed(.unavailable)
    }
}

private struct EndlessRealm: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "endless")]
    let jaasContext: String
    var authType: String { "Endless" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

@Suite struct CancelledCheckTests {
    /// The server cancels the task of a request when the client disconnects.
    @Test(.timeLimit(.minutes(2)))
    func `a check whose task is cancelled ends its login and is not a refusal`() async throws {
        let text = """
            login endless { EndlessModule required; }
            realm endless { class EndlessRealm; }
            server { listen 127.0.0.1:0; realm-api { client mail { realm endless; token \(AskedServer.token); } } }
            """
        let server = try TestServer(text, kinds: [RealmKind(EndlessRealm.self, modules: EndlessModule.self)])
        let credentials = APICredentials(
            token: .digest(try Digest.sha256(Array(AskedServer.token.utf8))),
            certificateChain: []
        )
        let request = WebRequest(
            method: "POST",
            query: "",
            authority: "house.example",
            client: RequestClient(address: "192.0.2.7"),
            fields: [.contentType: "application/json"],
            body: { _ in ByteBuffer(string: "{\"username\":\"ann\",\"password\":\"x\"}") }
        )
        let check = Task { await server.signIn.respond(at: .realmCheck("endless"), to: request, from: credentials) }
        while EndlessModule.started.withLock({ $0 }) == 0 { await Task.yield() }
        check.cancel()
        let answer = await check.value
        #expect(answer.head.status == .serviceUnavailable)
        while EndlessModule.cancelled.withLock({ $0 }) == 0 { await Task.yield() }
    }
}
