// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import Testing

struct PropertyTests {
    struct Good: Sendable {
        let words: [String]
        let kind: Property.Kind
        let shown: String
    }

    @Test(arguments: [
        Good(words: ["a b"], kind: .string, shown: #"string("a b")"#),
        Good(words: [""], kind: .string, shown: #"string("")"#),
        Good(words: ["0"], kind: .integer(0...5), shown: "integer(0)"),
        Good(words: ["5"], kind: .integer(0...5), shown: "integer(5)"),
        Good(words: ["-3"], kind: .integer(-3...5), shown: "integer(-3)"),
        Good(words: ["TRUE"], kind: .boolean, shown: "boolean(true)"),
        Good(words: ["Yes"], kind: .boolean, shown: "boolean(true)"),
        Good(words: ["on"], kind: .boolean, shown: "boolean(true)"),
        Good(words: ["1"], kind: .boolean, shown: "boolean(true)"),
        Good(words: ["False"], kind: .boolean, shown: "boolean(false)"),
        Good(words: ["no"], kind: .boolean, shown: "boolean(false)"),
        Good(words: ["off"], kind: .boolean, shown: "boolean(false)"),
        Good(words: ["0"], kind: .boolean, shown: "boolean(false)"),
        Good(words: ["250ms"], kind: .duration, shown: "duration(0.25 seconds)"),
        Good(words: ["30s"], kind: .duration, shown: "duration(30.0 seconds)"),
        Good(words: ["5m"], kind: .duration, shown: "duration(300.0 seconds)"),
        Good(words: ["12h"], kind: .duration, shown: "duration(43200.0 seconds)"),
        Good(words: ["7d"], kind: .duration, shown: "duration(604800.0 seconds)"),
        Good(words: ["0s"], kind: .duration, shown: "duration(0.0 seconds)"),
        Good(words: [], kind: .list, shown: "list([])"),
        Good(words: ["a", "b"], kind: .list, shown: #"list(["a", "b"])"#),
        Good(words: ["red"], kind: .choice(["red", "green"]), shown: #"string("red")"#),
        Good(words: ["x/y"], kind: .path, shown: #"string("x/y")"#),
        Good(words: ["k"], kind: .secret, shown: "secret(<secret>)"),
    ])
    func `a value is read as its type`(good: Good) throws {
        #expect("\(try PropertyValue(good.words, as: good.kind))" == good.shown)
    }

    struct Bad: Sendable {
        let words: [String]
        let kind: Property.Kind
        let message: String
    }

    private static let times = "is a time such as 250ms, 30s, 5m, 12h or 7d, not "
    private static let numbers = "is a whole number from 0 to 5, not "

    static let bad: [Bad] =
        [[], ["a", "b"]].flatMap { words in
            let kinds: [Property.Kind] = [
                .string, .integer(0...5), .boolean, .duration, .path, .choice(["a"]), .secret,
            ]
            let message = words.isEmpty ? "needs a value" : "takes one value; quote it if it holds blanks"
            return kinds.map { Bad(words: words, kind: $0, message: message) }
        }
        + ["6", "-1", "", "x", "1.0", " 1", "0x1", "\u{0661}", "99999999999999999999"].map {
            Bad(words: [$0], kind: .integer(0...5), message: numbers + $0)
        }
        + ["", "maybe", "2", "t", "y", "true "].map {
            Bad(words: [$0], kind: .boolean, message: "is true or false, not \($0)")
        }
        + [
            "", "5", "s", "-1s", "1.5s", "1 s", "5S", "5min", "\u{0661}s", "9223372036854775807d",
            "99999999999999999999s",
        ].map {
            Bad(words: [$0], kind: .duration, message: times + $0)
        }
        + ["Red", "", "blue"].map {
            Bad(words: [$0], kind: .choice(["red", "green"]), message: "is one of red, green, not \($0)")
        }

    @Test(arguments: bad) func `an invalid value is refused, and the message names the valid ones`(bad: Bad) {
        #expect(throws: BadValue(bad.message)) { try PropertyValue(bad.words, as: bad.kind) }
    }
}

struct SettingsTests {
    private let schema: PropertySchema = [
        .jaasContext(default: "lane"), .required("key", .secret), Property("tries", .integer(0...9), default: "3"),
        .optional("note"), Property("friends", .list, default: "ann  bob"),
    ]

    private func settings(_ values: [String: PropertyValue]) throws(BadRealm) -> RealmProperties {
        try RealmProperties(values, schema: schema, realmName: "town")
    }

    @Test func `defaults are filled in, other properties are missing`() throws {
        let set = try settings(["key": .secret(Secret(utf8: "k"))])
        #expect(try set.jaasContext == "lane")
        #expect(try set.integer("tries") == 3)
        #expect(try set.list("friends") == ["ann", "bob"])
        #expect(!set.has("note") && set.has("key"))
        #expect(set.realmName == "town")
    }

    @Test func `a missing required property is refused`() {
        #expect(throws: BadRealm("must be set", setting: "key")) { try settings([:]) }
    }

    @Test func `of several unknown properties the first by name is refused`() {
        let key = PropertyValue.secret(Secret(utf8: "k"))
        #expect(throws: BadRealm("is unknown", setting: "alpha")) {
            try settings(["key": key, "beta": .integer(1), "alpha": .integer(1)])
        }
    }

    @Test func `reading a property without a value, or as another type, throws`() throws {
        let set = try settings(["key": .secret(Secret(utf8: "k"))])
        #expect(throws: BadRealm("has no value", setting: "note")) { try set.string("note") }
        #expect(throws: BadRealm("has no value", setting: "nope")) { try set.integer("nope") }
        #expect(throws: BadRealm("is not a text", setting: "tries")) { try set.string("tries") }
        #expect(throws: BadRealm("is not a number", setting: "key")) { try set.integer("key") }
        #expect(throws: BadRealm("is not true or false", setting: "tries")) { try set.boolean("tries") }
        #expect(throws: BadRealm("is not a time", setting: "tries")) { try set.duration("tries") }
        #expect(throws: BadRealm("is not a list", setting: "tries")) { try set.list("tries") }
        #expect(throws: BadRealm("is not a secret", setting: "tries")) { try set.secret("tries") }
    }

    @Test func `an invalid default throws`() {
        let schema: PropertySchema = [Property("tries", .integer(0...2), default: "3")]
        let fault = BadModule("has an invalid default: it is a whole number from 0 to 2, not 3", setting: "tries")
        #expect(throws: fault) { try ModuleOptions(schema: schema, realmName: "town") }
        #expect(fault.description == "tries: has an invalid default: it is a whole number from 0 to 2, not 3")
    }

    @Test func `of two properties with the same name the later counts`() {
        let schema = PropertySchema.firstPass + [Property("storePass", .string, default: "x"), .optional("more")]
        #expect(schema.properties.map(\.name) == ["tryFirstPass", "useFirstPass", "clearPass", "storePass", "more"])
        #expect(schema["storePass"]?.kind == .string)
        #expect(schema["nope"] == nil)
    }
}
