// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Testing

struct GroupMappingTests {
    @Test(arguments: [
        (["a->b"], ["a"], ["b"]), (["a->b"], ["b"], []), (["a,b->c"], ["b"], ["c"]), (["a,b->c"], ["a", "b"], ["c"]),
        (["a->b", "b->c", "c->d"], ["a"], ["b", "c", "d"]), (["a->b;b->c"], ["a"], ["b", "c"]),
        (["a->b", "a->c"], ["a"], ["b", "c"]),
        (["a->b"], ["a", "b"], []), (["a->b", "c->b"], ["a", "c"], ["b"]), ([], ["a"], []), (["a->b"], ["A"], []),
        (["a->b", "a->c", "b->d", "c->d"], ["a"], ["b", "c", "d"]), (["x-y->z"], ["x-y"], ["z"]),
    ])
    func `groups are derived by one rule or by a chain of rules`(
        rules: [String],
        groups: [String],
        expected: [String]
    ) throws {
        let derivedGroups = try GroupMapping(rules: rules).derivedGroups(from: groups)
        #expect(Set(derivedGroups) == Set(expected))
        #expect(derivedGroups.count == expected.count)
    }

    @Test func `groups are compared byte by byte`() throws {
        let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
        let mapping = try GroupMapping(rules: ["\(composed)->Admin", "Staff->\(composed)"])
        #expect(mapping.derivedGroups(from: [decomposed]).isEmpty)
        #expect(mapping.derivedGroups(from: [composed]) == ["Admin"])
        #expect(mapping.derivedGroups(from: ["Staff", decomposed]).count == 2)
    }

    @Test(arguments: [
        (["a->a"], "a"), (["a->b", "b->a"], "a"), (["a->b", "b->c", "c->a"], "a"), (["x->a", "a->b", "b->a"], "a"),
        (["a,b->b"], "b"),
    ])
    func `a cycle of rules is refused`(rules: [String], start: String) {
        #expect(throws: BadValue("has a cycle through \(start)")) { try GroupMapping(rules: rules) }
    }

    @Test(arguments: ["a", "a->", "->b", "a,->b", ",a->b", "a->b,c", "a>b"])
    func `an invalid rule is refused`(rule: String) {
        #expect(throws: BadValue("takes rules such as a,b->c, not \(rule)")) {
            try GroupMapping(rules: [rule])
        }
    }

    @Test func `a mapping without rules is empty`() throws {
        #expect(GroupMapping.none.isEmpty)
        #expect(try GroupMapping(rules: []).isEmpty)
        #expect(try !GroupMapping(rules: ["a->b"]).isEmpty)
    }
}
