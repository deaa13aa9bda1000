// SPDX-License-Identifier: Apache-2.0

import Files
import Foundation
import OpenSSLKit
import RealmKit
import Synchronization
import TLSTesting
import Testing

@testable import RealmBasics

/// The mapping file.
struct MappingTests {
    private let folder: Fixture.Folder

    init() throws { folder = try Fixture.Folder() }

    private static func fingerprint(_ template: CertificateTemplate) throws -> String {
        try Certificate(der: template.der, context: "test").fingerprint
    }

    private func properties(_ file: String) -> [String: [String]] {
        ["name-from": ["mapping"], "mapping-file": [file]]
    }

    @Test func `a certificate is found by its fingerprint or by its exact names`() async throws {
        let ann = CertificateTemplate()
        var bob = ann
        bob.subject = [[("2.5.4.3", .utf8("bob \"the builder\""))]]
        let print = try Self.fingerprint(ann)
        let plain = print.filter { $0 != ":" }.lowercased()
        let subject = try Certificate(der: bob.der, context: "test").subject
        let quoted = subject.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        for spelling in [print, plain] {
            let file = try folder.write(
                """
                # people
                fingerprint \(spelling) user ann groups Staff "Town Council"   # until May

                subject "\(quoted)" issuer "CN=Town CA,O=Town" user "bob b"\r
                """
            )
            let outcome = try await Fixture.login(ann, properties(file).merging(["groups-from": ["O"]]) { $1 })
            #expect(outcome.name == "ann")
            #expect(outcome.groups == ["Staff", "Town Council", "Town"])
            #expect(try await Fixture.login(bob, properties(file)).name == "bob b")
        }
    }

    @Test(
        arguments: [
            ("CN=ann,O=Town", nil), ("CN=a\\, b+UID=7,O=x\\+ y", nil), ("2.5.4.3=ann,OU= x", nil),
            ("CN=a\\\\,O=Town", nil),
            ("CN=ann, O=Town", "there is no blank"), ("/O=Town/CN=ann", "the form is not that with slashes"),
            ("cn=ann,O=Town", "cn is written CN"), ("CN=ann,E=a@b", "E is written emailAddress"),
            ("ann", "a part has no ="),
            ("CN=a\\\\, O=Town", "there is no blank"),
        ] as [(String, String?)]
    )
    func `a name that no certificate can have gives a warning with its place`(name: String, problem: String?) throws {
        let word = name.replacing("\\", with: "\\\\")
        let text = "\nsubject \"\(word)\" issuer \"CN=Town CA,O=Town\" user ann"
        let warnings = try CertificateMapping(Array(text.utf8), path: "map").warnings.map(\.description)
        #expect(warnings.count == (problem == nil ? 0 : 1), "\(warnings)")
        if let problem, let warning = warnings.first {
            #expect(warning.hasPrefix("map:2:9: no certificate has the name \(name): \(problem)"), "\(warning)")
        }
        var template = CertificateTemplate()
        template.subject = [[("2.5.4.3", .utf8("a, b"))], [("1.2.840.113549.1.9.1", .ia5("a@b"))]]
        #expect(SubjectForm.problem(of: try Certificate(der: template.der, context: "test").subject) == nil)
    }

    @Test func `a certificate without an entry is rejected`() async throws {
        let file = try folder.write(#"subject "CN=ann,O=Town" issuer "CN=Other CA" user ann"#)
        let outcome = try await Fixture.login(CertificateTemplate(), properties(file))
        #expect(outcome.kind == .unknownUser)
        #expect(outcome.log == "the mapping file has no entry for the certificate")
    }

    @Test(arguments: [
        ("user ann", "1:1: an entry begins with fingerprint or subject"),
        ("\n\nfingerprint", "3:1: fingerprint needs a value"),
        ("fingerprint 00:11 user ann", "1:13: a fingerprint has 32 bytes"),
        ("fingerprint \(String(repeating: "0g", count: 32)) user a", "1:13: a fingerprint has 32 bytes"),
        ("fingerprint \(String(repeating: "0", count: 63)) user a", "1:13: a fingerprint has 32 bytes"),
        ("fingerprint \(String(repeating: "00", count: 32))", "1:13: user is missing"),
        ("subject CN=a user ann", "1:9: issuer is missing after the subject"),
        ("subject CN=a issuer CN=b", "1:21: user is missing"),
        ("subject CN=a issuer CN=b user", "1:26: user needs a value"),
        ("subject CN=a issuer CN=b user \"\"", "1:26: user needs a value"),
        ("subject CN=a issuer CN=b user \" a\"", "1:31: the user name begins or ends with white space"),
        ("subject CN=a issuer CN=b user ann group x", "1:35: expected groups"),
        ("subject CN=a issuer CN=b user ann groups", "1:35: groups needs at least one name"),
        ("subject CN=a issuer CN=b user ann groups x \"\"", "1:44: a group has an empty name"),
        ("subject \"CN=a issuer CN=b user ann", "1:9: the quotes are not closed"),
        ("subject CN=\"a\" issuer CN=b user ann", "1:12: quotes must be around the whole word"),
        ("subject \"a\"b issuer CN=b user ann", "1:12: a blank is missing after the quotes"),
        ("subject \"a\\b\" issuer CN=b user ann", "1:12: \\ must be followed by"),
        ("subject CN=a\u{1} issuer CN=b user ann", "1:13: there is a control character"),
        ("subject A issuer B user a\nsubject A issuer B user b", "2:9: the subject and issuer occur on line 1"),
    ])
    func `a mistake is reported with its place`(text: String, error: String) throws {
        let file = try folder.write(text)
        let fault = #expect(throws: BadRealm.self) { try Fixture.realm(properties(file)) }
        #expect(fault?.setting == "mapping-file")
        #expect(fault?.message.hasPrefix("\(file):\(error)") == true, "\(fault?.message ?? "")")
    }

    @Test func `a file that all users may write, and a missing file, are rejected`() throws {
        let file = try folder.write("")
        #expect(throws: Never.self) { try Fixture.realm(properties(file)) }
        #expect(unsafe chmod(file, 0o666) == 0)
        let fault = #expect(throws: BadRealm.self) { try Fixture.realm(properties(file)) }
        #expect(fault?.message.contains("every user of this machine may write to it") == true)
        #expect(throws: BadRealm.self) { try Fixture.realm(properties("\(folder.path)/none")) }
        #expect(throws: BadRealm.self) { try Fixture.realm(properties(folder.path)) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `a new owner of the file is logged once, at the next login`() async throws {
        let messages = Mutex<[String]>([])
        let log = RealmLog { level, message in messages.withLock { $0.append("\(level): \(message)") } }
        let entry = #"subject "CN=ann,O=Town" issuer "CN=Town CA,O=Town" user"#
        let file = try folder.write("\(entry) ann")
        let realm = try Fixture.realm(properties(file), services: Fixture.services(log: log))
        let stack = Fixture.stack([.init(try Fixture.module(of: realm), .required)])
        for name in ["anna", "annabel"] {
            try folder.write("\(entry) \(name)")
            #expect(unsafe chown(file, 48_213, 48_213) == 0)
            #expect(try await Fixture.login(CertificateTemplate().der, stack: stack).name == name)
        }
        let expected = "warning: \(file): belongs to another user, who could write to it; chown root \(file)"
        #expect(messages.withLock { $0 } == [expected])
    }

    @Test func `changes take effect at the next login, and a file with a mistake changes nothing`() async throws {
        let messages = Mutex<[String]>([])
        let log = RealmLog { level, message in messages.withLock { $0.append("\(level): \(message)") } }
        let ann = CertificateTemplate()
        let entry = #"subject "CN=ann,O=Town" issuer "CN=Town CA,O=Town" user"#
        let file = try folder.write("\(entry) ann groups Staff")
        let realm = try Fixture.realm(properties(file), services: Fixture.services(log: log))
        let stack = Fixture.stack([.init(try Fixture.module(of: realm), .required)])
        #expect(try await Fixture.login(ann.der, stack: stack).name == "ann")
        #expect(await realm.refresh() == .none)
        let before = await realm.state(of: try Username("ann"))

        try folder.write("\(entry) anna")
        #expect(try await Fixture.login(ann.der, stack: stack).name == "anna")
        #expect(await realm.refresh() == .all)
        #expect(await realm.refresh() == .none)
        #expect(await realm.state(of: try Username("ann")) == .gone)

        try folder.write("\(entry) ann groups Staff\nnonsense")
        for _ in 0..<3 { #expect(try await Fixture.login(ann.der, stack: stack).name == "anna") }
        let expected = "error: \(file):2:1: an entry begins with fingerprint or subject; the previous entries are kept"
        #expect(messages.withLock { $0 } == [expected])
        #expect(await realm.refresh() == .none)

        try folder.write("\(entry) ann groups Staff")
        #expect(try await Fixture.login(ann.der, stack: stack).groups == ["Staff"])
        #expect(messages.withLock { $0 }.last == "notice: \(file): it can be read again")
        #expect(await realm.state(of: try Username("ann")) == before)
        try folder.write("\(entry) ann groups Staff Admin")
        #expect(await realm.state(of: try Username("ann")) != before)
        #expect(try await realm.groupNames(of: try Username("ann")) == ["Staff", "Admin"])
    }
}
