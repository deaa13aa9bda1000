// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Checks a type of realm against the contract of `Realm`.
///
/// ```swift
/// @Test func `the realm keeps the contract`() async {
///     let conformance = RealmConformance(GuestRealm.self, properties: ["greeting": ["hello"]], strangers: ["nobody"])
///     #expect(await conformance.violations() == [])
/// }
/// ```
///
/// Checked: names and schema make sense and every default can be read; the realm can be made from the properties given;
/// unknown properties and missing required ones are refused; `jaasContext` and `authType` are not empty and hold no
/// control characters; `jaas-context` has its effect; `groupNames(of:)` answers as documented; `accountKey(of:)` gives
/// spellings of the same user the same key, each time.
public struct RealmConformance<RealmType: Realm>: Sendable {
    private let properties: [String: [String]]
    private let members: [String: [String]]
    private let strangers: [String]
    private let spellings: [[String]]

    /// A check of one type of realm.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - properties: Properties a realm can be made of, as realms.conf would have them, each a list of words.
    ///   - members: Users of that realm, and the groups that `groupNames(of:)` must give for them.
    ///   - strangers: Names of nobody: `groupNames(of:)` must throw for them.
    ///   - spellings: Names that the realm takes for the same user, a list for each: `accountKey(of:)` must give them the
    ///     same key.
    public init(
        _ type: RealmType.Type,
        properties: [String: [String]] = [:],
        members: [String: [String]] = [:],
        strangers: [String] = [],
        spellings: [[String]] = []
    ) {
        self.properties = properties
        self.members = members
        self.strangers = strangers
        self.spellings = spellings
    }

    /// Checks everything.
    ///
    /// - Returns: What is wrong, a sentence each; empty if nothing is.
    public func violations() async -> [String] {
        var violations = NameRules.violations(of: RealmType.classNames, "class name")
        violations += SchemaRules(RealmType.properties, reserved: ["class", "assign-groups", "group-mapping"])
            .violations()
        do throws(BadRealm) {
            let realm = try make(properties)
            violations += refusals()
            violations += texts(of: realm)
            violations += context()
            violations += await groups(of: realm)
            violations += keys(of: realm)
        } catch {
            violations.append("no realm can be made of the properties given: \(error)")
        }
        return violations
    }

    private func make(_ properties: [String: [String]]) throws(BadRealm) -> RealmType {
        var values: [String: PropertyValue] = [:]
        for (name, words) in properties {
            do throws(BadValue) {
                values[name] = try PropertyValue(words, as: RealmType.properties[name]?.kind ?? .list)
            } catch {
                throw BadRealm("\(error)", setting: name)
            }
        }
        return try RealmType(RealmProperties(values, schema: RealmType.properties, realmName: "conformance"))
    }

    private func refusals() -> [String] {
        var violations: [String] = []
        if accepts(properties.merging(["no-such-property": ["x"]]) { given, _ in given }) {
            violations.append("a property that the schema does not declare is accepted")
        }
        for property in RealmType.properties.properties where property.isRequired {
            if accepts(properties.filter { $0.key != property.name }) {
                violations.append("\(property.name) is required, and the realm can be made without it")
            }
        }
        return violations
    }

    private func accepts(_ properties: [String: [String]]) -> Bool {
        do throws(BadRealm) {
            _ = try make(properties)
            return true
        } catch {
            return false
        }
    }

    private func texts(of realm: RealmType) -> [String] {
        NameRules.violations(ofText: realm.jaasContext, "jaasContext")
            + NameRules.violations(ofText: realm.authType, "authType")
    }

    private func keys(of realm: RealmType) -> [String] {
        var violations: [String] = []
        for names in spellings + (members.keys.sorted() + strangers).map({ [$0, $0] }) {
            do throws(BadUsername) {
                let keys = try names.map { (name) throws(BadUsername) in realm.accountKey(of: try Username(name)) }
                if keys.contains("") { violations.append("accountKey(of:) is empty for one of \(names)") }
                if Set(keys).count > 1 { violations.append("accountKey(of:) of \(names) is \(keys), not the same") }
            } catch {
                violations.append("one of \(names) is no user name: \(error)")
            }
        }
        return violations
    }

    private func context() -> [String] {
        guard RealmType.properties["jaas-context"] != nil else { return [] }
        do throws(BadRealm) {
            let context = try make(properties.merging(["jaas-context": ["another"]]) { _, other in other }).jaasContext
            return context == "another" ? [] : ["jaas-context is set to another, and jaasContext is \(context)"]
        } catch {
            return ["with jaas-context set to another no realm can be made: \(error)"]
        }
    }

    private func groups(of realm: RealmType) async -> [String] {
        var violations: [String] = []
        for (name, groups) in members.sorted(by: { $0.key < $1.key }) {
            do {
                let given = try await realm.groupNames(of: try Username(name))
                if given != groups { violations.append("the groups of \(name) are \(given), not \(groups)") }
            } catch {
                violations.append("groupNames(of: \(name)) throws: \(error)")
            }
        }
        for name in strangers {
            do {
                let given = try await realm.groupNames(of: try Username(name))
                violations.append("groupNames(of: \(name)) gives \(given) for nobody")
            } catch let error as RealmError {
                if error.code == .noSuchRealm { violations.append("groupNames(of: \(name)) throws noSuchRealm") }
            } catch {
                violations.append("\(name) is no user name: \(error)")
            }
        }
        return violations
    }
}
