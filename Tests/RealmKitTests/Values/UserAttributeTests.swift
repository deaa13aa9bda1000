// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct UserAttributeTests {
    private func module(
        _ groups: [String],
        _ attributes: [UserAttribute],
        _ verdict: LoginFailure? = nil
    ) -> ScriptedModule {
        ScriptedModule(
            .run { attempt in
                let success = attempt.commit(groups: groups, attributes: attributes)
                return verdict.map { .failed($0) } ?? success
            }
        )
    }

    private func attribute(_ name: String, _ values: String...) throws -> UserAttribute {
        try UserAttribute(name: name, values: values)
    }

    @Test(
        arguments: [
            ("", ["a"]), (String(repeating: "n", count: 65), ["a"]), ("a b", ["a"]), ("a:b", ["a"]), ("é", ["a"]),
            ("mail", []), ("mail", [""]), ("mail", ["a\r\nX: y"]), ("mail", ["a\u{0}"]), ("mail", ["a\u{2028}b"]),
            ("mail", [String(repeating: "v", count: 1025)]), ("mail", Array(repeating: "v", count: 65)),
        ] as [(String, [String])]
    )
    func `an attribute with a bad name or a bad value cannot be created`(name: String, values: [String]) {
        #expect(throws: BadAttribute.self) { try UserAttribute(name: name, values: values) }
    }

    @Test func `the largest name, value and number of values are accepted`() throws {
        let longest = String(repeating: "v", count: UserAttribute.maximumValueBytes)
        let all = Array(repeating: longest, count: UserAttribute.maximumValues)
        let attribute = try UserAttribute(
            name: String(repeating: "n", count: UserAttribute.maximumNameBytes),
            values: all
        )
        #expect(attribute.values == all)
    }

    @Test func `attributes are compared byte by byte`() throws {
        #expect(try attribute("a", "caf\u{E9}") != (try attribute("a", "cafe\u{301}")))
        #expect(try attribute("a", "x") != (try attribute("A", "x")))
        #expect([try attribute("a", "x")].values(of: "A").isEmpty)
    }

    @Test func `the attributes of all modules that count are merged, each value once and in order`() async throws {
        let report = try await stack(
            .required(module(["User"], [try attribute("mail", "a@x", "b@x"), try attribute("cn", "Ann")])),
            .optional(module(["Admin"], [try attribute("mail", "root@x")], .wrongCredentials)),
            .required(module([], [try attribute("mail", "b@x", "c@x")]))
        ).login()
        let identity = try #require(report.identity)
        let merged = [try attribute("mail", "a@x", "b@x", "c@x"), try attribute("cn", "Ann")]
        #expect(identity.attributes == merged)
        #expect(identity.subject.attributes == merged)
        #expect(SignedInUser(identity).attributes == merged)
        #expect(identity.groups == ["User"])
    }

    @Test func `attributes of a module without a user name and attributes of the commit phase count`() async throws {
        let room = try attribute("room", "7")
        let floor = try attribute("floor", "1")
        let second = ScriptedModule(
            .run { attempt in attempt.commit(only: [], attributes: [room]) },
            commit: .run { attempt in
                attempt.add([], attributes: [floor])
                return .done
            }
        )
        let report = try await stack(.required(module(["User"], [])), .required(second)).login()
        #expect(report.identity?.attributes.values(of: "room") == ["7"])
        #expect(report.identity?.attributes.values(of: "floor") == ["1"])
    }

    @Test func `an attribute added after the decision does not count`() async throws {
        let captured = CapturedValue<LoginAttempt>()
        let keeping = ScriptedModule(
            .run { attempt in
                captured.set(attempt)
                return attempt.commit()
            }
        )
        let report = try await stack(.required(keeping)).login()
        captured.value?.add([], attributes: [try attribute("mail", "late@x")])
        #expect(report.identity?.attributes.isEmpty == true)
    }
}
