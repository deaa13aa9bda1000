// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import SeededRandom
import TLSTesting
import Testing

@testable import RealmBasics

/// The module alone and in stacks.
struct ModuleTests {
    private static func template(_ name: String) -> CertificateTemplate {
        var template = CertificateTemplate()
        template.subject = [[("2.5.4.3", .utf8(name))]]
        return template
    }

    private static let options = ["name-from": "common-name"]

    /// Accepts any user with the password `secret`.
    private struct SecretModule: LoginModule {
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            let password = try await attempt.password()
            return password.isEqual(to: Secret(utf8: "secret"))
                ? attempt.commit(groups: ["ByPassword"]) : .failed(.wrongCredentials)
        }
    }

    private func login(
        as name: String,
        certificate: CertificateTemplate?,
        password: String?,
        _ certificateFlag: ControlFlag,
        _ passwordFlag: ControlFlag
    ) async throws -> LoginReport {
        let module = try Fixture.module(of: OtherRealm(), options: Self.options)
        let stack = Fixture.stack([.init(module, certificateFlag), .init(SecretModule(), passwordFlag)])
        let conversation = PreparedConversation(
            name: name,
            password: password.map { Secret(utf8: $0) },
            certificate: certificate?.der
        )
        return await stack.login(LoginRequest(realm: "other", username: try Username(name)), asking: conversation)
    }

    @Test func `the modules keep the contract`() async throws {
        let realm = RealmConformance(
            CertificateRealm.self,
            properties: ["name-from": ["common-name"], "groups-from": ["OU"]],
            unknownUsers: ["ann"],
            services: Fixture.services()
        )
        #expect(await realm.violations() == [])
        let folder = try Fixture.Folder()
        let file = try folder.write(#"subject CN=ann issuer CN=ca user ann groups Staff"#)
        let mapped = RealmConformance(
            CertificateRealm.self,
            properties: ["name-from": ["mapping"], "mapping-file": [file]],
            members: ["ann": ["Staff"]],
            unknownUsers: ["bob"],
            services: Fixture.services()
        )
        #expect(await mapped.violations() == [])
        let (ann, bob) = (Self.template("ann").der, Self.template("bob").der)
        let module = LoginModuleConformance(
            try Fixture.module(of: Fixture.realm(["name-from": ["common-name"]])),
            accepts: [.init("ann", certificate: ann), .init("bob", certificate: bob)],
            refuses: [.init("ann", certificate: bob), .init("ann"), .init("Ann", certificate: ann)],
            timeLimit: .seconds(60)
        )
        #expect(await module.violations() == [])
    }

    @Test func `a certificate of one user and the password of another are not one user`() async throws {
        let bob = Self.template("bob")
        let report = try await login(as: "ann", certificate: bob, password: "secret", .required, .required)
        #expect(report.identity == nil)
        #expect(report.refusal?.failure == .wrongCredentials)
        let fault = report.steps.lazy.compactMap(\.fault).first
        #expect(fault?.log == "the certificate names another user: bob")
    }

    @Test func `a certificate and a password of the same user are accepted together only`() async throws {
        let ann = Self.template("ann")
        let both = try await login(as: "ann", certificate: ann, password: "secret", .required, .required)
        #expect(both.identity?.username.text == "ann")
        #expect(both.identity?.isMember(of: "ByPassword") == true)
        #expect(try await login(as: "ann", certificate: ann, password: "wrong", .required, .required).identity == nil)
        #expect(try await login(as: "ann", certificate: nil, password: "secret", .required, .required).identity == nil)
        let certificateOnly = try await login(as: "ann", certificate: ann, password: nil, .required, .required)
        #expect(certificateOnly.identity == nil)
        #expect(!certificateOnly.presentedSecret)
    }

    @Test func `a certificate or a password is accepted if both modules are sufficient`() async throws {
        let (ann, bob) = (Self.template("ann"), Self.template("bob"))
        func isAccepted(_ certificate: CertificateTemplate?, _ password: String?) async throws -> Bool {
            try await login(as: "ann", certificate: certificate, password: password, .sufficient, .sufficient)
                .identity?.username.text == "ann"
        }
        #expect(try await isAccepted(ann, nil))
        #expect(try await isAccepted(nil, "secret"))
        #expect(try await isAccepted(bob, "secret"))
        #expect(try await !isAccepted(bob, "wrong"))
        #expect(try await !isAccepted(nil, nil))
    }

    @Test func `no secret is presented with a certificate`() async throws {
        let module = try Fixture.module(of: Fixture.realm(["name-from": ["common-name"]]))
        let stack = Fixture.stack([.init(module, .required)])
        let conversation = PreparedConversation(name: "ann", certificate: Self.template("bob").der)
        let report = await stack.login(LoginRequest(realm: "x", username: try Username("ann")), asking: conversation)
        #expect(!report.presentedSecret)
    }

    @Test func `options in a realm with properties, and settings that contradict each other, are errors`() throws {
        #expect(throws: BadModule.self) { try Fixture.module(of: Fixture.realm(), options: ["name-from": "email"]) }
        let wrong: [(properties: [String: [String]], setting: String)] = [
            (["name-from": ["mapping"]], "name-from"),
            (["mapping-file": ["/map"]], "mapping-file"),
            (["name-from": ["email"], "common-name-as-principal-name": ["true"]], "common-name-as-principal-name"),
            (["groups-from": ["OU"], "dn-parts-used-for-groups": ["O"]], "dn-parts-used-for-groups"),
            (["groups-from": ["unit"]], "groups-from"),
            (["issuers": []], "issuers"),
            (["issuers": [""]], "issuers"),
            (["issuer-domains": ["CN=a -> town.example"]], "issuer-domains"),
            (["name-from": ["email"], "issuer-domains": ["CN=a"]], "issuer-domains"),
            (["name-from": ["email"], "issuer-domains": ["-> town.example"]], "issuer-domains"),
            (["name-from": ["email"], "issuer-domains": ["CN=a -> *.town.example"]], "issuer-domains"),
            (["name-from": ["email"], "issuer-domains": []], "issuer-domains"),
        ]
        for (properties, setting) in wrong {
            let fault = #expect(throws: BadRealm.self) { try Fixture.realm(properties) }
            #expect(fault?.setting == setting)
        }
        let module = try Fixture.module(
            of: OtherRealm(),
            options: [
                "name-from": "email", "issuers": "CN=A,O=Town | CN=B", "issuer-domains": "CN=A,O=Town -> a.example",
            ]
        )
        #expect(type(of: module).moduleNames == ["CertificateLoginModule"])
        #expect(throws: BadRealm.self) {
            try CertificateRealm(
                RealmProperties(schema: CertificateRealm.properties, realmName: "cards", services: .none)
            )
        }
    }

    @Test func `hostile names are accepted unchanged or rejected`() async throws {
        var random = Random(seed: 0x0CE7)
        let pieces: [[UInt8]] =
            [
                "ann", "-", "--help", "\"", "\\", "\n", "\r\n", "\0", ",", "+", "=", "CN=bob", "<", ">", "#", ";", "{",
                "}",
                "$(id)", "'", " ", "\t", "@", "%00", "\u{301}", "\u{E1}", "\u{202E}", "\u{2028}", "\u{FEFF}", "\u{7F}",
            ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x80]]
        let stacks = try ["subject", "common-name", "email", "uri"].map { source in
            let realm = try Fixture.realm(["name-from": [source]])
            return (source, Fixture.stack([.init(try Fixture.module(of: realm), .required)]))
        }
        let (source, stack) = stacks[1]
        #expect(source == "common-name")
        var acceptedCount = 0
        for _ in 0..<2_000 {
            let bytes = (0..<random.below(5) + 1).flatMap { _ in random.pick(pieces) }
            var template = CertificateTemplate()
            template.subject = [[("2.5.4.3", .init(tag: random.pick([0x0C, 0x13, 0x16]), bytes: bytes))]]
            template.names = [(1, bytes), (6, bytes)]
            for (source, stack) in stacks {
                let outcome = try await Fixture.login(template.der, stack: stack)
                guard let name = outcome.name else {
                    #expect(outcome.kind == .unusableCredential)
                    continue
                }
                if source != "subject" { #expect(Array(name.utf8) == bytes) }
                #expect(!name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F || $0.value == 0x2028 })
            }
            if try await Fixture.login(template.der, stack: stack).name != nil { acceptedCount += 1 }
        }
        #expect((200...1_800).contains(acceptedCount), "\(acceptedCount)")
    }
}
