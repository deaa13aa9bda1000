// SPDX-License-Identifier: Apache-2.0

import LoginConf
import Testing

@Suite struct NearestNameTests {
    private static let flags = ["required", "requisite", "sufficient", "optional"]
    private static let classes = ["StartWithLoginModule", "com.example.FileLoginModule", "LDAPRealm", "SQLRealm"]

    @Test(arguments: [
        ("requierd", "required"), ("requird", "required"), ("requisit", "requisite"), ("OPTIONL", "optional"),
        ("sufficent", "sufficient"), ("suficient", "sufficient"), ("Required", "required"),
    ])
    func `a misspelled flag gets a suggestion`(_ name: String, _ expected: String) {
        #expect(NearestName.suggest(name, among: Self.flags) == expected)
    }

    @Test(arguments: ["mandatory", "include", "x", "", "must", "req"])
    func `a word that is not similar to any name gets no suggestion`(_ name: String) {
        #expect(NearestName.suggest(name, among: Self.flags) == nil)
    }

    @Test(arguments: [
        ("org.xtech.StartWithLoginModule", "StartWithLoginModule"),
        ("FileLoginModule", "com.example.FileLoginModule"),
        ("org.other.fileloginmodule", "com.example.FileLoginModule"),
        ("StartWithLoginModul", "StartWithLoginModule"),
        ("LdapRealm", "LDAPRealm"),
        ("a.b.c.SQLRaelm", "SQLRealm"),
    ])
    func `class names are also compared by the part after the last dot`(_ name: String, _ expected: String) {
        #expect(NearestName.suggest(name, among: Self.classes) == expected)
    }

    @Test func `a name that differs only in case is preferred to a name with one edit`() {
        #expect(NearestName.suggest("Realm", among: ["Realms", "REALM"]) == "REALM")
    }

    @Test func `the first of two equally similar names is suggested`() {
        #expect(NearestName.suggest("cat", among: ["car", "bat"]) == "car")
    }

    @Test func `very long names are not compared`() {
        let long = String(repeating: "a", count: 100_000)
        #expect(NearestName.suggest(long, among: [long]) == nil)
        #expect(NearestName.suggest("abc", among: [long, "abd"]) == "abd")
        #expect(NearestName.suggest("abc", among: []) == nil)
    }
}
