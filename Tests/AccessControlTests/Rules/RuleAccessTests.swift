// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmConfiguration
import RealmKit
import SeededRandom
import Testing

@testable import AccessControl

struct RuleAccessTests {
    private func rule(_ requirements: ProtectRule.Requirement...) -> ProtectRule {
        ProtectRule(path: "/", realms: ["a", "b"], schemes: [.basic], requirements: requirements)
    }

    private func user(_ name: String, _ realm: String = "a", _ groups: String...) throws -> SignedInUser {
        SignedInUser(realm: realm, username: try Username(name), groups: groups)
    }

    @Test func `a user of a realm of the rule who meets one requirement is allowed`() throws {
        let role = Role(name: "r", realms: ["b"], groups: ["Ops"], users: ["bob"])
        let free = Role(name: "s", users: ["eve"])
        let rule = rule(.users(["ann"]), .groups(["Staff"]), .roles([role, free]))
        #expect(rule.allows(try user("ann")))
        #expect(!rule.allows(try user("Ann")))
        #expect(rule.allows(try user("zed", "b", "x", "Staff")))
        #expect(!rule.allows(try user("zed", "b", "staff")))
        #expect(!rule.allows(try user("ann", "c")))
        #expect(!rule.allows(try user("ann", "A")))
        #expect(rule.allows(try user("bob", "b")))
        #expect(!rule.allows(try user("bob", "a")))
        #expect(rule.allows(try user("zed", "b", "Ops")))
        #expect(!rule.allows(try user("zed", "a", "Ops")))
        #expect(rule.allows(try user("eve", "a")))
        #expect(rule.allows(try user("eve", "b")))
        #expect(!rule.allows(try user("zed")))
    }

    @Test func `a rule decides as its model does, with few and with many names`() throws {
        var random = Random(seed: 9)
        var allowed = 0
        for _ in 0..<2000 {
            let many = random.pick([3, 20, 200])
            // Two encodings of one letter are two names.
            let words = ["a", "caf\u{E9}", "cafe\u{301}", ""] + (0..<many).map { "n\($0)" }
            func names() -> [String] { (0..<random.below(random.pick([2, 12, many]))).map { _ in random.pick(words) } }
            let role = Role(name: "r", realms: random.pick([[], names()]), groups: names(), users: names())
            let attribute = ProtectRule.Requirement.attribute("a", values: names())
            let requirements = [.any, .users(names()), .groups(names()), .roles([role]), attribute]
            var rule = rule()
            rule.requirements = Array(requirements.shuffled(using: &random).prefix(random.below(3)))
            rule.realms = names()
            rule.access = random.pick([.users, .users, .users, .open, .nobody])
            let groups = Set(names().map { UTF8Text($0) }).map(\.string)
            let user = SignedInUser(
                realm: random.pick(words),
                username: try Username(random.pick(words.filter { !$0.isEmpty })),
                groups: groups,
                attributes: [try UserAttribute(name: "a", values: [random.pick(words.filter { !$0.isEmpty })])]
            )
            let compiled = ProtectionRules.CompiledRule(rule)
            #expect(compiled.allows(user) == model(rule, allows: user), "\(rule) \(user)")
            if compiled.allows(user) { allowed += 1 }
            for name in words {
                #expect(compiled.hasRealm(name) == rule.realms.contains { $0.hasBytes(of: name) })
                #expect(user.isMember(of: name) == groups.contains { $0.hasBytes(of: name) })
            }
        }
        #expect((200..<1800).contains(allowed))
    }

    /// The meaning of a rule, name by name.
    private func model(_ rule: ProtectRule, allows user: SignedInUser) -> Bool {
        func has(_ names: [String], _ name: String) -> Bool { names.contains { $0.hasBytes(of: name) } }
        func hasGroup(_ names: [String]) -> Bool { user.groups.contains { has(names, $0) } }
        let isMet = rule.requirements.contains { requirement in
            switch requirement {
            case .any: true
            case .users(let names): has(names, user.username.text)
            case .groups(let names): hasGroup(names)
            case .roles(let roles):
                roles.contains { role in
                    (role.realms.isEmpty || has(role.realms, user.realm))
                        && (has(role.users, user.username.text) || hasGroup(role.groups))
                }
            case .attribute(let name, let values):
                user.attributes.values(of: name).contains { has(values, $0) }
            }
        }
        switch rule.access {
        case .open: return true
        case .nobody: return false
        case .users: return has(rule.realms, user.realm) && isMet
        }
    }

    @Test func `the requirement any allows all users of the realms, and a rule without requirements denies all users`()
        throws
    {
        #expect(rule(.any).allows(try user("zed", "b")))
        #expect(!rule(.any).allows(try user("zed", "c")))
        #expect(!rule().allows(try user("zed")))
    }

    @Test func `an attribute requirement is met by a user whose attribute has one of the values`() throws {
        let rule = rule(.attribute("department", values: ["sales", "caf\u{E9}"]))
        func user(_ name: String, _ values: String...) throws -> SignedInUser {
            let attributes = [
                try UserAttribute(name: "cn", values: ["sales"]), try UserAttribute(name: name, values: values),
            ]
            return SignedInUser(realm: "a", username: try Username("ann"), groups: ["sales"], attributes: attributes)
        }
        #expect(rule.allows(try user("department", "it", "sales")))
        #expect(rule.allows(try user("department", "caf\u{E9}")))
        #expect(!rule.allows(try user("department", "Sales", "cafe\u{301}")))
        #expect(!rule.allows(try user("Department", "sales")))
        #expect(!rule.allows(try self.user("ann")))
    }

    @Test func `names are compared byte by byte`() throws {
        #expect(!rule(.users(["caf\u{E9}"])).allows(try user("cafe\u{301}")))
        #expect(!rule(.groups(["caf\u{E9}"])).allows(try user("ann", "a", "cafe\u{301}")))
        let role = Role(name: "r", groups: ["caf\u{E9}"], users: ["e\u{301}"])
        #expect(!rule(.roles([role])).allows(try user("\u{E9}", "a", "cafe\u{301}")))
        #expect(rule(.roles([role])).allows(try user("e\u{301}")))
    }

    @Test func `access open allows all users and access nobody denies all users, regardless of the requirements`()
        throws
    {
        var rule = rule(.users(["ann"]))
        rule.access = .open
        #expect(rule.allows(try user("zed", "c")))
        rule.access = .nobody
        #expect(!rule.allows(try user("ann")))
    }

    @Test func `the shortfall of a user has the requirements and the groups, both of bounded length`() throws {
        let role = Role(name: "editor", groups: ["Editors"])
        let short = rule(.groups(["Staff"]), .roles([role])).shortfall(of: try user("ann", "a", "X", "Night shift"))
        #expect(short.needs == "group Staff, or role editor (group Editors)" && short.has == #"X, "Night shift""#)
        #expect(rule(.groups(["Staff"])).shortfall(of: try user("ann")).has == "")
        let groups = (1...1000).map { "group-\($0)" }
        let ann = SignedInUser(realm: "a", username: try Username("ann"), groups: groups)
        let long = rule(.users([String(repeating: "u", count: 5000)])).shortfall(of: ann)
        #expect(long.needs == "1 more")
        #expect(long.has.hasPrefix("group-1, group-2, ") && long.has.hasSuffix(" more") && long.has.utf8.count < 450)
    }

    @Test func `a request from an address outside the networks of the rule is denied`() throws {
        var rule = rule(.any)
        #expect(rule.matches(peer: nil) && rule.matches(peer: "nonsense"))
        rule.networks = [try CIDRBlock("10.0.0.0/8"), try CIDRBlock("2001:db8::/32")]
        for peer in ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1", "2001:db8::1%eth0"] {
            #expect(rule.matches(peer: peer), "\(peer)")
        }
        for peer in ["11.0.0.1", "::1", "2001:db9::1"] { #expect(!rule.matches(peer: peer), "\(peer)") }
    }

    @Test(arguments: [nil, "", "nonsense", "10.0.0.1:80", "010.0.0.1", "unknown"] as [String?])
    func `CVE-2024-47070: an address that cannot be parsed is in no network`(peer: String?) throws {
        var rule = rule(.any)
        rule.networks = [try CIDRBlock("0.0.0.0/0"), try CIDRBlock("::/0")]
        #expect(!rule.matches(peer: peer))
    }
}
