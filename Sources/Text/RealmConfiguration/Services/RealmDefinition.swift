// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
public import RealmKit

/// A realm that a program defines in code, by the statements that its block in realms.conf would have.
///
/// ```swift
/// RealmDefinition("people", class: "StoreRealm")
/// RealmDefinition("staff", class: "LDAPRealm", ["directory": "ldaps://ldap.example.com", "base-dn": "dc=example,dc=com"])
/// RealmDefinition("team") { name, password in
///     name == "ann" && password.isEqual(to: secret) ? ["Staff"] : nil
/// }
/// ```
public struct RealmDefinition: Sendable {
    /// Checks a user name and a password; returns the groups of the user, or nil if the user is refused.
    ///
    /// A thrown ``LoginFault`` is the failure of the login. Any other error means that the login cannot be decided now, as
    /// does an answer after 30 seconds. To refuse an unknown user must take as long as to refuse a wrong password. It must not
    /// block its thread. It is also called while the account is locked, so it must have no effects. Names that are not ASCII are
    /// to be compared by their bytes, as realms do: `==` of `String` finds other spellings equal.
    public typealias PasswordCheck = @Sendable (_ name: String, _ password: Secret) async throws -> [String]?

    let name: String
    let className: String
    let properties: [(name: String, value: String)]
    /// The entries of the login context, as in login.conf; nil for the one module that comes with the class.
    let modules: [String]?
    /// The kind of a realm that no list of kinds has.
    let kind: RealmKind?

    /// Creates a realm of a class of the program's ``RealmKind`` values.
    ///
    /// - Parameters:
    ///   - name: The name of the realm.
    ///   - className: The name of the class, as `class` in realms.conf.
    ///   - properties: The properties, with values as in realms.conf but without quotes: references such as `${env:NAME}` are
    ///     replaced, and blanks separate the words of a list.
    ///   - modules: The stack, an entry of login.conf for each module, such as `"FileLoginModule sufficient"`; nil for
    ///     the module that comes with the class, required.
    public init(
        _ name: String,
        class className: String,
        _ properties: KeyValuePairs<String, String> = [:],
        modules: [String]? = nil
    ) {
        self.name = name
        self.className = className
        self.properties = properties.map { ($0.key, $0.value) }
        self.modules = modules
        kind = nil
    }

    /// Creates a realm whose passwords a closure checks.
    ///
    /// Its module `NAME-password` may stand in the stacks of other realms of the program.
    public init(_ name: String, checkingPasswords check: @escaping PasswordCheck) {
        self.name = name
        className = "\(name)-realm"
        properties = []
        modules = nil
        kind = RealmKind(
            ClosureRealm.self,
            classNames: [className],
            modules: [ModuleKind(names: ["\(name)-password"], check)]
        ) { (properties: RealmProperties) throws(BadRealm) -> any Realm in try ClosureRealm(properties) }
    }
}

/// Collects the realms that a program defines in code.
@resultBuilder
public enum RealmsBuilder {
    /// Returns the realms of all statements, in order.
    public static func buildBlock(_ parts: [RealmDefinition]...) -> [RealmDefinition] { parts.flatMap(\.self) }
    /// Returns one realm.
    public static func buildExpression(_ realm: RealmDefinition) -> [RealmDefinition] { [realm] }
    /// Returns the realms of an `if` without `else`.
    public static func buildOptional(_ realms: [RealmDefinition]?) -> [RealmDefinition] { realms ?? [] }
    /// Returns the realms of the first branch.
    public static func buildEither(first realms: [RealmDefinition]) -> [RealmDefinition] { realms }
    /// Returns the realms of the second branch.
    public static func buildEither(second realms: [RealmDefinition]) -> [RealmDefinition] { realms }
    /// Returns the realms of a loop.
    public static func buildArray(_ parts: [[RealmDefinition]]) -> [RealmDefinition] { parts.flatMap(\.self) }
}

extension [RealmDefinition] {
    /// The kinds of the realms that have one of their own.
    package var kinds: [RealmKind] { compactMap(\.kind) }

    /// The realms in the language of realms.conf; the first is the default realm.
    ///
    /// So the values of a program are checked as those of a file are, and an error shows the statement.
    func text(stateFolder: String?, settings: String, kinds: [RealmKind]) -> String {
        var lines = first.map { ["default-realm \(Self.word($0.name));"] } ?? []
        let state = stateFolder.map { "state \(Self.word($0));" } ?? ""
        // Comments at the end of a text of the program must not hide what follows.
        if !(state + settings).isEmpty { lines += ["server {", "    \(state) \(settings)", "}"] }
        for realm in self {
            let kind = kinds.first { $0.classNames.contains(realm.className) }
            lines += ["realm \(Self.word(realm.name)) {", "    class \(Self.word(realm.className));"]
            for (name, value) in realm.properties {
                let words = kind?.hasList(name) == true ? value.split(separator: " ").map(String.init) : [value]
                lines.append("    \(Self.word(name)) \(words.map(Self.word).joined(separator: " "));")
            }
            let hasContext = realm.properties.contains { $0.name == "jaas-context" }
            let standard =
                hasContext ? nil : kind?.modules.first?.names.first.map { ["\(RealmsConf.quoted($0)) required"] }
            guard let modules = realm.modules ?? standard else {
                lines.append("}")
                continue
            }
            // No realm can be called `other`, the context of all realms that have none.
            let context = RealmsConf.quoted("stack of \(realm.name)")
            lines += ["    jaas-context \(context);", "}", "login \(context) {"]
            for module in modules { lines += ["    \(module)", "    ;"] }
            lines.append("}")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x2D...0x39).contains(byte) || byte == UInt8(ascii: "_")
        }
        return isPlain && !text.isEmpty ? text : RealmsConf.quoted(text)
    }
}

extension RealmKind {
    /// Returns whether a statement in the block of such a realm takes several words.
    fileprivate func hasList(_ name: String) -> Bool {
        switch properties[name]?.kind {
        case .list, .realms: true
        case nil: name == "assign-groups" || name == "group-mapping"
        case .string, .integer, .boolean, .duration, .path, .choice, .realm, .secret, .location: false
        }
    }
}

/// A realm whose users only a closure knows.
private struct ClosureRealm: Realm {
    static var properties: PropertySchema { [.jaasContext(default: "closure")] }
    let jaasContext: String
    var authType: String { "closure" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

private struct ClosureLoginModule: PasswordLoginModule {
    let firstPass: FirstPass
    let check: RealmDefinition.PasswordCheck

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        throw BadModule("is made by a definition only")
    }

    init(_ check: @escaping RealmDefinition.PasswordCheck, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.check = check
    }

    func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        let groups: [String]?
        do {
            groups = try await check(attempt.username.text, password)
        } catch {
            throw error as? LoginFault ?? .unavailable("\(error)")
        }
        return groups.map { attempt.commit(groups: $0) } ?? .failed(.wrongCredentials)
    }
}

extension ModuleKind {
    fileprivate init(names: [String], _ check: @escaping RealmDefinition.PasswordCheck) {
        self.init(names: names, options: ClosureLoginModule.options) {
            (_: any Realm, options: ModuleOptions) throws(BadModule) -> any LoginModule in
            try ClosureLoginModule(check, options: options)
        }
    }
}
