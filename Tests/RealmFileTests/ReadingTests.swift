// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFile
import RealmKit
import Testing

struct ReadingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `a key file written by GlassFish is read without warnings`() throws {
        try folder.write(
            """
            # List of users
            alice;{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==;users,admins
            bob;\(KnownHashes.glassfish);users,admins

            admin;{SSHA256}80e0NeB6XBWXsIPa7pT54D9JZ5DR5hGQV1kN1OAsgJePNXY6Pl0EIw==;asadmin
            anonymous;{SSHA}w9WBMj/jphXlgDWPgozFSSzUgy5Fd/ONd7nPtw==;asadmin
            new one@x.org;RESET;users
            solo;{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==

            """
        )
        let realm = try FileRealm.make(folder)
        #expect(
            realm.listing == [
                "alice: users,admins", "bob: users,admins", "admin: asadmin", "anonymous: asadmin",
                "!new one@x.org: users", "solo: ",
            ]
        )
        #expect(realm.warnings == [])
        #expect(realm.authType == "file")
        #expect(realm.jaasContext == "fileRealm")
    }

    @Test func `an htpasswd file and a group file are read without warnings`() throws {
        try folder.write(
            """
            # made by hand
              ann:\(KnownHashes.lilac):Ann of the lilacs:more
            bob:$2y$05$dJ6jUgoWXue3CjPTYjypHONVnZfT.OjQHLLeZ2QXz5ls1HB4GhDae
            carl:$apr1$lpFLuRBw$PbVX9bbUkk3MXjeYqX9Ht/
            dora:*

            """
        )
        try folder.write(
            "# groups\nstaff: ann bob\nadmins:\"bob\" 'carl'\nempty:\nstaff: carl bob nobody\n",
            to: "groups"
        )
        let realm = try FileRealm.make(folder, groups: "groups")
        #expect(realm.listing == ["ann: staff", "bob: staff,admins", "carl: admins,staff", "!dora: "])
        #expect(realm.warnings == [])
    }

    @Test(arguments: ["\n", "\r\n"])
    func `LF, CRLF, a byte order mark and a last line without a line end are accepted`(end: String) throws {
        try folder.write("\u{FEFF}ann;\(KnownHashes.ssha);a\(end)\(end)# x\(end)bob;\(KnownHashes.ssha);b")
        let realm = try FileRealm.make(folder)
        #expect(realm.listing == ["ann: a", "bob: b"])
        #expect(realm.warnings == [])
    }

    @Test func `names that differ in one byte belong to different users`() async throws {
        try folder.write(
            "\u{E9};\(KnownHashes.ssha);one\ne\u{301};\(KnownHashes.ssha);two\nE;\(KnownHashes.ssha);three\n"
        )
        let realm = try FileRealm.make(folder)
        #expect(try await realm.groupNames(of: Username("\u{E9}")) == ["one"])
        #expect(try await realm.groupNames(of: Username("e\u{301}")) == ["two"])
        await #expect(throws: RealmError.noSuchUser(try Username("e"))) {
            try await realm.groupNames(of: try Username("e"))
        }
    }

    /// The arguments are a malformed line of a key file and its warning.
    @Test(arguments: [
        ("u;;g", "users:2: the line is ignored: there is no hash; GlassFish would read the groups as the hash"),
        (";u;h;g", "users:2: the line is ignored: there are more than three fields: name;hash;groups"),
        (";u;h", "users:2: the line is ignored: there is no name before the ;"),
        ("u;h;;g", "users:2: the line is ignored: there are more than three fields: name;hash;groups"),
        ("u;pa;ss;admin", "users:2: the line is ignored: there are more than three fields: name;hash;groups"),
        ("just words", "users:2: the line is ignored: there is no ;"),
        (" u;h;g", "users:2: the line is ignored: the user name begins or ends with white space"),
        ("u ;h;g", "users:2: the line is ignored: the user name begins or ends with white space"),
        ("u;h\r;g", "users:2: the line is ignored: it contains a control character"),
        ("u;h;g\tg", "users:2: the line is ignored: it contains a control character"),
        ("u;h;g\u{85}", "users:2: the line is ignored: its groups are not UTF-8, or contain a control character"),
        ("u\u{2028};h;g", "users:2: the line is ignored: the user name contains a control character"),
        ("u;h\u{85};g", "users:2: the line is ignored: the hash is not UTF-8"),
        (
            "u=b2ec47bbc1ce4f5f2d1ee2d27fb0c6e7",
            "users:2: the line is ignored: there is no ; (gatehouse user import --format wildfly reads the lines name=hash of WildFly)"
        ),
    ])
    func `a malformed line of a key file is ignored with a warning that names the line`(
        line: String,
        warning: String
    ) throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n\(line)\nbob;\(KnownHashes.ssha);b\n")
        let realm = try FileRealm.make(folder)
        #expect(realm.listing == ["ann: a", "bob: b"])
        #expect(realm.warnings(in: folder) == [warning])
    }

    @Test(arguments: [
        (":h", "users:2: the line is ignored: there is no name before the :"),
        ("word", "users:2: the line is ignored: there is no :"),
        ("u :h", "users:2: the line is ignored: the user name begins or ends with white space"),
    ])
    func `a malformed line of an htpasswd file is ignored with a warning that names the line`(
        line: String,
        warning: String
    ) throws {
        try folder.write("ann:\(KnownHashes.ssha)\n\(line)\nbob:\(KnownHashes.ssha)\n")
        let realm = try FileRealm.make(folder)
        #expect(realm.listing == ["ann: ", "bob: "])
        #expect(realm.warnings(in: folder) == [warning])
    }

    @Test(arguments: [
        "", ":x", "!", "!!", "*", "*LK*", "*LK*$5$salt$hash", "x", "NP", "RESET", "{CRYPT}!", "{crypt}x", "{nologin}",
        "!bpl6yOQnr5KfNTvGKfdVpGFnLVtNcWbVtJdhLHzb",
    ])
    func `a user with a mark for no password cannot sign in, and there is no warning`(mark: String) async throws {
        for text in ["ann:\(KnownHashes.ssha)\nbob:\(mark)\n", "ann;\(KnownHashes.ssha)\nbob;\(mark);\n"] {
            // In a key file, a line without a hash is malformed.
            guard !text.contains(";;"), !text.contains(";:") else { continue }
            try folder.write(text)
            let realm = try FileRealm.make(folder)
            #expect(realm.listing == ["ann: ", "!bob: "])
            #expect(realm.warnings == [])
            #expect(try await realm.exportUsers().map(\.hash) == [KnownHashes.ssha, nil])
            #expect(await realm.state(of: try Username("bob")) == .gone)
        }
    }

    @Test(arguments: [
        "u: MD5:164c88b302622e17050af52c89945d44,user", "u:CRYPT:gvyHFSlR2ygWA, user", "u: OBF:1xmk1w261u9r",
    ])
    func `the warning about a line of Jetty names the command that imports it`(line: String) throws {
        try folder.write("\(line)\nann:\(KnownHashes.ssha)\n")
        let realm = try FileRealm.make(folder)
        #expect(realm.listing == ["!u: ", "ann: "])
        #expect(
            realm.warnings(in: folder) == [
                "users:1: u cannot sign in: the line is one of Jetty (user: MD5:hash,role); import the file with gatehouse "
                    + "user import --format jetty"
            ]
        )
    }

    // MARK: Names without case

    private func ignoringCase(_ text: String, groups: String? = nil) throws -> FileRealm {
        try folder.write(text)
        try folder.write("ANN:mail:ann@example.org\n", to: "attributes")
        if let groups { try folder.write(groups, to: "groups") }
        return try FileRealm.make(
            folder,
            ["case-sensitive": .boolean(false), "attribute-file": .string(folder.file("attributes"))],
            groups: groups == nil ? nil : "groups"
        )
    }

    @Test func `with case-sensitive false a name in any case is the user of the file`() async throws {
        let realm = try ignoringCase("Ann:\(KnownHashes.ssha)\nBj\u{F6}rn:x\n", groups: "staff: ann\ncrew: ANN Ann\n")
        #expect(realm.listing == ["Ann: staff,crew", "!Bj\u{F6}rn: "])
        #expect(realm.warnings == [])
        for name in ["Ann", "ann", "aNN"] {
            #expect(try await realm.groupNames(of: try Username(name)) == ["staff", "crew"])
            #expect(try await realm.attributes(of: try Username(name)).map(\.name) == ["mail"])
            #expect(await realm.state(of: try Username(name)) == realm.state(of: try Username("Ann")))
        }
        #expect(try await realm.groupNames(of: try Username("BJ\u{D6}RN")) == [])
        // The letter with a combining mark has other bytes.
        await #expect(throws: RealmError.noSuchUser(try Username("x"))) {
            try await realm.groupNames(of: try Username("Bjo\u{308}rn"))
        }
    }

    @Test func `with case-sensitive false two lines of a name refuse the user, and both are named`() async throws {
        let realm = try ignoringCase(
            "kim;\(KnownHashes.ssha);a\nann;\(KnownHashes.ssha);b\nKim;\(KnownHashes.lilac);c\n"
        )
        #expect(realm.listing == ["!kim: ", "ann: b"])
        #expect(
            realm.warnings(in: folder) == [
                "users:3: duplicate user Kim (also on line 1, as kim): the user cannot sign in"
            ]
        )
        #expect(await realm.state(of: try Username("Kim")) == .gone)
        // The name that is given is the line that is removed.
        try await realm.remove(try Username("Kim"))
        #expect(realm.listing == ["kim: a", "ann: b"])
        #expect(realm.warnings == [])
    }

    @Test func `with case-sensitive false a name in any case finds the record of the user`() async throws {
        let hash = KnownHashes.ssha
        let realm = try ignoringCase("kim;\(hash);a\nann;\(hash);b\nAnn;\(hash);c\n")
        #expect(realm.ignoresCase)
        for name in ["kim", "KIM"] {
            let record = try #require(try await realm.user(try Username(name)))
            #expect(record.name.text == "kim" && record.groups == ["a"])
        }
        #expect(try await realm.user(try Username("kin")) == nil)
        // Of several lines, the one with the name that is given is meant.
        for (given, found) in [("ann", "ann"), ("Ann", "Ann"), ("ANN", "ann")] {
            let record = try #require(try await realm.user(try Username(given)))
            #expect(record.name.text == found && !record.isEnabled && record.groups == [])
        }
        let sensitive = try FileRealm.make(folder)
        #expect(!sensitive.ignoresCase)
        #expect(try await sensitive.user(try Username("KIM")) == nil)
    }

    @Test func `with case-sensitive false a change by a name in any case changes the line of the user`() async throws {
        let realm = try ignoringCase("Ann:\(KnownHashes.ssha)\n", groups: "staff: ANN\nall: ann bob\n")
        var changes = UserChanges()
        (changes.hash, changes.groups) = (KnownHashes.lilac, ["all"])
        changes.attributes = [.set(try UserAttribute(name: "mail", values: ["a@example.org"]))]
        try await realm.change(try Username("aNn"), changes)
        #expect(try folder.text() == "Ann:\(KnownHashes.lilac)\n")
        #expect(try folder.text("groups") == "staff:\nall: ann bob\n")
        #expect(try folder.text("attributes") == "Ann:mail:a@example.org\n")
        await #expect(throws: RealmError.userExists(try Username("ann"))) {
            try await realm.add(UserRecord(try Username("ann")), hash: nil)
        }
        try await realm.remove(try Username("ANN"))
        #expect(try folder.text() == "")
        #expect(try folder.text("groups") == "staff:\nall: bob\n")
        #expect(try folder.text("attributes") == "")
    }

    @Test func `a line that ends in a backslash is ignored, and so is the next line`() throws {
        try folder.write(
            "# comment \\\nu:\(KnownHashes.ssha)\nv:\(KnownHashes.ssha)\\\nw:\(KnownHashes.ssha)\nann:\(KnownHashes.ssha)\n"
        )
        #expect(try FileRealm.make(folder).listing == ["ann: "])
    }

    @Test func `a line with a name that is not UTF-8 is ignored, and other users are not affected`() throws {
        try folder.write(
            Array("ann:\(KnownHashes.ssha)\nm".utf8) + [0xFC] + Array("ller:\(KnownHashes.ssha)\n# ".utf8) + [
                0xFC, 0x0A,
            ]
        )
        let realm = try FileRealm.make(folder)
        #expect(realm.listing == ["ann: "])
        #expect(realm.warnings(in: folder) == ["users:2: the line is ignored: the name is not UTF-8"])
    }

    @Test func `a repeated name cannot sign in, and has no groups`() async throws {
        try folder.write(
            "ann;\(KnownHashes.ssha);a\nbob;\(KnownHashes.ssha);b\nann;\(KnownHashes.lilac);admins\nann;x;y\n"
        )
        let realm = try FileRealm.make(folder)
        #expect(realm.listing == ["!ann: ", "bob: b"])
        #expect(
            realm.warnings(in: folder) == [
                "users:3: duplicate user ann (also on line 1): the user cannot sign in",
                "users:4: duplicate user ann (also on line 1): the user cannot sign in",
            ]
        )
        #expect(try await realm.groupNames(of: Username("ann")) == [])
    }

    @Test func `a user with an unreadable hash cannot sign in, and the warning does not quote the hash`() throws {
        try folder.write("ann;\(KnownHashes.ssha);a\nbob;hunter2;b\ncarl;{NOPE}abc;c\ndora;{SSHA256}AAAA;d\n")
        let realm = try FileRealm.make(folder)
        #expect(realm.listing == ["ann: a", "!bob: b", "!carl: c", "!dora: d"])
        #expect(realm.warnings(in: folder).map { $0.prefix(30) }.allSatisfy { $0.contains(" cannot sign in: ") })
        #expect(!realm.warnings.joined().contains("hunter2"))
    }

    @Test func `clear-text passwords are read if allowed, and RESET is not read as a password`() throws {
        try folder.write("ann;{CLEAR}lilac;a\nbob;RESET;b\ncarl;!{CLEAR}basil;c\n")
        #expect(try FileRealm.make(folder).listing == ["!ann: a", "!bob: b", "!carl: c"])
        let realm = try FileRealm.make(folder, ["clear-text": .boolean(true)])
        #expect(realm.listing == ["ann: a", "!bob: b", "!carl: c"])
    }

    /// The arguments are a malformed line of a group file and the reason in its warning.
    @Test(arguments: [
        ("admins ann", "there is no :"), (": ann", "there is no group before the :"),
        ("admins: \"ann", "a quote is not closed"), ("admins: 'ann'x", "a quote ends within a word"),
        ("admins: ann\u{1}", "it contains a control character"),
        ("a\u{85}: ann", "the group's name contains a control character"),
    ])
    func `a malformed line of a group file adds no group, and has a warning`(line: String, reason: String) throws {
        try folder.write("ann:\(KnownHashes.ssha)\n")
        try folder.write("staff: ann\n\(line)\n", to: "groups")
        let realm = try FileRealm.make(folder, groups: "groups")
        #expect(realm.listing == ["ann: staff"])
        #expect(realm.warnings(in: folder) == ["groups:2: the line is ignored: \(reason)"])
    }

    @Test func `at most twenty warnings are logged, and then the number of further warnings`() throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n" + String(repeating: "nonsense\n", count: 30))
        let log = RecordedLog()
        _ = try FileRealm.make(folder, log: log)
        #expect(log.entries.count == 21)
        #expect(log.entries.last?.hasSuffix("users: 10 more warnings of this kind") == true)
    }
}
