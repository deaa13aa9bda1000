// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// The conformance test for a type of realm: it checks the contract of `Realm`.
///
/// ```swift
/// @Test func `the realm keeps the contract`() async {
///     let conformance = RealmConformance(GuestRealm.self, properties: ["greeting": ["hello"]], unknownUsers: ["zed"])
///     #expect(await conformance.violations() == [])
/// }
/// ```
///
/// It checks: names and schema are valid, and every default can be read; the realm can be created from the given
/// properties; unknown properties are rejected, and required properties must be set; `jaasContext` and `authType` are
/// not empty and contain no control characters; `jaas-context` takes effect; `groupNames(of:)` keeps its contract;
/// `accountKey(of:)` always returns the same key for all spellings of a user.
public struct RealmConformance: Sendable {
    private let kind: RealmKind
    private let properties: [String: [String]]
    private let realms: [String: [BoundRealm]]
    private let members: [String: [String]]
    private let unknownUsers: [String]
    private let spellings: [[String]]
    private let services: RealmServices

    /// Creates a test of one type of realm.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - properties: The properties of a valid realm as in realms.conf, each with a list of words.
    ///   - realms: The properties that refer to other realms, each with its realms.
    ///   - members: Users of the realm, with the groups that `groupNames(of:)` must return.
    ///   - unknownUsers: Names of users that the realm does not have. `groupNames(of:)` must throw for these names.
    ///   - spellings: Lists of spellings. Each list has spellings of one user; `accountKey(of:)` must return the same
    ///     key for all of them.
    ///   - services: The services that the realm needs.
    public init(
        _ type: any Realm.Type,
        properties: [String: [String]] = [:],
        realms: [String: [BoundRealm]] = [:],
        members: [String: [String]] = [:],
        unknownUsers: [String] = [],
        spellings: [[String]] = [],
        services: RealmServices = RealmServices()
    ) {
        kind = Self.kind(type)
        self.properties = properties
        self.realms = realms
        self.members = members
        self.unknownUsers = unknownUsers
        self.spellings = spellings
        self.services = services
    }

    private static func kind<RealmType: Realm>(_ type: RealmType.Type) -> RealmKind { RealmKind(type) }

    /// Runs all checks.
    ///
    /// - Returns: The violations, one sentence each; empty if there are none.
    public func violations() async -> [String] {
        let reserved: Set = ["class", "assign-groups", "group-mapping"]
        var violations = NameRules.violations(of: kind.classNames, kind: "class name")
        violations += NameRules.violations(of: kind.properties, reserved: reserved)
        do throws(BadRealm) {
            let realm = try make(properties, realms)
            violations += refusals()
            violations += NameRules.violations(ofText: realm.jaasContext, name: "jaasContext")
            violations += NameRules.violations(ofText: realm.authType, name: "authType")
            violations += context()
            violations += await groups(of: realm)
            violations += keys(of: realm)
        } catch {
            violations.append("the realm cannot be created from the given properties: \(error)")
        }
        return violations
    }

    private func make(
        _ properties: [String: [String]],
        _ realms: [String: [BoundRealm]]
    ) throws(BadRealm) -> any Realm {
        let values = try RealmKind.values(properties, schema: kind.properties)
            .merging(realms.mapValues { .realms($0) }) { given, _ in given }
        return try kind.makeRealm(
            RealmProperties(values, schema: kind.properties, realmName: "conformance", services: services)
        )
    }

    private func refusals() -> [String] {
        var violations: [String] = []
        if accepts(properties.merging(["no-such-property": ["x"]]) { given, _ in given }, realms) {
            violations.append("an undeclared property is accepted")
        }
        for property in kind.properties.properties where property.isRequired {
            if accepts(properties.filter { $0.key != property.name }, realms.filter { $0.key != property.name }) {
                violations.append("\(property.name) is required, but the realm can be created without it")
            }
        }
        return violations
    }

    private func accepts(_ properties: [String: [String]], _ realms: [String: [BoundRealm]]) -> Bool {
        (try? make(properties, realms)) != nil
    }

    private func keys(of realm: any Realm) -> [String] {
        var violations: [String] = []
        for names in spellings + (members.keys.sorted() + unknownUsers).map({ [$0, $0] }) {
            do throws(BadUsername) {
                let keys = try names.map { (name) throws(BadUsername) in realm.accountKey(of: try Username(name)) }
                if keys.contains("") { violations.append("accountKey(of:) is empty for one of \(names)") }
                if Set(keys).count > 1 {
                    violations.append("accountKey(of:) returns different keys for \(names): \(keys)")
                }
            } catch {
                violations.append("one of \(names) is not a valid user name: \(error)")
            }
        }
        return violations
    }

    private func context() -> [String] {
        guard kind.properties["jaas-context"] != nil else { return [] }
        do throws(BadRealm) {
            let context = try make(properties.merging(["jaas-context": ["another"]]) { _, other in other }, realms)
                .jaasContext
            return context == "another" ? [] : ["jaas-context is set to \"another\", but jaasContext is \"\(context)\""]
        } catch {
            return ["the realm cannot be created with another jaas-context: \(error)"]
        }
    }

    private func groups(of realm: any Realm) async -> [String] {
        var violations: [String] = []
        for (name, groups) in members.sorted(by: { $0.key < $1.key }) {
            do {
                let given = try await realm.groupNames(of: try Username(name))
                if given != groups { violations.append("the groups of \(name) should be \(groups), but are \(given)") }
            } catch {
                violations.append("groupNames(of: \(name)) throws: \(error)")
            }
        }
        for name in unknownUsers {
            do {
                let given = try await realm.groupNames(of: try Username(name))
                violations.append("groupNames(of: \(name)) returns \(given) for an unknown user")
            } catch let error as RealmError {
                if error.code == .noSuchRealm { violations.append("groupNames(of: \(name)) throws noSuchRealm") }
            } catch {
                violations.append("\(name) is not a valid user name: \(error)")
            }
        }
        return violations
    }
}

/// The rules for names and for schemas in a configuration.
enum NameRules {
    static func violations(of schema: PropertySchema, reserved: Set<String>) -> [String] {
        let names = schema.properties.map(\.name)
        var violations = names.flatMap { Self.violations(ofWord: $0, kind: "property") }
        violations += names.filter(reserved.contains).map { "the property name \($0) is reserved" }
        for (index, name) in names.enumerated() {
            let twin = names[..<index].first { $0.lowercased() == name.lowercased() }
            if let twin { violations.append("the properties \(twin) and \(name) differ in case only") }
        }
        return violations + schema.properties.flatMap(violations(ofDefault:))
    }

    private static func violations(ofDefault property: Property) -> [String] {
        guard let text = property.defaultText else { return [] }
        guard !property.isRequired else { return ["\(property.name) is required and has a default"] }
        let words = property.kind == .list ? text.split(separator: " ").map(String.init) : [text]
        do throws(BadValue) {
            _ = try PropertyValue(words, as: property.kind)
            return []
        } catch {
            return ["the default of \(property.name) is invalid: it \(error)"]
        }
    }

    static func violations(of names: [String], kind: String) -> [String] {
        let repeated = names.indices.filter { names[..<$0].contains(names[$0]) }
        return names.flatMap { Self.violations(ofWord: $0, kind: kind) }
            + (names.isEmpty ? ["there is no \(kind)"] : [])
            + repeated.map { "the \(kind) \(names[$0]) is listed twice" }
    }

    private static func violations(ofWord word: String, kind: String) -> [String] {
        guard !word.isEmpty else { return ["a \(kind) is empty"] }
        let isPlain = word.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\";{}#".utf8.contains($0) }
        return isPlain ? [] : ["the \(kind) \(word.debugDescription) needs quotes in a configuration"]
    }

    static func violations(ofText text: String, name: String) -> [String] {
        if text.isEmpty { return ["\(name) is empty"] }
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return isPlain ? [] : ["\(name) contains a control character"]
    }
}
