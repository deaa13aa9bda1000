// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import LoginConf
internal import RealmKit

/// The users of a directory or a database, for `gatehouse init`: the properties of their realm.
struct ServerUsers {
    enum Kind: String {
        case ldap
        case sql
    }

    /// The password of the account of Gatehouse at the servers.
    enum Password {
        case none
        /// The absolute path of its file.
        case file(String)
        /// It was typed, and is stored beside realms.conf.
        case typed(Secret)
    }

    let kind: Kind
    /// The names and values, in the order of realms.conf.
    var properties: [(name: String, values: [String])] = []
    var password = Password.none
    /// True if a question was asked.
    private(set) var wasAsked = false

    init(kind: Kind) { self.kind = kind }

    /// The users without the answers, so that all questions are asked again.
    var unasked: ServerUsers {
        var users = self
        users.properties.removeAll { property in kind.questions.contains { $0.property == property.name } }
        if case .typed = password { users.password = .none }
        return users
    }

    func values(_ name: String) -> [String] { properties.first { $0.name == name }?.values ?? [] }

    func has(_ name: String) -> Bool { !values(name).isEmpty }

    /// Returns whether a property is true, in any of the spellings that realms.conf accepts.
    func isOn(_ name: String) -> Bool {
        values(name).contains { ["true", "yes", "on", "1"].contains($0.lowercased()) }
    }

    /// The login context and the realm, as realms.conf has them.
    var text: String {
        let secret: String? =
            switch password {
            case .none: nil
            case .file(let path): "\"${file:\(path)}\""
            case .typed: "\"${file:\(kind.secretFile)}\""
            }
        let lines =
            [("class", kind.className)]
            + properties.map { ($0.name, $0.values.map(RealmsConf.quoted).joined(separator: " ")) }
            + (secret.map { [(kind.secretProperty, $0)] } ?? [])
        let width = lines.map(\.0.count).max() ?? 0
        let statements = lines.map { name, value in
            "    \(name)\(String(repeating: " ", count: width - name.count + 2))\(value);"
        }
        return (["login \(kind.context) { \(kind.module) required; }", "realm people {"] + statements + ["}"])
            .joined(separator: "\n")
    }

    /// Returns whether the connection to a directory leaves this machine without TLS, as `LDAPRealm` decides.
    static func needsStartTLS(_ url: String) -> Bool {
        let scheme = "ldap://"
        guard url.lowercased().hasPrefix(scheme) else { return false }
        let place = url.dropFirst(scheme.count)
        let host = place.first == "[" ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" && $0 != "/" }
        return !["localhost", "ip6-localhost"].contains(host.lowercased()) && NetworkAddress(host)?.isLoopback != true
    }

    mutating func add(_ arguments: [String]) throws {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let isName = parts[0].utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
            guard parts.count == 2, isName, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw CommandError(.usage, "--property takes NAME=VALUE, such as base-dn=dc=example,dc=org")
            }
            let name = String(parts[0])
            guard !kind.secretNames.contains(name) else {
                let reason = "every user of this machine can read arguments: use --password-file FILE"
                throw CommandError(.usage, "\(name) is no argument, because \(reason)")
            }
            try add(name, Self.value(String(parts[1]), of: name))
        }
    }

    private mutating func add(_ name: String, _ value: String) {
        if let index = properties.firstIndex(where: { $0.name == name }) {
            properties[index].values.append(value)
        } else {
            properties.append((name, [value]))
        }
    }

    /// Returns a value for realms.conf; a relative path becomes an absolute one.
    static func value(_ text: String, of name: String) throws -> String {
        guard Printable.line(text) == text else {
            throw CommandError(.usage, "\(Printable.line(text)): a value must not contain control characters")
        }
        let scheme = "sqlite:"
        if name == "database", text.hasPrefix(scheme) {
            return try scheme + InitAnswers.absolutePath(String(text.dropFirst(scheme.count)))
        }
        return name == "ca-file" ? try InitAnswers.absolutePath(text) : text
    }

    /// Asks for the properties that are not set, with the earlier wrong answers as defaults, and for the password; returns the
    /// options that are missing if nothing can be asked.
    mutating func ask(_ questions: InitQuestions, earlier: ServerUsers?) throws -> [String] {
        var missing: [String] = []
        for question in kind.questions {
            if !has(question.property), question.isAsked(self) {
                wasAsked = questions.asks
                let asked = question.asked(after: earlier)
                if questions.asks || !asked.defaultAnswer.isEmpty {
                    for value in try questions.answer(asked, read: question.values) { add(question.property, value) }
                } else {
                    missing.append("--property \(question.property)=VALUE")
                }
            }
            guard question.property == kind.accountProperty, case .none = password, kind.hasPassword(self) else {
                continue
            }
            if let secret = try questions.secret(kind.passwordQuestion) { password = .typed(secret) }
            if kind == .ldap, !questions.asksForPasswords { missing.append("--password-file FILE") }
        }
        return missing
    }
}

extension ServerUsers.Kind {
    /// The name of the file with a typed password, beside realms.conf.
    var secretFile: String { "\(rawValue).secret" }

    var className: String { self == .ldap ? "LDAPRealm" : "SQLRealm" }
    var module: String { self == .ldap ? "LDAPLoginModule" : "SQLLoginModule" }
    var context: String { self == .ldap ? "ldapRealm" : "jdbcRealm" }
    var secretProperty: String { self == .ldap ? "search-bind-password" : "password" }
    var secretNames: [String] { [secretProperty, "db-password"] }

    /// The property behind whose question the password is asked for.
    var accountProperty: String { self == .ldap ? "search-bind-dn" : "database" }

    var passwordQuestion: String {
        self == .ldap ? "The password of the account for searches:" : "The password for the database? (empty for none)"
    }

    func hasPassword(_ users: ServerUsers) -> Bool {
        self == .ldap
            ? users.has("search-bind-dn") : users.values("database").contains { !$0.hasPrefix("sqlite:") }
    }

    var questions: [RealmQuestion] { self == .ldap ? RealmQuestion.ofDirectory : RealmQuestion.ofDatabase }
}
