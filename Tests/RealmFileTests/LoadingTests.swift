// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFile
import RealmKit
import RealmTesting
import Testing

struct LoadingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `the realm passes the conformance tests`() async throws {
        let path = try folder.write("ann;\(KnownHashes.ssha);users,admins\nbob;\(KnownHashes.lilac);users\n")
        let conformance = RealmConformance(
            FileRealm.self,
            properties: ["file": [path]],
            members: ["ann": ["users", "admins"], "bob": ["users"]],
            unknownUsers: ["carl", "Ann", "users"]
        )
        #expect(await conformance.violations() == [])
        #expect(FileRealm.classNames == ["FileRealm", "com.sun.enterprise.security.auth.realm.file.FileRealm"])
    }

    private func fault(
        _ properties: [String: PropertyValue] = [:],
        groups: String? = nil
    ) -> String {
        do {
            _ = try FileRealm.make(folder, properties, groups: groups)
            return "none"
        } catch {
            let hint = (error as? BadRealm)?.hint.map { " | \($0)" } ?? ""
            return "\(error)\(hint)".replacingOccurrences(of: folder.path + "/", with: "")
        }
    }

    @Test func `the error for a missing file names a command that creates it`() throws {
        #expect(
            fault() == "file: users: No such file or directory | create an empty one with: (umask 077; touch users)"
        )
        try folder.write("ann:\(KnownHashes.ssha)\n")
        #expect(
            fault(groups: "groups")
                == "group-file: groups: No such file or directory | create an empty one with: (umask 027; touch groups)"
        )
    }

    @Test func `UTF-16 files, files with NUL bytes and folders are rejected`() throws {
        try folder.write([0xFF, 0xFE, 0x61, 0x00])
        #expect(fault() == "file: users: it is UTF-16; it must be UTF-8")
        try folder.write([0x61, 0x0A, 0x00])
        #expect(fault() == "file: users:2: it is not a text file: it contains a NUL byte")
        try FileManager.default.removeItem(atPath: folder.file("users"))
        try FileManager.default.createDirectory(atPath: folder.file("users"), withIntermediateDirectories: true)
        #expect(fault() == "file: users: it is not a regular file")
    }

    @Test func `a named pipe is rejected without waiting for a writer`() {
        unsafe mkfifo(folder.file("users"), 0o600)
        #expect(fault() == "file: users: it is not a regular file")
    }

    @Test func `a file longer than 64 MiB is rejected`() throws {
        try folder.write("")
        unsafe truncate(folder.file("users"), 65 << 20)
        #expect(fault() == "file: users: it is longer than 64 MiB")
    }

    @Test func `a file that mixes both formats is rejected unless format is set`() throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n# x:y\nbob:\(KnownHashes.ssha)\n")
        #expect(
            fault() == """
                file: users:3: this line is in the format of an htpasswd file (user:hash), line 1 in the format of a GlassFish key file \
                (user;hash;groups); set format to glassfish or htpasswd to ignore lines of the other format
                """
        )
        #expect(try FileRealm.make(folder, ["format": .string("glassfish")]).listing == ["ann: a"])
        #expect(try FileRealm.make(folder, ["format": .string("htpasswd")]).listing == ["bob: "])
    }

    @Test func `a group file beside a key file is rejected`() throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n")
        try folder.write("", to: "groups")
        #expect(fault(groups: "groups").hasPrefix("file: users: it is a GlassFish key file, which contains the groups"))
        #expect(fault(["format": .string("glassfish")], groups: "groups").hasPrefix("group-file: is for htpasswd"))
    }

    @Test func `an empty file has no users and a warning, and becomes a key file`() async throws {
        try folder.write("")
        let realm = try FileRealm.make(folder)
        #expect(realm.listing == [])
        #expect(realm.warnings(in: folder) == ["users: it is empty, so no user can sign in"])
        try await realm.add(UserRecord(try Username("ann"), groups: ["a"]), hash: KnownHashes.ssha)
        #expect(try folder.text() == "ann;\(KnownHashes.ssha);a\n")
    }

    @Test func `an empty file beside a group file becomes an htpasswd file`() async throws {
        try folder.write("")
        try folder.write("", to: "groups")
        let realm = try FileRealm.make(folder, groups: "groups")
        try await realm.add(UserRecord(try Username("ann"), groups: ["a"]), hash: KnownHashes.ssha)
        #expect(try folder.text() == "ann:\(KnownHashes.ssha)\n")
        #expect(try folder.text("groups") == "a: ann\n")
    }

    @Test func `a world-writable user or group file is rejected`() throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n", mode: 0o602)
        #expect(fault() == "file: users: every user of this machine may write to it; chmod o-w users")
        try folder.write("ann:\(KnownHashes.ssha)\n")
        try folder.write("", to: "groups", mode: 0o606)
        #expect(fault(groups: "groups").contains("groups: every user of this machine may write to it"))
    }

    @Test func `a file in a world-writable folder is rejected unless the folder is sticky`() throws {
        try folder.write("ann;\(KnownHashes.ssha);a\n")
        unsafe chmod(folder.path, 0o703)
        #expect(fault().hasPrefix("file: users: every user of this machine may replace it"))
        unsafe chmod(folder.path, 0o1703)
        #expect(fault() == "none")
    }

    @Test func `a file of 20,000 users is read`() async throws {
        let count = 20_000
        var text = ""
        for number in 0..<count { text += "user\(number);\(KnownHashes.ssha);users,g\(number % 100)\n" }
        try folder.write(text)
        let realm = try FileRealm.make(folder)
        #expect(try await realm.users().count == count)
        #expect(try await realm.groupNames(of: Username("user19999")) == ["users", "g99"])
    }
}
