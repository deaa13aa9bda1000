// SPDX-License-Identifier: Apache-2.0

import AccessControl
import BuiltInRealms
import RealmConfiguration
import RealmKit
import Testing

/// A realm that asks another system.
private struct DistantRealm: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "c")]
    static let dependsOnOtherSystems = true
    let jaasContext: String
    var authType: String { "Distant" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

/// Realms that refer to other realms, and lists of realms of which one may be unavailable.
struct RealmReferencesTests {
    private static let base = """
        login c { PermitLoginModule required; }
        login aggregateRealm { AggregateLoginModule required; }
        realm accounts { class StackRealm; jaas-context c; }

        """

    private static func folder(_ text: String) -> MemoryFolder {
        var folder = MemoryFolder(base + text)
        folder.kinds =
            builtInRealms.filter { $0.classNames.contains("AggregateRealm") } + [RealmKind(DistantRealm.self)]
        return folder
    }

    private static let mistakes: [(text: String, diagnostic: String)] = [
        ("realm p { class AggregateRealm; }", "4:7: error: realm p: authentication: must be set"),
        (
            "realm p { class AggregateRealm; authentication acounts; }",
            "4:48: error: there is no realm acounts | did you mean accounts?"
        ),
        (
            "realm p { class AggregateRealm; authentication accounts accounts; }",
            "4:57: error: authentication takes one word | quote a value that holds blanks"
        ),
        (
            "realm p { class AggregateRealm; authentication accounts; authorization accounts accounts; }",
            "4:81: error: accounts occurs twice in authorization"
        ),
        (
            "realm p { class AggregateRealm; authentication accounts; authorization; }",
            "4:58: error: authorization takes at least one word"
        ),
        (
            "realm p { class AggregateRealm; authentication p; }",
            "4:48: error: realm p would use itself | the references are p -> p"
        ),
        (
            "realm p { class AggregateRealm; authentication q; }\nrealm q { class AggregateRealm; authentication p; }",
            "5:48: error: realm p would use itself | the references are p -> q -> p"
        ),
        (
            "realm p { class AggregateRealm; authentication q; }\nrealm q { }",
            "5:7: error: realm q has no class | as in: class StartWithRealm;"
        ),
        (
            "realm p { class AggregateRealm; authentication accounts; name-mapping \"*@*->*\"; }",
            "4:71: error: realm p: name-mapping: takes patterns with at most one *, not *@*"
        ),
        (
            "realm p { class AggregateRealm; authentication accounts; name-mapping lower-case *@x->* *@X->*; }",
            "4:89: warning: realm p: name-mapping: the rule *@X->* is never applied: after lower-case no name has capital "
                + "letters"
        ),
        (
            "realm p { class AggregateRealm; authentication accounts; when-unavailable ignore; }",
            "4:75: error: when-unavailable is one of continue, stop, not ignore"
        ),
        (
            (0..<10).map { "realm p\($0) { class AggregateRealm; authentication p\($0 + 1); }" }.joined(separator: "\n")
                + "\nrealm p10 { class StackRealm; jaas-context c; }",
            "11:49: error: more than 8 realms refer to each other in a chain"
        ),
        (
            "realm p10 { class StackRealm; jaas-context c; }\n"
                + (0..<10).reversed().map { "realm p\($0) { class AggregateRealm; authentication p\($0 + 1); }" }
                .joined(separator: "\n"),
            "12:49: error: more than 8 realms refer to each other in a chain"
        ),
        (
            "protect / { open; when-unavailable stop; }",
            "4:19: error: open and when-unavailable exclude each other"
        ),
        (
            "protect / { realm accounts; when-unavailable halt; require any; }",
            "4:46: error: when-unavailable is one of continue, stop, not halt"
        ),
        (
            "server { sign-in { when-unavailable stopp; } }",
            "4:37: error: when-unavailable is one of continue, stop, not stopp | did you mean stop?"
        ),
    ]

    @Test(arguments: mistakes)
    func `a mistake in a reference is reported once, at its place`(text: String, diagnostic: String) {
        #expect(Self.folder(text).diagnostics() == ["etc/realms.conf:" + diagnostic])
    }

    @Test func `a realm that is named twice is not linked a second time`() {
        let folder = Self.folder("realm p { class AggregateRealm; authentication accounts; authorization p p; }")
        #expect(
            folder.diagnostics() == [
                "etc/realms.conf:4:72: error: realm p would use itself | the references are p -> p",
                "etc/realms.conf:4:74: error: p occurs twice in authorization",
            ]
        )
    }

    @Test func `a realm may be named before it is declared, and is created once`() throws {
        let configuration = try Self.folder(
            """
            realm people { class AggregateRealm; authentication later; authorization accounts later; }
            realm later { class StackRealm; jaas-context c; }
            """
        ).load()
        #expect(configuration.realms.map(\.name) == ["accounts", "people", "later"])
        let people = try configuration.authenticator.realm("people")
        #expect(people.nested.map(\.name) == ["later", "accounts"])
    }

    @Test func `a change of the configuration of a nested realm changes the realm that uses it`() throws {
        func fingerprint(_ nested: String) throws -> [String] {
            let text =
                "realm people { class AggregateRealm; authentication outer; }\n"
                + "realm outer { class AggregateRealm; authentication inner; }\n"
                + "realm inner { class StackRealm; jaas-context c; \(nested) }"
            return try Self.folder(text).load().authenticator.realm("people").fingerprint
        }
        #expect(try fingerprint("") == fingerprint(""))
        #expect(try fingerprint("") != fingerprint("assign-groups Crew;"))
        #expect(try fingerprint("") != fingerprint("group-mapping a->b;"))
    }

    // MARK: when-unavailable

    private static let far = "realm far { class DistantRealm; }\n"
    private static let warning =
        "warning: while realm far is unavailable, realm accounts decides, and its user of the same name may be another person | write when-unavailable stop; to answer 503 in this case, or when-unavailable continue; if accounts may decide"

    @Test func `several realms without when-unavailable are a warning if an earlier one depends on another system`() {
        for (text, place) in [
            ("protect / { realm far accounts; require any; }", "5:19"),
            ("protect / {\n    realm \"far\" accounts;\n    require any;\n}", "6:11"),
            ("server { sign-in { realm far accounts; } }", "5:26"),
        ] {
            #expect(Self.folder(Self.far + text).diagnostics() == ["etc/realms.conf:\(place): \(Self.warning)"])
        }
        for text in [
            "protect / { realm accounts far; require any; }", "protect / { realm far; require any; }",
            "protect / { realm far accounts; when-unavailable stop; require any; }",
            "protect / { realm far accounts; when-unavailable continue; require any; }",
            "server { sign-in { realm far accounts; when-unavailable stop; } }",
            "server { sign-in { realm accounts far; } }",
        ] {
            #expect(Self.folder(Self.far + text).diagnostics() == [])
        }
    }

    @Test func `a realm depends on another system if a realm that it uses does`() {
        let text = """
            realm near { class AggregateRealm; authentication accounts; }
            realm people { class AggregateRealm; authentication near; authorization far; }
            protect /near { realm near accounts; require any; }
            protect /people { realm people near; require any; }
            """
        let expected = Self.warning.replacing("far", with: "people").replacing("accounts", with: "near")
        #expect(Self.folder(Self.far + text).diagnostics() == ["etc/realms.conf:8:25: \(expected)"])
    }

    @Test func `the setting is read, and continue is the default`() throws {
        let configuration = try Self.folder(
            """
            protect /a { realm accounts; require any; }
            protect /b { realm accounts; when-unavailable stop; require any; }
            server { sign-in { when-unavailable stop; } }
            """
        ).load()
        #expect(configuration.rules.map(\.whenUnavailable) == [.continue, .stop])
        #expect(configuration.server.signIn.whenUnavailable == .stop)
        #expect(try Self.folder("").load().server.signIn.whenUnavailable == nil)
    }
}
