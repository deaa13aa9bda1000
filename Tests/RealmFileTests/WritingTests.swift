// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFile
import RealmKit
import Testing

struct WritingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func user(_ name: String, _ groups: [String] = []) throws -> UserRecord {
        UserRecord(try Username(name), groups: groups)
    }

    @Test func `a change of a user in a key file leaves all other bytes as they are`() async throws {
        try folder.write("\u{FEFF}# top\r\nann;\(KnownHashes.ssha);a,b\r\nodd line\nbob;\(KnownHashes.lilac)\n\n# end")
        let realm = try FileRealm.make(folder)
        var changes = UserChanges()
        changes.hash = KnownHashes.glassfish
        try await realm.change(try Username("ann"), changes)
        changes = UserChanges()
        changes.groups = ["x", "y y", "x"]
        try await realm.change(try Username("bob"), changes)
        try await realm.add(try user("carl", ["z"]), hash: nil)
        let end = "odd line\nbob;\(KnownHashes.lilac);x,y y\n\n# end\r\ncarl;RESET;z\r\n"
        #expect(try folder.text() == "\u{FEFF}# top\r\nann;\(KnownHashes.glassfish);a,b\r\n\(end)")
        try await realm.remove(try Username("ann"))
        #expect(try folder.text() == "\u{FEFF}# top\r\n\(end)")
        #expect(realm.listing == ["bob: x,y y", "!carl: z"])
    }

    @Test func `a group is replaced by a group of the same characters but other bytes`() async throws {
        try folder.write("ann;\(KnownHashes.ssha);\u{e9}\n")
        let realm = try FileRealm.make(folder)
        var changes = UserChanges()
        changes.groups = ["e\u{301}"]
        try await realm.change(try Username("ann"), changes)
        #expect(Array(try folder.text().utf8) == Array("ann;\(KnownHashes.ssha);e\u{301}\n".utf8))
    }

    @Test func `a change of a user in htpasswd and group files leaves all other bytes as they are`() async throws {
        try folder.write("# top\n  ann:\(KnownHashes.ssha):Ann:more \n\nbob:x")
        try folder.write("a:  ann bob  \n# c\nb:\tbob\t\"ann\"\tann\n", to: "groups")
        let realm = try FileRealm.make(folder, groups: "groups")
        var changes = UserChanges()
        (changes.hash, changes.groups) = (KnownHashes.lilac, ["a", "new"])
        try await realm.change(try Username("ann"), changes)
        try await realm.add(try user("carl", ["b"]), hash: KnownHashes.ssha)
        #expect(try folder.text() == "# top\n  ann:\(KnownHashes.lilac):Ann:more \n\nbob:x\ncarl:\(KnownHashes.ssha)\n")
        #expect(try folder.text("groups") == "a:  ann bob  \n# c\nb:\tbob carl\nnew: ann\n")
        try await realm.remove(try Username("ann"))
        #expect(try folder.text() == "# top\n\nbob:x\ncarl:\(KnownHashes.ssha)\n")
        #expect(try folder.text("groups") == "a: bob  \n# c\nb:\tbob carl\nnew:\n")
        #expect(realm.listing == ["!bob: a,b", "carl: b"])
    }

    @Test(arguments: ["ann;\(KnownHashes.ssha);a\n", "ann:\(KnownHashes.ssha)\n"])
    func `disabling a user writes ! before the hash, and enabling removes it`(text: String) async throws {
        try folder.write(text)
        let realm = try FileRealm.make(folder)
        let ann = try Username("ann")
        var changes = UserChanges()
        changes.isEnabled = false
        try await realm.change(ann, changes)
        try await realm.change(ann, changes)
        #expect(try folder.text() == text.replacingOccurrences(of: "{SSHA}", with: "!{SSHA}"))
        #expect(try await realm.users().map(\.isEnabled) == [false])
        #expect(try await realm.users().map(\.format) == ["sha1"])
        changes = UserChanges()
        changes.hash = KnownHashes.lilac
        try await realm.change(ann, changes)
        #expect(try await realm.users().map(\.isEnabled) == [false])
        changes.isEnabled = true
        try await realm.change(ann, changes)
        #expect(try folder.text() == text.replacingOccurrences(of: KnownHashes.ssha, with: KnownHashes.lilac))
    }

    @Test(arguments: ["!", "!!", "!*"])
    func `enabling a user without a password leaves no mark that disables the user`(mark: String) async throws {
        try folder.write("ann:\(mark)\n")
        let realm = try FileRealm.make(folder)
        var changes = UserChanges()
        changes.isEnabled = true
        try await realm.change(try Username("ann"), changes)
        #expect(try folder.text() == "ann:*\n")
        #expect(try await realm.users().map(\.isEnabled) == [true])
    }

    @Test func `users without a password and disabled users can be added`() async throws {
        try folder.write("ann:\(KnownHashes.ssha)\n")
        let realm = try FileRealm.make(folder)
        try await realm.add(try user("bob"), hash: nil)
        try await realm.add(UserRecord(try Username("carl"), isEnabled: false), hash: KnownHashes.lilac)
        try await realm.add(UserRecord(try Username("dora"), isEnabled: false), hash: nil)
        #expect(try folder.text() == "ann:\(KnownHashes.ssha)\nbob:*\ncarl:!\(KnownHashes.lilac)\ndora:!*\n")
        #expect(realm.listing == ["ann: ", "!bob: ", "!carl: ", "!dora: "])
    }

    @Test func `a hash is replaced only if it is the expected hash`() async throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n")
        let realm = try FileRealm.make(folder)
        var changes = UserChanges()
        (changes.hash, changes.replacing) = (KnownHashes.glassfish, KnownHashes.lilac)
        try await realm.change(try Username("ann"), changes)
        #expect(try folder.text() == "ann;\(KnownHashes.ssha);a\n")
        changes.replacing = KnownHashes.ssha
        try await realm.change(try Username("ann"), changes)
        #expect(try folder.text() == "ann;\(KnownHashes.glassfish);a\n")
    }

    @Test func `adding an existing user or changing an unknown user fails, and nothing is written`() async throws {
        try folder.write("ann;\(KnownHashes.ssha);a\nbob;x;y\nbob;x;y\n")
        let realm = try FileRealm.make(folder)
        let before = try folder.text()
        await #expect(throws: RealmError.userExists(try Username("ann"))) {
            try await realm.add(try user("ann"), hash: nil)
        }
        await #expect(throws: RealmError.noSuchUser(try Username("carl"))) {
            try await realm.remove(try Username("carl"))
        }
        await #expect(throws: RealmError.noSuchUser(try Username("carl"))) {
            try await realm.change(try Username("carl"), UserChanges())
        }
        await #expect(throws: RealmError.invalidOperation("")) {
            try await realm.change(try Username("bob"), UserChanges())
        }
        #expect(try folder.text() == before)
        try await realm.remove(try Username("bob"))
        #expect(try folder.text() == "ann;\(KnownHashes.ssha);a\n")
    }

    /// The arguments are a name, a group and a hash.
    ///
    /// A key file cannot store at least one of them.
    @Test(arguments: [
        ("#u", "g", KnownHashes.ssha), ("a;b", "g", KnownHashes.ssha), ("a:b", "g", KnownHashes.ssha),
        ("\u{FEFF}u", "g", KnownHashes.ssha),
        ("u", "", KnownHashes.ssha), ("u", "a,b", KnownHashes.ssha), ("u", "a;b", KnownHashes.ssha),
        ("u", " a", KnownHashes.ssha),
        ("u", "a\n", KnownHashes.ssha), ("u", "a\u{85}", KnownHashes.ssha), ("u", "g", ""), ("u", "g", "!x"),
        ("u", "g", "RESET"),
        ("u", "g", "\(KnownHashes.ssha);x"), ("u", "g", "\(KnownHashes.ssha)\nroot;\(KnownHashes.ssha);admins"),
        ("u", "g", "no hash"), ("u", "Admin,\u{301}x", KnownHashes.ssha), ("u", "Admin;\u{301}x", KnownHashes.ssha),
        ("a;\u{301}b", "g", KnownHashes.ssha), ("#\u{301}u", "g", KnownHashes.ssha),
    ])
    func `names, groups and hashes that a key file cannot store are rejected`(
        name: String,
        group: String,
        hash: String
    ) async throws {
        let before = "ann;\(KnownHashes.ssha);a\n"
        try folder.write(before)
        let realm = try FileRealm.make(folder)
        await #expect(throws: RealmError.invalidOperation("")) {
            try await realm.add(try user(name, [group]), hash: hash)
        }
        #expect(try folder.text() == before)
    }

    @Test(arguments: [
        ("#u", "g", KnownHashes.ssha), ("a:b", "g", KnownHashes.ssha), ("a b", "g", KnownHashes.ssha),
        ("\"u", "g", KnownHashes.ssha),
        ("u\\", "g", KnownHashes.ssha), ("u", "a:b", KnownHashes.ssha), ("u", "#a", KnownHashes.ssha),
        ("u", "a\\", KnownHashes.ssha),
        ("u", "g", "*"), ("u", "g", "a:b"), ("u", "a:\u{301}b", KnownHashes.ssha),
        ("u", "a\\\u{301}", KnownHashes.ssha), ("u", "#\u{301}a", KnownHashes.ssha),
        ("a:\u{301}b", "g", KnownHashes.ssha),
    ])
    func `names, groups and hashes that htpasswd and group files cannot store are rejected`(
        name: String,
        group: String,
        hash: String
    ) async throws {
        try folder.write("ann:\(KnownHashes.ssha)\n")
        try folder.write("g: ann\n", to: "groups")
        let realm = try FileRealm.make(folder, groups: "groups")
        await #expect(throws: RealmError.invalidOperation("")) {
            try await realm.add(try user(name, [group]), hash: hash)
        }
        #expect(try folder.text() == "ann:\(KnownHashes.ssha)\n")
        #expect(try folder.text("groups") == "g: ann\n")
    }

    @Test func `expiry, a forced password change, and groups without a group file are rejected`() async throws {
        try folder.write("ann:\(KnownHashes.ssha)\n")
        let realm = try FileRealm.make(folder)
        await #expect(throws: RealmError.invalidOperation("")) { try await realm.add(try user("u", ["g"]), hash: nil) }
        await #expect(throws: RealmError.invalidOperation("")) {
            try await realm.add(UserRecord(try Username("u"), expiry: 1), hash: nil)
        }
        await #expect(throws: RealmError.invalidOperation("")) {
            try await realm.add(UserRecord(try Username("u"), mustChangePassword: true), hash: nil)
        }
        var changes = UserChanges()
        changes.expiry = .some(5)
        await #expect(throws: RealmError.invalidOperation("")) { try await realm.change(try Username("ann"), changes) }
        changes.expiry = .some(nil)
        changes.mustChangePassword = false
        try await realm.change(try Username("ann"), changes)
        #expect(try folder.text() == "ann:\(KnownHashes.ssha)\n")
    }

    @Test func `a new user does not get the groups of the same name in the group file`() async throws {
        try folder.write("ann:\(KnownHashes.ssha)\n")
        try folder.write("admins: bob\nstaff: ann\n", to: "groups")
        let realm = try FileRealm.make(folder, groups: "groups")
        try await realm.add(try user("bob", ["staff"]), hash: KnownHashes.lilac)
        #expect(try folder.text("groups") == "admins:\nstaff: ann bob\n")
        #expect(realm.listing == ["ann: staff", "bob: staff"])
    }

    @Test func `a symbolic link is kept, and the file keeps its owner and mode`() async throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n", to: "real", mode: 0o640)
        let isRoot = geteuid() == 0
        if isRoot { unsafe chown(folder.file("real"), 1234, 2345) }
        try FileManager.default.createSymbolicLink(atPath: folder.file("users"), withDestinationPath: "real")
        let realm = try FileRealm.make(folder)
        try await realm.remove(try Username("ann"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("users")) == "real")
        #expect(try folder.text("real") == "")
        var status = stat()
        #expect(unsafe stat(folder.file("real"), &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o640)
        #expect(!isRoot || [status.st_uid, status.st_gid] == [1234, 2345])
        #expect(try folder.names == [".real.lock", "real", "users"])
    }

    @Test func `temporary files of killed writers are removed, and other files are not`() async throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n")
        for name in [".users.new-1", ".users.new-99999999", ".users.new-x", ".users2.new-1", "users.new-1"] {
            try folder.write("left", to: name)
        }
        try await FileRealm.make(folder).remove(try Username("ann"))
        #expect(try folder.names == [".users.lock", ".users.new-x", ".users2.new-1", "users", "users.new-1"])
    }
}
