// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Testing

struct PropertyTests {
    struct ValidValue: Sendable {
        let words: [String]
        let kind: Property.Kind
        let description: String
    }

    @Test(arguments: [
        ValidValue(words: ["a b"], kind: .string, description: #"string("a b")"#),
        ValidValue(words: [""], kind: .string, description: #"string("")"#),
        ValidValue(words: ["0"], kind: .integer(0...5), description: "integer(0)"),
        ValidValue(words: ["5"], kind: .integer(0...5), description: "integer(5)"),
        ValidValue(words: ["-3"], kind: .integer(-3...5), description: "integer(-3)"),
        ValidValue(words: ["TRUE"], kind: .boolean, description: "boolean(true)"),
        ValidValue(words: ["Yes"], kind: .boolean, description: "boolean(true)"),
        ValidValue(words: ["on"], kind: .boolean, description: "boolean(true)"),
        ValidValue(words: ["1"], kind: .boolean, description: "boolean(true)"),
        ValidValue(words: ["False"], kind: .boolean, description: "boolean(false)"),
        ValidValue(words: ["no"], kind: .boolean, description: "boolean(false)"),
        ValidValue(words: ["off"], kind: .boolean, description: "boolean(false)"),
        ValidValue(words: ["0"], kind: .boolean, description: "boolean(false)"),
        ValidValue(words: ["250ms"], kind: .duration, description: "duration(0.25 seconds)"),
        ValidValue(words: ["30s"], kind: .duration, description: "duration(30.0 seconds)"),
        ValidValue(words: ["5m"], kind: .duration, description: "duration(300.0 seconds)"),
        ValidValue(words: ["12h"], kind: .duration, description: "duration(43200.0 seconds)"),
        ValidValue(words: ["7d"], kind: .duration, description: "duration(604800.0 seconds)"),
        ValidValue(words: ["0s"], kind: .duration, description: "duration(0.0 seconds)"),
        ValidValue(words: [], kind: .list, description: "list([])"),
        ValidValue(words: ["a", "b"], kind: .list, description: #"list(["a", "b"])"#),
        ValidValue(words: ["red"], kind: .choice(["red", "green"]), description: #"string("red")"#),
        ValidValue(words: ["x/y"], kind: .path, description: #"string("x/y")"#),
        ValidValue(words: ["k"], kind: .secret, description: "secret(<secret>)"),
    ])
    func `a value is read according to its kind`(value: ValidValue) throws {
        #expect("\(try PropertyValue(value.words, as: value.kind))" == value.description)
    }

    struct InvalidValue: Sendable {
        let words: [String]
        let kind: Property.Kind
        let message: String
    }

    private static let times = "is a time such as 250ms, 30s, 5m, 12h or 7d, not "
    private static let numbers = "is a whole number from 0 to 5, not "

    static let invalidValues: [InvalidValue] =
        [[], ["a", "b"]].flatMap { words in
            let kinds: [Property.Kind] = [
                .string, .integer(0...5), .boolean, .duration, .path, .choice(["a"]), .secret,
            ]
            let message = words.isEmpty ? "needs a value" : "takes one value; quote it if it holds blanks"
            return kinds.map { InvalidValue(words: words, kind: $0, message: message) }
        }
        + ["6", "-1", "", "x", "1.0", " 1", "0x1", "\u{0661}", "99999999999999999999"].map {
            InvalidValue(words: [$0], kind: .integer(0...5), message: numbers + $0)
        }
        + ["", "maybe", "2", "t", "y", "true "].map {
            InvalidValue(words: [$0], kind: .boolean, message: "is true or false, not \($0)")
        }
        + [
            "", "5", "s", "-1s", "1.5s", "1 s", "5S", "5min", "\u{0661}s", "9223372036854775807d",
            "99999999999999999999s",
        ].map {
            InvalidValue(words: [$0], kind: .duration, message: times + $0)
        }
        + ["Red", "", "blue"].map {
            InvalidValue(words: [$0], kind: .choice(["red", "green"]), message: "is one of red, green, not \($0)")
        }

    @Test(arguments: invalidValues) func `an invalid value is rejected, and the message names valid values`(
        value: InvalidValue
    ) {
        #expect(throws: BadValue(value.message)) { try PropertyValue(value.words, as: value.kind) }
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

    @Test func `properties get their default, and properties without a default have no value`() throws {
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

    @Test func `if several properties are unknown, the error names the first in alphabetical order`() {
        let key = PropertyValue.secret(Secret(utf8: "k"))
        #expect(throws: BadRealm("is unknown", setting: "alpha")) {
            try settings(["key": key, "beta": .integer(1), "alpha": .integer(1)])
        }
    }

    @Test func `reading a property that has no value or another kind throws`() throws {
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

    @Test func `if two properties have the same name, the later property is kept`() {
        let schema = PropertySchema.firstPass + [Property("storePass", .string, default: "x"), .optional("more")]
        #expect(schema.properties.map(\.name) == ["tryFirstPass", "useFirstPass", "clearPass", "storePass", "more"])
        #expect(schema["storePass"]?.kind == .string)
        #expect(schema["nope"] == nil)
    }
}
