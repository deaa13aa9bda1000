// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The logins that a realm grants before and after a change, for all answers of its modules.
///
/// A module of a name is taken as the same module before and after, the first one of a name as the first one, and so on.
struct RealmComparison {
    /// Answers by which a login is granted after the change; nil if there are none.
    let granted: String?
    /// Answers by which a login is granted after the change, and was not before; nil if there are none.
    let newlyGranted: String?
    /// True if a login can be granted before and after the change, by the same answers.
    let canBeGrantedInBoth: Bool
    /// True if a login can be granted before the change, and after it not by the same answers.
    let canBeGrantedBeforeOnly: Bool
    /// True if a login can be refused before and after the change, by the same answers.
    let canBeRefusedInBoth: Bool
    /// True if a refusal before the change can be an outage.
    let couldBeUnavailable: Bool
    /// The difference in settings by which the modules may answer differently; nil if there is none.
    let otherSettings: String?
    /// True if the stacks differ, so that the same login may have other groups and attributes.
    let hasOtherStack: Bool

    /// True if the stacks are too large for a comparison, and nothing is known.
    let isTooLarge: Bool

    /// True if the realm can refuse a login after the change.
    var canRefuse: Bool { canBeRefusedInBoth || canBeGrantedBeforeOnly }

    /// Creates a value for stacks that are too large: nothing is known.
    init(tooLarge name: String) {
        (granted, newlyGranted) = (nil, nil)
        (canBeGrantedInBoth, canBeGrantedBeforeOnly, canBeRefusedInBoth) = (false, false, false)
        (couldBeUnavailable, hasOtherStack, isTooLarge) = (false, true, true)
        otherSettings = "the stacks of realm \(name) are too large to compare"
    }

    /// A realm that does not exist before or after the change grants nothing there.
    init(
        of name: String,
        from former: AccessModel,
        to model: AccessModel,
        limit: Int = DecisionDiagrams.maximumNodes
    ) throws(DecisionDiagrams.TooLarge) {
        let (old, new) = (former.realms[name], model.realms[name])
        let answers = StackModel.Answer.ofEngine
        var diagrams = DecisionDiagrams(valueCount: answers.count, limit: limit)
        var variables: [String: Int] = [:]
        var grants: [DecisionDiagrams.Node] = []
        for realm in [new, old] {
            guard let model = realm.map({ StackModel($0.stack) }) else {
                grants.append(.no)
                continue
            }
            let own = Self.variables(of: model, known: &variables)
            grants.append(try diagrams.decision(of: model, variables: own).grants)
        }
        let (after, before) = (grants[0], grants[1])
        let names = Dictionary(uniqueKeysWithValues: variables.map { ($1, $0) })
        let text = { (node: DecisionDiagrams.Node) -> String? in
            diagrams.example(of: node, preferring: StackModel.preference(of: answers)).map { example in
                StackModel.text(example, of: answers) { names[$0] ?? "" }
            }
        }
        isTooLarge = false
        granted = text(after)
        newlyGranted = text(try diagrams.difference(after, before))
        canBeGrantedInBoth = try diagrams.and(before, after) != .no
        canBeGrantedBeforeOnly = try diagrams.difference(before, after) != .no
        canBeRefusedInBoth = try diagrams.or(before, after) != .yes
        couldBeUnavailable = old.map { Self.isUnavailableInOutage($0.stack) } ?? false
        let stacks = [old, new].map { $0?.stack.entries.map { [$0.name, $0.control, "\($0.level)"] } }
        hasOtherStack = old != nil && new != nil && stacks[0] != stacks[1]
        otherSettings = old.flatMap { old in new.flatMap { Self.otherSettings(old, $0) } }
    }

    /// Returns the variable of each entry: that of its module, which other stacks may have given it.
    private static func variables(of model: StackModel, known: inout [String: Int]) -> [Int] {
        model.entries.indices.map { entry in
            let name = model.stack.answerName(of: entry)
            let variable = known[name] ?? known.count
            known[name] = variable
            return variable
        }
    }

    /// Returns whether a login is refused as unavailable while all modules are unavailable.
    private static func isUnavailableInOutage(_ stack: LoginStack) -> Bool {
        let entries = stack.entries.map { $0.answering(.failure(.unavailable)) }
        let down = LoginStack(name: stack.name, entries, clock: NoClock())
        guard let username = try? Username("someone") else { return true }
        return down.loginNow(LoginRequest(realm: stack.name, username: username))?.isUnavailable ?? true
    }

    /// Returns the settings that differ; nil if there are none.
    private static func otherSettings(_ old: BoundRealm, _ new: BoundRealm) -> String? {
        func areEqual(_ old: [[String]], _ new: [[String]]) -> Bool {
            // Bytes, because different texts can be equal as String values.
            old.count == new.count
                && zip(old, new).allSatisfy {
                    $0.count == $1.count && zip($0, $1).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
                }
        }
        guard old.className.utf8.elementsEqual(new.className.utf8) else { return "the class of realm \(new.name)" }
        guard areEqual([old.settings], [new.settings]) else { return "the properties of realm \(new.name)" }
        guard areEqual(old.allNested.map(\.fingerprint), new.allNested.map(\.fingerprint)) else {
            return "a realm that realm \(new.name) uses"
        }
        let settings = Dictionary(grouping: old.stack.entries, by: \.name).mapValues { $0.map(\.settings) }
        for (name, entries) in Dictionary(grouping: new.stack.entries, by: \.name).sorted(by: { $0.key < $1.key }) {
            guard let former = settings[name], !areEqual(former, entries.map(\.settings)) else { continue }
            return "the options of \(name) in realm \(new.name)"
        }
        return nil
    }
}
