// SPDX-License-Identifier: Apache-2.0

import Bytes
import OpenSSLKit
import RealmBasics
import RealmConfiguration
import RealmKit
import RealmTesting
import Sessions
import Synchronization
import TLSTesting
import Testing

@testable import AccessControl

/// The scheme `certificate` with a clock that the tests set.
@Suite struct ClientCertificateTests {
    /// 2026-01-01 00:00 UTC.
    private static let start = 1_767_225_600

    private final class Time: Sendable {
        let seconds = Mutex(ClientCertificateTests.start)
    }

    /// A controller with one rule, and the time of its clocks.
    private final class Site: Sendable {
        let controller: AccessController
        private let time = Time()
        private let monotonic = ManualClock()

        init(
            schemes: [ProtectRule.Scheme] = [.certificate],
            realms: [String] = ["cards"],
            unavailable: Set<String> = [],
            broken: Set<String> = [],
            whenUnavailable: WhenUnavailable = .continue
        ) throws {
            let wall = WallClock { [time] in time.seconds.withLock { $0 } }
            var services = RealmServices()
            services[WallClock.self] = wall
            let monotonic = monotonic
            let bound = try realms.map { name in
                let realm = try CertificateRealm(
                    RealmProperties(
                        ["name-from": .string(name == "mail" ? "email" : "common-name")],
                        schema: CertificateRealm.properties,
                        realmName: name,
                        services: services
                    )
                )
                let options = try ModuleOptions(schema: CertificateLoginModule.options, realmName: name)
                let module: any LoginModule =
                    unavailable.contains(name)
                    ? UnavailableModule() : try CertificateLoginModule(realm: realm, options: options)
                // The second module rejects every user, so the login is a rejection in spite of the outage.
                let others: [LoginStack.Entry] =
                    broken.contains(name)
                    ? [.init(UnavailableModule(), .optional), .init(RejectingModule(), .required)] : []
                let stack = LoginStack(name: name, [.init(module, .required)] + others, clock: monotonic)
                return BoundRealm(name: name, className: "CertificateRealm", realm: realm, stack: stack)
            }
            var rule = ProtectRule(path: "/", realms: realms, schemes: schemes, requirements: [.any])
            rule.whenUnavailable = whenUnavailable
            controller = AccessController(
                rules: ProtectionRules([rule]),
                authenticator: Authenticator(bound),
                sessions: SessionTable(SessionSettings(), clock: monotonic, wall: wall, onEnd: { _, _ in }),
                credentialCache: try CredentialCache(lifetime: 3_600_000_000_000),
                clock: monotonic,
                wallClock: wall
            )
        }

        /// Moves both clocks forward.
        func advance(seconds: Int) {
            time.seconds.withLock { $0 += seconds }
            monotonic.advance(by: .seconds(seconds))
        }
    }

    /// A module whose back end cannot be reached.
    private struct UnavailableModule: CertificateNamingModule {
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func username(ofCertificate certificate: [UInt8]) async throws(LoginFault) -> Username {
            throw .unavailable("the back end is down")
        }

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            throw .unavailable("the back end is down")
        }
    }

    /// A module that rejects every user.
    private struct RejectingModule: LoginModule {
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            .failed(.permissionDenied)
        }
    }

    private static func chain(
        _ name: String = "ann",
        until end: String = "20260101000100Z",
        authorityUntil authorityEnd: String = "20990101000000Z"
    ) throws -> [Certificate] {
        var template = CertificateTemplate()
        template.subject = [[("2.5.4.3", .utf8(name))]]
        template.validity.1 = end
        var authority = CertificateTemplate()
        authority.validity.1 = authorityEnd
        return try [template, authority].map { try Certificate(der: $0.der, context: "test") }
    }

    private func decide(_ site: Site, _ chain: [Certificate]) throws -> AccessController.Answer {
        var client = RequestClient(address: "192.0.2.1")
        client.certificate = ClientCertificate(chain)
        let path = try #require(RequestPath(target: "/"))
        let request = AccessRequest(method: "GET", path: PathReadings(path), host: .notNeeded, client: client)
        return site.controller.decide(request) { .nothing }
    }

    private enum Result: Equatable {
        case cached(String)
        case loggedIn(String)
        case certificateNeeded(String)
        case unavailable(String)
        case other
    }

    private func result(_ site: Site, _ chain: [Certificate]) async throws -> Result {
        switch try decide(site, chain) {
        case .now(let result):
            switch result.decision {
            case .allowed(let user): return .cached(user.username.text)
            case .certificateNeeded: return .certificateNeeded("")
            default: return .other
            }
        case .afterLogin(let login):
            let completed = await site.controller.complete(login)
            switch completed.result.decision {
            case .allowed(let user): return .loggedIn(user.username.text)
            case .certificateNeeded: return .certificateNeeded(completed.certificateFault?.log ?? "")
            case .unavailable: return .unavailable(completed.certificateFault?.log ?? "")
            default: return .other
            }
        }
    }

    @Test func `an accepted certificate is cached until it expires`() async throws {
        let site = try Site()
        let chain = try Self.chain()
        #expect(try await result(site, chain) == .loggedIn("ann"))
        #expect(try await result(site, chain) == .cached("ann"))
        site.advance(seconds: 59)
        #expect(try await result(site, chain) == .cached("ann"))
        // The connection is still open. The last second of validity is included.
        site.advance(seconds: 2)
        #expect(try await result(site, chain) == .certificateNeeded("the certificate is not valid at present"))
    }

    @Test func `a certificate is refused after an authority of its chain has expired`() async throws {
        let site = try Site()
        let chain = try Self.chain(until: "20990101000000Z", authorityUntil: "20260101000100Z")
        #expect(try await result(site, chain) == .loggedIn("ann"))
        site.advance(seconds: 61)
        #expect(try await result(site, chain) == .certificateNeeded("the certificate is not valid at present"))
    }

    @Test func `a certificate that expires during the login is refused`() async throws {
        let site = try Site()
        guard case .afterLogin(let login) = try decide(site, Self.chain()) else {
            Issue.record("no login")
            return
        }
        site.advance(seconds: 61)
        let completed = await site.controller.complete(login)
        guard case .certificateNeeded = completed.result.decision else {
            Issue.record("\(completed.result.decision)")
            return
        }
        #expect(completed.certificateFault?.kind == .credentialExpired)
    }

    @Test func `each certificate has its own user, and no certificate has none`() async throws {
        let site = try Site()
        for _ in 0..<2 {
            for name in ["ann", "bob"] {
                let result = try await result(site, Self.chain(name))
                #expect(result == .loggedIn(name) || result == .cached(name))
            }
        }
        #expect(try await result(site, []) == .certificateNeeded(""))
    }

    @Test func `the realms of a rule read the certificate in order`() async throws {
        let site = try Site(realms: ["mail", "cards"])
        #expect(try await result(site, Self.chain()) == .loggedIn("ann"))
        let strict = try Site(realms: ["mail"])
        #expect(try await result(strict, Self.chain()) == .certificateNeeded("the certificate has no mail address"))
    }

    @Test func `a realm that cannot read certificates at present is unavailable`() async throws {
        let site = try Site(realms: ["down"], unavailable: ["down"])
        #expect(try await result(site, Self.chain()) == .unavailable("the back end is down"))
        // Another realm of the rule may still accept the certificate. If it rejects it, the user may be in the first.
        for realms in [["down", "cards"], ["cards", "down"]] {
            let site = try Site(realms: realms, unavailable: ["down"])
            #expect(try await result(site, Self.chain()) == .loggedIn("ann"))
        }
        for realms in [["down", "mail"], ["mail", "down"]] {
            let site = try Site(realms: realms, unavailable: ["down"])
            #expect(try await result(site, Self.chain()) == .unavailable("the back end is down"))
        }
    }

    @Test func `with stop, the realms after an outage are not used, also if the login was rejected`() async throws {
        let realms = ["partner", "cards"]
        let lenient = try Site(realms: realms, broken: ["partner"])
        #expect(try await result(lenient, Self.chain()) == .loggedIn("ann"))
        let strict = try Site(realms: realms, broken: ["partner"], whenUnavailable: .stop)
        #expect(try await result(strict, Self.chain()) == .certificateNeeded(""))
        let down = try Site(realms: realms, unavailable: ["partner"], whenUnavailable: .stop)
        #expect(try await result(down, Self.chain()) == .unavailable("the back end is down"))
    }

    @Test func `cached credentials of a connection with a certificate are not used on another connection`() throws {
        let cache = try CredentialCache(lifetime: 1_000)
        guard case .credentials(let basic) = BasicScheme.read(["Basic YW5uOng="]) else {
            Issue.record("no credentials")
            return
        }
        let (ann, bob) = (ClientCertificate(try Self.chain("ann")), ClientCertificate(try Self.chain("bob")))
        var keys: Set<CredentialCache.Key> = []
        for certificate in [nil, ann, bob] {
            for credentials in [CredentialCache.Credentials.certificate, .password(basic)] {
                let key = cache.key(realms: ["any"], peer: nil, certificate: certificate, credentials: credentials)
                keys.insert(try #require(key))
            }
        }
        #expect(keys.count == 6)
    }
}
