// SPDX-License-Identifier: Apache-2.0

package import AccessControl
package import RealmKit

/// A request with a user who is admitted by one of two configurations, and not by the other.
package struct AccessDifference: Sendable, Hashable {
    /// The method and the path, with the host if the rules have one.
    package let method: String
    package let url: String
    package let isPreflight: Bool
    /// The client's address, if the rules depend on it.
    package let peer: String?
    /// The user; nil if the request is admitted without one.
    package let user: User?
    /// The rule that admits the request, and the former decision.
    package let reason: String

    /// A user who is admitted.
    package struct User: Sendable, Hashable {
        package let realm: String
        package let name: String
        /// The group, or the attribute and its value, that the user must have; nil if there is none.
        package var group: String?
        package var attribute: [String] = []
        package let scheme: String
        /// The answers of the modules by which the login is granted.
        package let answers: String
        /// A condition about another realm of the former rule; nil if there is none.
        package let condition: String?
    }

    /// The difference as an administrator reads it.
    package var text: String {
        var parts = ["\(isPreflight ? "preflight for " : "")\(method) \(url)"]
        if let peer { parts.append("from \(peer)") }
        guard let user else { return (parts + ["without a sign-in"]).joined(separator: " ") }
        parts.append("by \(user.scheme), user \(user.name) of realm \(user.realm)")
        if let group = user.group { parts.append("in group \(group)") }
        if user.attribute.count == 2 { parts.append("with \(user.attribute[0]) \(user.attribute[1])") }
        let conditions = [user.answers, user.condition ?? ""].filter { !$0.isEmpty }
        return parts.joined(separator: " ")
            + (conditions.isEmpty ? "" : ", if \(conditions.joined(separator: ", and "))")
    }
}

/// The comparison of two configurations by what they admit.
package struct AccessComparison {
    /// The result, which is also the exit status of `gatehouse prove --diff`.
    package enum Result: Int32, Sendable {
        /// Both admit the same requests.
        case same = 0
        /// The new one admits less, and nothing else.
        case narrower = 1
        /// The new one admits something that the old one does not.
        case wider = 2
        /// Other settings may change what back ends answer.
        case incomparable = 3
    }

    /// One request for each pair of rules, with a user, that only the new configuration admits.
    package private(set) var wider: [AccessDifference] = []
    /// The same for the old configuration.
    package private(set) var narrower: [AccessDifference] = []
    /// The settings that may change what back ends answer.
    package private(set) var otherSettings: [String] = []

    package var result: Result {
        if !wider.isEmpty { return .wider }
        if !otherSettings.isEmpty { return .incomparable }
        return narrower.isEmpty ? .same : .narrower
    }

    /// Compares two configurations, of which further settings may differ.
    package init(
        from old: AccessModel,
        to new: AccessModel,
        otherSettings changed: [String] = [],
        limit: Int = DecisionDiagrams.maximumNodes
    ) {
        var widening = OneWayComparison(from: old, to: new, limit: limit)
        var narrowing = OneWayComparison(from: new, to: old, limit: limit, isReversed: true)
        var compared: Set<RulePair> = []
        RequestClasses([old, new]).forEach { request in
            let (before, after) = (old.match(request), new.match(request))
            // Whether a preflight is allowed also depends on its host.
            let pair = RulePair(
                before: before.identity,
                after: after.identity,
                wasUncovered: old.isAllowedWithoutRule(before, request),
                isUncovered: new.isAllowedWithoutRule(after, request)
            )
            guard request.isPreflight || compared.insert(pair).inserted else { return }
            for peer in RequestClasses.peers([before.rule, after.rule]) {
                let was = old.verdict(before, request, from: peer)
                let now = new.verdict(after, request, from: peer)
                let address = before.rule?.networks.isEmpty ?? true && after.rule?.networks.isEmpty ?? true ? nil : peer
                widening.compare(request, address, from: was, before.rule, to: now, after.rule)
                narrowing.compare(request, address, from: now, after.rule, to: was, before.rule)
            }
        }
        (wider, narrower) = (widening.differences, narrowing.differences)
        let tooLarge = narrowing.tooLarge.filter { !widening.otherSettings.contains($0) }
        otherSettings = changed + widening.otherSettings + tooLarge
    }
}

/// Two rules that decide about a request, or what decides without a rule; requests with the same pair are compared once.
private struct RulePair: Hashable {
    let before, after: ObjectIdentifier?
    /// True if the request is allowed because no rule is for it.
    let wasUncovered, isUncovered: Bool
}

extension ProtectionRules.Match {
    /// The rule that decides; nil if none does.
    var rule: ProtectRule? { if case .rule(let compiled) = self { compiled.rule } else { nil } }

    /// The object of the rule that decides.
    fileprivate var identity: ObjectIdentifier? {
        switch self {
        case .rule(let compiled): ObjectIdentifier(compiled)
        case .none, .uncovered, .ambiguousHost, .ambiguousPath: nil
        }
    }
}

/// What one configuration admits and another does not.
struct OneWayComparison {
    let old, new: AccessModel
    private(set) var differences: [AccessDifference] = []
    private(set) var otherSettings: [String] = []
    /// Those of them about realms whose stacks are too large.
    private(set) var tooLarge: [String] = []
    private var realms: [String: RealmComparison] = [:]
    /// True if the change is from the new configuration to the old one.
    private let isReversed: Bool

    /// The maximum number of nodes for the stacks of a realm.
    private let limit: Int

    init(from old: AccessModel, to new: AccessModel, limit: Int, isReversed: Bool = false) {
        (self.old, self.new, self.limit, self.isReversed) = (old, new, limit, isReversed)
    }

    mutating func compare(
        _ request: AccessModel.Request,
        _ peer: String?,
        from was: AccessModel.Verdict,
        _ before: ProtectRule?,
        to now: AccessModel.Verdict,
        _ after: ProtectRule?
    ) {
        let url = (request.host.map { "https://\($0.name)" } ?? "") + request.path
        let rules = [Self.text(before, was), Self.text(after, now)]
        let reason = "before: \(rules[isReversed ? 1 : 0]); now: \(rules[isReversed ? 0 : 1])"
        var admitted: AccessDifference.User?
        switch (was, now) {
        case (.allowed, _), (_, .denied): return
        case (_, .allowed): break
        case (.denied, .users(let rule)):
            guard let user = firstUser(of: rule, former: nil) else { return }
            admitted = user
        case (.users(let former), .users(let rule)):
            guard let user = firstUser(of: rule, former: former) else { return }
            admitted = user
        }
        let difference = AccessDifference(
            method: request.method,
            url: url,
            isPreflight: request.isPreflight,
            peer: peer,
            user: admitted,
            reason: reason
        )
        // One example for each pair of rules is enough, and one for the addresses of a network.
        if request.isPreflight, differences.contains(where: { $0.isPreflight && $0.reason == reason }) { return }
        if let last = differences.last, last.url == url, last.method == request.method, last.user == admitted,
            last.isPreflight == request.isPreflight
        {
            return
        }
        differences.append(difference)
    }

    private static func text(_ rule: ProtectRule?, _ verdict: AccessModel.Verdict) -> String {
        guard let rule else {
            if case .allowed = verdict { return "no rule, allowed" }
            return "denied without a rule"
        }
        return [rule.place, "protect", rule.target].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Returns a user whom a rule admits, and a former rule does not.
    private mutating func firstUser(
        of rule: ProtectRule,
        former: ProtectRule?
    ) -> AccessDifference.User? {
        for (place, scheme) in rule.schemes.enumerated() {
            let former = former.flatMap { $0.schemes.contains(scheme) ? $0 : nil }
            // The schemes with a password are used with the same realms.
            let isSame = rule.schemes[..<place].contains {
                ($0 == .certificate) == (scheme == .certificate) && former?.schemes.contains($0) ?? false
            }
            guard !isSame, let user = firstUser(of: rule, by: scheme, former: former) else { continue }
            return user
        }
        return nil
    }

    /// Returns a user whom a rule admits by a scheme, and a former rule with the scheme does not.
    private mutating func firstUser(
        of rule: ProtectRule,
        by scheme: ProtectRule.Scheme,
        former: ProtectRule?
    ) -> AccessDifference.User? {
        let realms = rule.realms.filter { new.realms[$0]?.isUsed(by: scheme) ?? false }
        var former = former
        former?.realms.removeAll { !(old.realms[$0]?.isUsed(by: scheme) ?? false) }
        for (index, name) in realms.enumerated() {
            guard let realm = new.realms[name] else { continue }
            let comparison = compared(name)
            guard let granted = comparison.granted else {
                noteIfTooLarge(comparison)
                continue
            }
            let samples = SampleUsers([rule] + (former.map { [$0] } ?? []), realm: name, models: [old, new])
            for sample in samples.all where sample.isAllowed(by: rule, in: realm) {
                guard let former else { return sample.difference(in: name, by: scheme, (granted, nil)) }
                guard let reason = answers(in: realms, index, refusedBy: former, sample) else { continue }
                return sample.difference(in: name, by: scheme, reason)
            }
            let mayDiffer = comparison.hasOtherStack && rule.requirements.contains(where: \.dependsOnUser)
            note(comparison.otherSettings)
            note(mayDiffer ? "the modules of realm \(name), which name users and may add groups" : nil)
            // If this realm grants every login, no further realm is used.
            guard comparison.canRefuse else { break }
        }
        return nil
    }

    /// The answers by which a realm grants a login, and a condition about another realm.
    typealias Reason = (answers: String, condition: String?)

    /// Returns answers by which one realm of a rule grants a login that a former rule refused; nil if there are none.
    ///
    /// The realms are independent of each other. Those before the granting one refuse the login after the change; the former
    /// rule used its realms in its own order, until one granted the login.
    private mutating func answers(
        in realms: [String],
        _ index: Int,
        refusedBy former: ProtectRule,
        _ sample: SampleUsers.Sample
    ) -> Reason? {
        let granting = realms[index]
        let granted = compared(granting).granted ?? ""
        var answers = granted
        for name in former.realms {
            guard let realm = old.realms[name] else { continue }
            let comparison = compared(name)
            noteIfTooLarge(comparison)
            let canBeGranted, canBeRefused: Bool
            if name.utf8.elementsEqual(granting.utf8) {
                (canBeGranted, canBeRefused) = (comparison.canBeGrantedInBoth, comparison.newlyGranted != nil)
            } else if realms[..<index].contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
                (canBeGranted, canBeRefused) = (comparison.canBeGrantedBeforeOnly, comparison.canBeRefusedInBoth)
            } else {
                canBeGranted = comparison.canBeGrantedInBoth || comparison.canBeGrantedBeforeOnly
                canBeRefused = comparison.canBeRefusedInBoth || comparison.newlyGranted != nil
            }
            let isOwn = name.utf8.elementsEqual(granting.utf8)
            let known = isOwn ? sample : SampleUsers.Sample(name: sample.name)
            if canBeGranted, !known.isAllowed(by: former, in: realm) {
                return (granted, isOwn ? nil : "realm \(name) accepts another user of that name")
            }
            if canBeRefused, former.whenUnavailable == .stop, former.realms.count > 1, comparison.couldBeUnavailable {
                return (granted, "realm \(name) is unavailable")
            }
            guard canBeRefused else { return nil }
            if isOwn { answers = comparison.newlyGranted ?? granted }
        }
        return (answers, nil)
    }

    private mutating func note(_ settings: String?) {
        if let settings, !otherSettings.contains(settings) { otherSettings.append(settings) }
    }

    private mutating func noteIfTooLarge(_ comparison: RealmComparison) {
        guard comparison.isTooLarge, let text = comparison.otherSettings else { return }
        note(text)
        if !tooLarge.contains(text) { tooLarge.append(text) }
    }

    private mutating func compared(_ name: String) -> RealmComparison {
        if let known = realms[name] { return known }
        let comparison =
            (try? RealmComparison(of: name, from: old, to: new, limit: limit)) ?? RealmComparison(tooLarge: name)
        realms[name] = comparison
        return comparison
    }
}

extension BoundRealm {
    /// True if a scheme uses the realm: certificates need a module that takes the user name from them.
    package func isUsed(by scheme: ProtectRule.Scheme) -> Bool {
        scheme != .certificate || stack.namesUsersByCertificate
    }
}

extension ProtectRule.Requirement {
    /// True if what modules commit decides: the name, groups or attributes.
    fileprivate var dependsOnUser: Bool {
        switch self {
        case .any: false
        case .users, .groups, .roles, .attribute: true
        }
    }
}
