// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginConf
import RealmConfiguration
import RealmKit
import SeededRandom
import Testing

/// Loads configurations with secrets and random mistakes, and searches all messages for the secrets.
@Suite struct SecretsFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let rounds = environment["GATEHOUSE_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 30
    private static let seed = environment["GATEHOUSE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1

    private static let secret = "QZXJVKWYQ4719XQZJKVWQX8260ZQJXKVQ"
    /// A part of the secret of this length in a message is a failure.
    private static let partLength = 5

    private static let realms = """
        default-realm people;
        login-config "etc/login.conf";
        login vault { VaultLoginModule required depth="1" token=SECRET mode=soft list="a b"; }
        # The key is SECRET
        realm people {
            class VaultRealm;   # key SECRET;
            key SECRET;
            tries 3; colour red;
            friends ann bob;
            assign-groups Staff Town;
            group-mapping "Staff->all";
        }
        realm other { class VaultRealm; note text; key "SECRET"; wait 30s; strict no; }
        realm files { class VaultRealm; key "${file:pw}"; note "${file:pw}"; file "users-${file:pw}"; jaas-context app; }
        realm archive {
            class ArchiveRealm;
            database "postgresql://ann:SECRET@db/app";
            jaas-context app;
        }
        server {
            listen 127.0.0.1:0;
            realm-api {
                client mail { realm people; networks 10.0.0.0/8; token "SECRET"; }
                client shop { realm people;
                    token SECRET
                        "${file:pw}";
                    networks 192.0.2.0/24 198.51.100.0/24;
                    show-reasons on; }
            }
            trusted-proxies 10.0.0.1;
        }
        role staff { group Staff; }
        protect /a { realm people; auth basic; require group Staff; methods GET POST; }
        """
    private static let login = """
        // token SECRET
        app {
            VaultLoginModule required
                depth="2"
                token="SECRET"
                mode=soft;
            VaultLoginModule optional token=SECRET; /* SECRET */
        };
        other { VaultLoginModule sufficient list="a" token="SECRET" deadline="3s"; };
        """
    private static let texts = [realms, login].map { tokens($0.replacing("SECRET", with: secret)) }
    private static let pieces = [
        ";", "{", "}", "\"", "=", "#", "\\", " ", "\t", "\n", "\r\n", "a", "x", ";;", "};", "= ", " {", "'", ",", "/",
        "//",
    ]
    /// The names whose values messages may quote, and those of secrets.
    private static let names = KnownNames(
        harmless: [
            "default-realm", "login-config", "login", "realm", "class", "tries", "colour", "friends", "assign-groups",
            "group-mapping", "note", "wait", "strict", "file", "jaas-context", "server", "listen", "client", "networks",
            "show-reasons", "trusted-proxies", "role", "group", "protect", "auth", "require", "methods", "depth",
            "mode",
            "list", "deadline",
        ],
        secret: ["key", "token", "database"]
    )

    @Test func `no message about a configuration with random mistakes shows a secret`() {
        var random = Random(seed: Self.seed)
        var checked = 0
        var failures = 0
        for round in 0..<Self.rounds where failures < 5 {
            var texts = Self.texts
            for _ in 0...random.below(3) { Self.damage(&texts[random.below(3) / 2], &random) }
            let (realms, login) = (texts[0].joined(), texts[1].joined())
            guard !Self.hasHarmlessSecret(realms), !Self.hasHarmlessOption(realms + login) else { continue }
            checked += 1
            let shown = Self.shown(realms, login)
            guard Self.hasPart(shown) else { continue }
            failures += 1
            Issue.record("round \(round):\n\(shown)\n---\n\(realms)\n---\n\(login)")
        }
        #expect(checked > Self.rounds / 2 || failures > 0)
    }

    /// Texts of line 13 that this test has found, or that are like them.
    @Test(arguments: [
        #"realm other" { class VaultRealm; note text; key "SECRET"; wait 30s; strict no; }"#,
        #"realm other { class "VaultRealm; note text; key "SECRET"; wait 30s; strict no; }"#,
        #"realm other { class VaultRealm; note "text; key "SECRET"; wait 30s; strict no; }"#,
        #"realm other" { class VaultRealm; key SECRET; note "text"; wait 30s; strict no; }"#,
        #"realm other { class VaultRealm; note " text; key SECRET; strict " no; strict x; }"#,
        #"realm other { class VaultRealm; note "text"; friends ann" key SECRET; strict " no; tries x; }"#,
    ])
    func `a quotation mark too many shows no secret`(line: String) {
        let realms = Self.realms.replacing(
            #"realm other { class VaultRealm; note text; key "SECRET"; wait 30s; strict no; }"#,
            with: line
        )
        let shown = Self.shown(
            realms.replacing("SECRET", with: Self.secret),
            Self.login.replacing("SECRET", with: Self.secret)
        )
        #expect(realms != Self.realms && shown.contains("realms.conf:13:"))
        #expect(!Self.hasPart(shown), "\(shown)")
    }

    @Test(arguments: ["#", "{", "=", "'"]) func `a blank too few before an option shows no secret`(sign: String) {
        let realms = Self.realms.replacing(#"depth="1" token=SECRET"#, with: "depth=1\(sign)token=SECRET")
        let shown = Self.shown(realms.replacing("SECRET", with: Self.secret), "")
        #expect(shown.contains("realms.conf:3:") && !Self.hasPart(shown), "\(shown)")
    }

    private static func shown(_ realms: String, _ login: String) -> String {
        var folder = MemoryFolder(realms, ["etc/login.conf": login, "etc/pw": secret])
        folder.kinds = [RealmKind(ArchiveRealm.self, modules: VaultLoginModule.self)]
        do throws(ConfigurationErrors) {
            return try folder.load().warnings.map(\.rendered).joined(separator: "\n")
        } catch {
            return error.description + error.logText
        }
    }

    // MARK: Mistakes

    /// Returns the words, quoted texts, signs and white space of a text.
    private static func tokens(_ text: String) -> [String] {
        text.matches(of: /"[^"]*"|[A-Za-z0-9.\/>:$-]+|\s+|./).map { String($0.output) }
    }

    private static func damage(_ tokens: inout [String], _ random: inout Random) {
        let place = random.below(tokens.count)
        switch random.below(8) {
        case 0: tokens.remove(at: place)
        case 1: tokens.insert(tokens[place], at: place)
        case 2: tokens.swapAt(place, random.below(tokens.count))
        case 3: tokens.insert(random.pick(pieces), at: place)
        case 4:
            // Within a word or a quoted text.
            var letters = Array(tokens[place])
            letters.insert(contentsOf: random.pick(pieces), at: random.below(letters.count + 1))
            tokens[place] = String(letters)
        case 5:
            let lineEnds = tokens.indices.filter { tokens[$0].contains("\n") }
            if !lineEnds.isEmpty { tokens[random.pick(lineEnds)] = random.pick(["", " "]) }
        case 6:
            misspell(&tokens[place], &random)
        default:
            let secrets = tokens.indices.filter { tokens[$0].contains(secret) }
            guard !secrets.isEmpty else { return }
            let moved = tokens.remove(at: random.pick(secrets))
            tokens.insert(" \(moved) ", at: random.below(tokens.count + 1))
        }
    }

    private static func misspell(_ word: inout String, _ random: inout Random) {
        var letters = Array(word)
        guard letters.count > 1 else { return }
        let place = random.below(letters.count - 1)
        switch random.below(4) {
        case 0: letters.remove(at: place)
        case 1: letters.insert(letters[place], at: place)
        case 2: letters.swapAt(place, place + 1)
        default: letters[place] = random.pick(Array("aeiostr-"))
        }
        word = String(letters)
    }

    // MARK: Secrets that are values of harmless statements

    /// Returns whether a secret became a value of a harmless statement, which messages may quote.
    private static func hasHarmlessSecret(_ text: String) -> Bool {
        func check(_ statements: [Statement]) -> Bool {
            statements.contains { statement in
                if case .block(let inner) = statement.body, check(inner) { return true }
                guard names.isHarmless(String(statement.keyword.text.prefix { $0 != "=" && $0 != ":" })) else {
                    return false
                }
                let words = [statement.keyword] + statement.arguments
                let end = words.firstIndex { !$0.isQuoted && names.isSecret($0.text) } ?? words.endIndex
                return words[..<end].contains { hasPart($0.text) }
            }
        }
        // A `;` may be missing before a statement at the beginning of a line.
        let lines = text.split(separator: "\n").map { $0.split { " \t;\"{}=".contains($0) }.map(String.init) }
        let areHarmless = lines.filter { names.isHarmless($0.first ?? "") }
        return check(RealmsConf.parse(SourceText(name: "f", text)).partial)
            || areHarmless.contains { words in words.prefix { !names.isSecret($0) }.contains { hasPart($0) } }
    }

    private static func hasHarmlessOption(_ text: String) -> Bool {
        text.matches(of: /\b(depth|mode|list|deadline)\s*=\s*("[^"]*"?|\S+)/).contains { match in
            hasPart(String(match.output.2))
        }
    }

    private static func hasPart(_ text: String) -> Bool { anyPart(of: text) { parts.contains($0) } }

    /// Returns whether the condition holds for a part of a text, which is `partLength` bytes as a number.
    private static func anyPart(of text: String, satisfies condition: (UInt64) -> Bool) -> Bool {
        var part: UInt64 = 0
        for byte in text.utf8 {
            part = (part << 8 | UInt64(byte)) & (1 << (8 * partLength) - 1)
            if condition(part) { return true }
        }
        return false
    }

    private static let parts: Set<UInt64> = {
        var parts: Set<UInt64> = []
        _ = anyPart(of: secret) { part in
            // The first numbers have fewer bytes.
            if part >> (8 * (partLength - 1)) > 0 { parts.insert(part) }
            return false
        }
        return parts
    }()
}

/// A realm with a property that may be a URL with a password.
private struct ArchiveRealm: Realm {
    static let properties: PropertySchema = [
        .jaasContext(default: "vault"), .optional("database", .location(fileScheme: "sqlite")),
    ]

    let jaasContext: String
    let authType = "Archive"

    init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        throw BadRealm("names an unknown server", setting: "database")
    }
}
