// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct RealmConformanceTests {
    private struct InvalidRealm: Realm {
        static let classNames = ["Bad", "Bad", "b d", ""]
        static let properties: PropertySchema = [
            .jaasContext(default: "lane"), Property("tries", .integer(0...2), default: "2", required: true),
            Property("class", .string, default: ""), .optional("no tes"), .optional("Tries"), .optional("Class"),
        ]
        let jaasContext = ""
        let authType = "B\nd"

        init(_ properties: RealmProperties) throws(BadRealm) {}

        func groupNames(of user: Username) async throws(RealmError) -> [String] {
            if user.text == "thrower" { throw .noSuchRealm("Bad", known: []) }
            return ["everybody"]
        }
    }

    @Test func `every violation of a realm is reported`() async {
        let conformance = RealmConformance(
            InvalidRealm.self,
            properties: ["tries": ["1"]],
            members: ["ann": ["User"]],
            unknownUsers: ["nobody", "thrower"]
        )
        #expect(
            await conformance.violations() == [
                "the class name \"b d\" needs quotes in a configuration",
                "a class name is empty",
                "the class name Bad is listed twice",
                "the property \"no tes\" needs quotes in a configuration",
                "the property name class is reserved",
                "the properties tries and Tries differ in case only",
                "the properties class and Class differ in case only",
                "tries is required and has a default",
                "tries is required, but the realm can be created without it",
                "jaasContext is empty",
                "authType contains a control character",
                "jaas-context is set to \"another\", but jaasContext is \"\"",
                "the groups of ann should be [\"User\"], but are [\"everybody\"]",
                "groupNames(of: nobody) returns [\"everybody\"] for an unknown user",
                "groupNames(of: thrower) throws noSuchRealm",
            ]
        )
    }

    private struct InvalidDefaultRealm: Realm {
        static let properties: PropertySchema = [Property("tries", .integer(0...2), default: "3")]
        let jaasContext = "lane"
        let authType = "Impossible"

        init(_ properties: RealmProperties) throws(BadRealm) {}
    }

    @Test func `a default that cannot be read is reported`() async {
        #expect(
            await RealmConformance(InvalidDefaultRealm.self).violations() == [
                "the default of tries is invalid: it is a whole number from 0 to 2, not 3",
                "the realm cannot be created from the given properties: tries: has an invalid default: "
                    + "it is a whole number from 0 to 2, not 3",
            ]
        )
    }
}

struct AccountKeyConformanceTests {
    private struct CaseSensitiveRealm: Realm {
        static let properties: PropertySchema = [.jaasContext(default: "lane")]
        let jaasContext: String
        let authType = "CaseSensitive"

        init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }

        func accountKey(of user: Username) -> String { user.text == "nobody" ? "" : user.text }
    }

    @Test func `spellings of one user with different or empty account keys are reported`() async {
        let conformance = RealmConformance(
            CaseSensitiveRealm.self,
            spellings: [["ann", "Ann"], ["bob", "bob"], ["nobody"], [" "]]
        )
        #expect(
            await conformance.violations() == [
                #"accountKey(of:) returns different keys for ["ann", "Ann"]: ["ann", "Ann"]"#,
                #"accountKey(of:) is empty for one of ["nobody"]"#,
                #"one of [" "] is not a valid user name: the user name begins or ends with white space"#,
            ]
        )
    }

    @Test func `a type of realm and its module are tested in one call`() async {
        let violations = await RealmKind(CaseSensitiveRealm.self, modules: ScriptedModule.self).violations(
            members: ["ann": ["Crew"]],
            accepts: [.init("ann", password: "lilac")],
            refuses: [.init("bob", password: "lilac")]
        )
        #expect(violations.contains { $0.hasPrefix("groupNames(of: ann) throws: ") }, "\(violations)")
        #expect(violations.contains("bob should be refused, but is accepted"), "\(violations)")
        let broken = await RealmKind(CaseSensitiveRealm.self).violations(accepts: [], refuses: [])
        #expect(broken == ["the realm with its module cannot be created: the type of realm has no module"])
    }
}
