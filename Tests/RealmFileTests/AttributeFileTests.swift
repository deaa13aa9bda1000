// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import Testing

@testable import RealmFile

struct AttributeFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func start(_ users: String, attributes: String, groups: String? = nil) throws -> FileRealm {
        try folder.write(users)
        try folder.write(attributes, to: "attributes")
        if let groups { try folder.write(groups, to: "groups") }
        return try FileRealm.make(
            folder,
            ["attribute-file": .string(folder.file("attributes"))],
            groups: groups == nil ? nil : "groups"
        )
    }

    private func attribute(_ name: String, _ values: String...) throws -> UserAttribute {
        try UserAttribute(name: name, values: values)
    }

    private let ann = "ann;\(KnownHashes.ssha);a\n"

    @Test func `attributes are read from their own file, in both formats of users`() async throws {
        let text = """
            # user:attribute:value
            ann:displayName:Ann: \u{C4}pfel
              ann:mail: ann@example.org\t
            ann:mail:a@example.org
            bob:mail:bob@example.org

            """
        let expected = [
            try attribute("displayName", "Ann: \u{C4}pfel"), try attribute("mail", "ann@example.org", "a@example.org"),
        ]
        let realm = try start(ann, attributes: text)
        #expect(try await realm.attributes(of: try Username("ann")) == expected)
        #expect(try await realm.users().map(\.attributes) == [expected])
        #expect(try await realm.exportUsers().map(\.record.attributes) == [expected])
        #expect(realm.warnings.isEmpty)
        let htpasswd = try start("ann:\(KnownHashes.ssha)\n", attributes: text, groups: "staff: ann\n")
        #expect(try await htpasswd.users().map(\.attributes) == [expected])
        await #expect(throws: RealmError.noSuchUser(try Username("bob"))) {
            try await realm.attributes(of: try Username("bob"))
        }
    }

    @Test func `a malformed line is ignored, with a warning`() async throws {
        let lines = ["ann", "ann:mail", ":mail:x", "ann:bad name:x", "ann:mail:", "ann:mail:\u{1}", "ann:mail:ok"]
        let realm = try start(ann, attributes: lines.joined(separator: "\n") + "\n")
        #expect(try await realm.attributes(of: try Username("ann")) == [try attribute("mail", "ok")])
        #expect(realm.warnings.count == 6)
        #expect(
            realm.warnings.first
                == "\(folder.file("attributes")):1: the line is ignored: it is not user:attribute:value"
        )
    }

    @Test func `a change of an attribute changes only its lines, and ends sessions`() async throws {
        let realm = try start(ann, attributes: "# kept\nann:mail:old@x\nbob:mail:b@x\nann:cn:Ann\r\n")
        let user = try Username("ann")
        let before = await realm.state(of: user)
        var changes = UserChanges()
        changes.attributes = [.set(try attribute("mail", "new@x", "more@x")), .remove("none")]
        try await realm.change(user, changes)
        let text = "# kept\nbob:mail:b@x\nann:cn:Ann\r\nann:mail:new@x\nann:mail:more@x\n"
        #expect(try folder.text("attributes") == text)
        #expect(try folder.text() == ann)
        let after = await realm.state(of: user)
        #expect(after != before && after.stamp != nil)
        #expect(await realm.refresh() == .some([user]))
        changes.attributes = [.remove("mail"), .remove("cn")]
        try await realm.change(user, changes)
        #expect(try folder.text("attributes") == "# kept\nbob:mail:b@x\n")
    }

    @Test func `a new user gets only the given attributes, and a removed user leaves none`() async throws {
        let realm = try start(ann, attributes: "new:mail:earlier@x\nann:mail:ann@x\n")
        let record = UserRecord(try Username("new"), groups: ["a"], attributes: [try attribute("cn", "New")])
        try await realm.add(record, hash: KnownHashes.ssha)
        #expect(try folder.text("attributes") == "ann:mail:ann@x\nnew:cn:New\n")
        try await realm.remove(try Username("ann"))
        #expect(try folder.text("attributes") == "new:cn:New\n")
        #expect(try await realm.users().map(\.attributes) == [record.attributes])
    }

    @Test func `a change by an editor is seen, and the stamp of a user without attributes is that of earlier versions`()
        async throws
    {
        try folder.write(ann)
        let plain = try FileRealm.make(folder)
        let user = try Username("ann")
        let stamp = await plain.state(of: user)
        let realm = try start(ann, attributes: "")
        #expect(await realm.state(of: user) == stamp)
        try folder.write("ann:mail:ann@x\n", to: "attributes")
        #expect(try await realm.attributes(of: user) == [try attribute("mail", "ann@x")])
        #expect(await realm.state(of: user) != stamp)
    }

    @Test func `without an attribute file, attributes cannot be set`() async throws {
        try folder.write(ann)
        let realm = try FileRealm.make(folder)
        var changes = UserChanges()
        changes.attributes = [.set(try attribute("mail", "x"))]
        await #expect(throws: RealmError.self) { try await realm.change(try Username("ann"), changes) }
        let record = UserRecord(try Username("new"), attributes: [try attribute("mail", "x")])
        await #expect(throws: RealmError.self) { try await realm.add(record, hash: nil) }
        #expect(try folder.text() == ann)
    }
}
