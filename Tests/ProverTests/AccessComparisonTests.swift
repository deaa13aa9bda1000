// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import SeededRandom
import Testing

@testable import AccessControl
@testable import Prover

/// Compares the comparison of two configurations with the enumeration of requests, users and answers by the engine.
struct AccessComparisonTests {
    /// GATEHOUSE_PROOFS sets the number of stacks; there is one pair of configurations for ten of them, and one planted
    /// change for twenty.
    private static let wanted = ProcessInfo.processInfo.environment["GATEHOUSE_PROOFS"].flatMap { Int($0) }
    private static let seed = ProcessInfo.processInfo.environment["GATEHOUSE_PROOFS_SEED"].flatMap { UInt64($0) } ?? 1

    @Test func `a comparison finds what the enumeration finds, and its examples replay`() throws {
        var random = Random(seed: Self.seed)
        var results: [AccessComparison.Result: Int] = [:]
        var replayed = 0
        for _ in 0..<(Self.wanted.map { $0 / 10 } ?? 150) {
            let old = RandomAccess(using: &random)
            let new = random.below(4) == 0 ? RandomAccess(old.script, using: &random) : old.mutated(using: &random)
            let comparison = AccessComparison(from: old.model, to: new.model)
            // Only modules that differ may add groups; in these realms they do not.
            try #require(comparison.otherSettings.allSatisfy { $0.hasSuffix("may add groups") })
            let wider = try Admission.example(from: old, to: new)
            let narrower = try Admission.example(from: new, to: old)
            // An outage that ends a login is taken as possible if it is while all modules are unavailable.
            let isExact = (old.rules + new.rules).allSatisfy { $0.whenUnavailable == .continue }
            for (found, example) in [(comparison.wider, wider), (comparison.narrower, narrower)] {
                let isRight = example == nil ? found.isEmpty || !isExact : !found.isEmpty
                try #require(isRight, "\(found.map(\.text)) \(example ?? "none") \(old.rules) \(new.rules)")
            }
            for difference in comparison.wider where isExact {
                try #require(try Admission.replays(difference, from: old, to: new), "\(difference.text)")
            }
            for user in comparison.wider.compactMap(\.user) { replayed += try Self.isGranted(user, in: new) ? 1 : 0 }
            results[comparison.result, default: 0] += 1
        }
        #expect(replayed > 20)
        #expect(results.keys.count == 4, "\(results)")
    }

    @Test func `a comparison of stacks that are too large is incomparable`() throws {
        var random = Random(seed: Self.seed)
        var rule = ProtectRule(path: "/", realms: ["a"], schemes: [.basic], requirements: [.any])
        var models: [AccessModel] = []
        repeat {
            let realms = RandomAccess(using: &random).bound
            models = ["ann", "bob"].map { name in
                rule.requirements = [.users([name])]
                return AccessModel(ProtectionRules([rule], preflightHosts: []), realms: realms, isBehindProxy: false)
            }
        } while AccessComparison(from: models[0], to: models[1]).result != .wider
        rule.access = .nobody
        let closed = AccessModel(ProtectionRules([rule], preflightHosts: []), realms: [], isBehindProxy: false)
        #expect(AccessComparison(from: models[0], to: closed, limit: 2).result == .incomparable)
        let comparison = AccessComparison(from: models[0], to: models[1], limit: 2)
        #expect(comparison.result == .incomparable)
        #expect(comparison.otherSettings == ["the stacks of realm a are too large to compare"])
    }

    @Test func `a planted widening is found, its examples replay, and its reverse is only narrower`() throws {
        var random = Random(seed: Self.seed)
        let wanted = Self.wanted.map { $0 / 20 } ?? 30
        var (planted, narrowings): ([String: Int], Int) = ([:], 0)
        while narrowings < wanted {
            let old = RandomAccess(using: &random)
            // Some changes have no effect, such as a group that every user has.
            guard let (kind, new) = old.widened(using: &random), try Admission.example(from: old, to: new) != nil
            else { continue }
            planted[kind, default: 0] += 1
            let widening = AccessComparison(from: old.model, to: new.model)
            try #require(widening.result == .wider, "\(kind) \(old.rules) \(new.rules)")
            let narrowing = AccessComparison(from: new.model, to: old.model)
            try #require(!narrowing.narrower.isEmpty)
            // An outage that ends a login is taken as possible if it is while all modules are unavailable.
            guard old.rules.allSatisfy({ $0.whenUnavailable == .continue }) else { continue }
            narrowings += 1
            for difference in widening.wider {
                try #require(try Admission.replays(difference, from: old, to: new), "\(kind) \(difference.text)")
            }
            try #require(widening.narrower.isEmpty, "\(kind) \(widening.narrower.map(\.text))")
            try #require(narrowing.wider.isEmpty, "\(kind) \(narrowing.wider.map(\.text))")
        }
        #expect(planted.keys.count > (wanted < 100 ? 5 : 10), "\(planted)")
        if Self.wanted != nil { print("planted: \(planted), of which \(narrowings) in reverse, too") }
    }

    /// Requires that the answers of an example grant a login; false if they have one that a module of this stack never gives.
    private static func isGranted(_ user: AccessDifference.User, in access: RandomAccess) throws -> Bool {
        let stack = try #require(access.bound.first { $0.name == user.realm }?.stack)
        let text = user.answers
        guard let answers = try? ModuleAnswers(text, for: stack) else { return false }
        let report = answers.login(LoginRequest(realm: user.realm, username: try Username(user.name)))
        try #require(report.identity != nil, "\(text): \(stack.entries.map { [$0.name, $0.control] })")
        return true
    }
}

/// A configuration of two realms and a few rules.
private struct RandomAccess {
    static let realms = ["a", "b"]
    static let names = ["ann", "bob", "other"]
    static let groups = ["staff", "admins", "ops"]
    private static let hosts: [ProtectRule.Host] = [.any, .name("a.example"), .below("example"), .below("b.example")]
    private static let paths = ["/", "/a", "/a/b", "/c"]
    private static let networks = ["10.0.0.0/8", "10.1.0.0/16", "192.168.0.0/16"]

    private(set) var rules: [ProtectRule] = []
    private(set) var bound: [BoundRealm] = []
    private var isBehindProxy = false
    private var preflights: [ProtectRule.Host] = []
    let script: RandomStack.Script

    var model: AccessModel {
        let rules = ProtectionRules(rules, preflightHosts: preflights)
        return AccessModel(rules, realms: bound, isBehindProxy: isBehindProxy)
    }

    init(_ script: RandomStack.Script = RandomStack.Script(), using random: inout Random) {
        self.script = script
        isBehindProxy = random.below(2) == 0
        if random.below(4) == 0 { preflights = [.name("a.example")] }
        for _ in 0..<(1 + random.below(4)) { addRule(using: &random) }
        for name in Self.realms { bound.append(Self.realm(name, script, using: &random)) }
    }

    /// The same configuration with one or two changes.
    func mutated(using random: inout Random) -> RandomAccess {
        var copy = self
        for _ in 0..<(1 + random.below(2)) {
            let index = random.below(copy.rules.count)
            switch random.below(8) {
            case 0: copy.addRule(using: &random)
            case 1 where copy.rules.count > 1: copy.rules.remove(at: index)
            case 2: copy.rules[index].requirements = Self.requirements(using: &random)
            case 3: copy.rules[index].networks = Self.networks(using: &random)
            case 4: copy.rules[index].realms = copy.rules[index].realms.reversed()
            case 5: copy.rules[index].whenUnavailable = random.pick(WhenUnavailable.allCases)
            case 6:
                copy.rules[index].schemes = random.pick([[.basic], [.form], [.basic, .form], [.basic, .certificate]])
            default:
                let realm = random.below(copy.bound.count)
                copy.bound[realm] = Self.realm(copy.bound[realm].name, script, using: &random)
            }
        }
        return copy
    }

    /// The same configuration with a change that can only admit more, and the kind of the change; nil if it cannot have the
    /// change.
    func widened(using random: inout Random) -> (kind: String, RandomAccess)? {
        var copy = self
        let (rule, realm) = (random.below(rules.count), random.below(bound.count))
        // A realm before others that grants more can hide a user of the others.
        let isLast = rules.allSatisfy { !$0.realms.dropLast().contains(bound[realm].name) }
        let stack = bound[realm].stack
        switch random.below(12) {
        case 0:
            copy.rules[rule].requirements.append(.any)
            return ("require any", copy)
        case 1:
            copy.rules[rule].requirements.append(.groups([random.pick(Self.groups)]))
            return ("require group", copy)
        case 2:
            copy.rules[rule].requirements.append(.users([random.pick(Self.names)]))
            return ("require user", copy)
        case 3 where !rules[rule].networks.isEmpty:
            copy.rules[rule].networks = []
            return ("network", copy)
        case 4 where rules[rule].schemes == [.basic]:
            copy.rules[rule].schemes = [.basic, .form]
            return ("scheme", copy)
        case 5 where rules[rule].access != .open:
            copy.rules[rule].access = rules[rule].access == .nobody ? .users : .open
            return ("access", copy)
        case 6 where rules[rule].realms.count == 1:
            copy.rules[rule].realms += Self.realms.filter { !rules[rule].realms.contains($0) }
            return ("realm", copy)
        case 7:
            copy.bound[realm] = bound[realm].changed(groups: bound[realm].assignedGroups + [random.pick(Self.groups)])
            return ("assign-groups", copy)
        case 8 where bound[realm].groupMapping.sources.isEmpty:
            guard let mapping = try? GroupMapping(rules: ["staff->admins;ops->staff"]) else { return nil }
            copy.bound[realm] = bound[realm].changed(mapping: mapping)
            return ("group-mapping", copy)
        case 9 where isLast:
            copy.bound[realm] = bound[realm].changed(entries: [RandomStack.permit(.sufficient)] + stack.entries)
            return ("sufficient module", copy)
        case 10 where isLast:
            // In a sub-stack, the entries that follow could refuse by a jump.
            let action = random.pick([Action.ignore, .bad, .ok])
            guard let entries = RandomStack.replacing(stack.entries, .die, by: action, script) else { return nil }
            copy.bound[realm] = bound[realm].changed(entries: entries)
            return ("requisite", copy)
        case 11:
            copy.preflights.append(random.pick(Self.hosts.filter { $0 != .any }))
            return ("preflight", copy)
        default: return nil
        }
    }

    private mutating func addRule(using random: inout Random) {
        var rule = ProtectRule(
            path: random.pick(Self.paths),
            realms: random.pick([["a"], ["b"], ["a", "b"], ["b", "a"]]),
            schemes: random.pick([
                [.basic], [.basic, .form], [.basic, .form], [.certificate], [.certificate, .basic],
            ]),
            requirements: Self.requirements(using: &random)
        )
        rule.host = random.pick(Self.hosts)
        rule.isExact = random.below(4) == 0
        rule.methods = random.pick([[], [], ["GET"], ["POST", "DELETE"]])
        rule.networks = Self.networks(using: &random)
        rule.access = random.pick([.users, .users, .users, .open, .nobody])
        rule.whenUnavailable = random.below(6) == 0 ? .stop : .continue
        if random.below(5) == 0 { rule.ambiguousPaths = .allow }
        let isKnown = rules.contains {
            $0.host == rule.host && $0.path == rule.path && $0.isExact == rule.isExact
                && ($0.methods.isEmpty || rule.methods.isEmpty || !Set($0.methods).isDisjoint(with: rule.methods))
        }
        if !isKnown { rules.append(rule) }
    }

    private static func requirements(using random: inout Random) -> [ProtectRule.Requirement] {
        let role = Role(
            name: "role",
            realms: random.pick([[], ["a"]]),
            groups: [random.pick(groups)],
            users: [random.pick(names)]
        )
        let all: [ProtectRule.Requirement] = [
            .any, .users([random.pick(names)]), .groups([random.pick(groups)]), .groups(["ops", random.pick(groups)]),
            .roles([role]), .attribute("mail", values: [random.pick(["x", "y"])]),
        ]
        return random.below(3) == 0 ? [random.pick(all), random.pick(all)] : [random.pick(all)]
    }

    private static func networks(using random: inout Random) -> [CIDRBlock] {
        random.below(3) > 0 ? [] : [random.pick(networks)].compactMap { try? CIDRBlock($0) }
    }

    private static func realm(_ name: String, _ script: RandomStack.Script, using random: inout Random) -> BoundRealm {
        let stack = RandomStack(
            modules: 1 + random.below(2),
            prefix: "\(name)-M",
            script: script,
            namesUsers: random.below(3) == 0,
            using: &random
        )
        let mapping = random.pick(["", "", "staff->admins", "staff->ops;ops->admins"])
        return BoundRealm(
            name: name,
            className: "TestRealm",
            realm: TestRealm(),
            stack: LoginStack(name: name, stack.entries, clock: ManualClock()),
            assignedGroups: random.pick([[], [], ["staff"]]),
            groupMapping: mapping.isEmpty ? .none : (try? GroupMapping(rules: [mapping])) ?? .none
        )
    }
}

extension BoundRealm {
    fileprivate func changed(
        entries: [LoginStack.Entry]? = nil,
        groups: [String]? = nil,
        mapping: GroupMapping? = nil
    ) -> BoundRealm {
        BoundRealm(
            name: name,
            className: className,
            realm: realm,
            stack: LoginStack(name: name, entries ?? stack.entries, clock: ManualClock()),
            assignedGroups: groups ?? assignedGroups,
            groupMapping: mapping ?? groupMapping
        )
    }
}

private struct TestRealm: Realm {
    static let properties: PropertySchema = []
    let jaasContext = "test"
    let authType = "test"
    init() {}
    init(_ properties: RealmProperties) throws(BadRealm) { self.init() }
}

/// What two configurations admit, request by request.
private struct Admission {
    private enum Answer: Hashable { case granted, refused, unavailable }

    private struct User {
        let name: String
        /// The realm whose user has the group or the attribute, which no user of the same name in another realm has.
        let realm: String
        var group: String?
        var mail: String?

        func signedIn(to realm: BoundRealm) throws -> SignedInUser {
            let isOwner = realm.name == self.realm
            let groups = (isOwner ? [group].compactMap(\.self) : []) + realm.assignedGroups
            return SignedInUser(
                realm: realm.name,
                username: try Username(name),
                groups: groups + realm.groupMapping.derivedGroups(from: groups),
                attributes: isOwner ? try mail.map { [try UserAttribute(name: "mail", values: [$0])] } ?? [] : []
            )
        }
    }

    /// Returns a request that the new configuration admits and the old one does not; nil if there is none.
    static func example(from old: RandomAccess, to new: RandomAccess) throws -> String? {
        let models = (old.model, new.model)
        let answers = try joint(old, new)
        var seen: Set<[ObjectIdentifier?]> = []
        for request in requests {
            let matches = (models.0.match(request), models.1.match(request))
            for peer in ["10.0.0.1", "10.1.2.3", "192.168.1.1", "198.51.100.7"] {
                let was = models.0.verdict(matches.0, request, from: peer)
                let now = models.1.verdict(matches.1, request, from: peer)
                switch (was, now) {
                case (.allowed, _), (_, .denied): continue
                case (_, .allowed): return "\(request) from \(peer)"
                case (_, .users(let rule)):
                    var former: ProtectRule?
                    if case .users(let rule) = was { former = rule }
                    let decided = former == nil ? nil : identity(matches.0)
                    guard seen.insert([decided, identity(matches.1)]).inserted else { continue }
                    if let user = try user(rule, former, old, new, answers) {
                        return "\(request) from \(peer): \(user)"
                    }
                }
            }
        }
        return nil
    }

    private static func identity(_ match: ProtectionRules.Match) -> ObjectIdentifier? {
        if case .rule(let compiled) = match { ObjectIdentifier(compiled) } else { nil }
    }

    /// Returns whether the request and the user of a difference are admitted by the new configuration only.
    static func replays(_ difference: AccessDifference, from old: RandomAccess, to new: RandomAccess) throws -> Bool {
        let parts = RequestURL(difference.url)
        let request = AccessModel.Request(
            host: parts.flatMap { RequestHost($0.authority) },
            path: parts?.target ?? difference.url,
            method: difference.method,
            isPreflight: difference.isPreflight
        )
        let peer = difference.peer ?? "198.51.100.7"
        let models = (old.model, new.model)
        let was = models.0.verdict(models.0.match(request), request, from: peer)
        let now = models.1.verdict(models.1.match(request), request, from: peer)
        switch (was, now, difference.user) {
        case (.denied, .allowed, nil), (.users, .allowed, nil): return true
        case (_, .users(let rule), let admitted?):
            let scheme = try #require(ProtectRule.Scheme(rawValue: admitted.scheme))
            let user = User(
                name: admitted.name,
                realm: admitted.realm,
                group: admitted.group,
                mail: admitted.attribute.last
            )
            var former: ProtectRule?
            if case .users(let rule) = was { former = rule }
            var only = rule
            only.schemes = [scheme]
            return try self.user(only, former, old, new, joint(old, new), [user]) != nil
        default: return false
        }
    }

    private static var requests: [AccessModel.Request] {
        let hosts = [nil, "a.example", "b.example", "c.example", "x.b.example", "other.test"]
        let paths = [
            "/", "/a", "/a/b", "/a/b/c", "/a/x", "/c", "/c/d", "/q", "/a%2Fx", "/a/x%2Fy", "/a/b%2Fz", "/a/b/y%2Fz",
            "/c%2Fd", "/c/d%2Fe", "/q%2Fr",
        ]
        return hosts.flatMap { host in
            paths.flatMap { path in
                ["GET", "HEAD", "POST", "DELETE", "PURGE"].flatMap { method in
                    [false, true].map { isPreflight in
                        AccessModel.Request(
                            host: host.flatMap { RequestHost($0) },
                            path: path,
                            method: method,
                            isPreflight: isPreflight
                        )
                    }
                }
            }
        }
    }

    private static func user(
        _ rule: ProtectRule,
        _ former: ProtectRule?,
        _ old: RandomAccess,
        _ new: RandomAccess,
        _ answers: [String: Set<[Answer]>],
        _ only: [User] = []
    ) throws -> String? {
        var users: [User] = []
        for realm in RandomAccess.realms {
            for name in RandomAccess.names + ["nobody-else"] {
                users.append(User(name: name, realm: realm))
                users += RandomAccess.groups.map { User(name: name, realm: realm, group: $0) }
                users += ["x", "y"].map { User(name: name, realm: realm, mail: $0) }
            }
        }
        for scheme in rule.schemes {
            for user in only.isEmpty ? users : only {
                let rule = used(rule, by: scheme, new)
                let former = former.flatMap { $0.schemes.contains(scheme) ? used($0, by: scheme, old) : nil }
                let isAllowed = try allowed(by: rule, user, new)
                guard isAllowed.values.contains(true) else { continue }
                let wasAllowed = try former.map { try allowed(by: $0, user, old) } ?? [:]
                for first in answers["a"] ?? [] {
                    for second in answers["b"] ?? [] {
                        let states = (["a": first[0], "b": second[0]], ["a": first[1], "b": second[1]])
                        guard admits(rule, isAllowed, states.1) else { continue }
                        guard let former, admits(former, wasAllowed, states.0) else {
                            return "\(user) \(scheme) \(states)"
                        }
                    }
                }
            }
        }
        return nil
    }

    /// The rule with the realms that a scheme uses: a certificate needs a module that takes user names from it.
    private static func used(_ rule: ProtectRule, by scheme: ProtectRule.Scheme, _ access: RandomAccess) -> ProtectRule
    {
        var rule = rule
        guard scheme == .certificate else { return rule }
        let naming = access.bound.filter(\.stack.namesUsersByCertificate).map(\.name)
        rule.realms.removeAll { !naming.contains($0) }
        return rule
    }

    /// Whether a rule allows a user whom one of its realms has accepted, by realm.
    private static func allowed(by rule: ProtectRule, _ user: User, _ access: RandomAccess) throws -> [String: Bool] {
        var allowed: [String: Bool] = [:]
        for realm in access.bound { allowed[realm.name] = rule.allows(try user.signedIn(to: realm)) }
        return allowed
    }

    private static func admits(_ rule: ProtectRule, _ allowed: [String: Bool], _ states: [String: Answer]) -> Bool {
        for name in rule.realms {
            switch states[name] {
            case .granted: return allowed[name] ?? false
            case .unavailable where rule.whenUnavailable == .stop: return false
            case .unavailable, .refused, nil: continue
            }
        }
        return false
    }

    /// The answers of each realm in both configurations that are possible together.
    private static func joint(_ old: RandomAccess, _ new: RandomAccess) throws -> [String: Set<[Answer]>] {
        var joint: [String: Set<[Answer]>] = [:]
        for name in RandomAccess.realms {
            let stacks = [old, new].compactMap { $0.bound.first { $0.name == name }?.stack }
            old.script.begin()
            repeat {
                let answers = try stacks.map { stack -> Answer in
                    let request = LoginRequest(realm: name, username: try Username("someone"))
                    let report = try #require(stack.loginNow(request))
                    return report.identity != nil ? .granted : report.isUnavailable ? .unavailable : .refused
                }
                joint[name, default: []].insert(answers)
            } while old.script.advance()
        }
        return joint
    }
}
