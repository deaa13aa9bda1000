// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `gatehouse check` and `gatehouse serve` report an unusable state folder once, with its line in the configuration.
@Suite struct StateFolderTests {
    private static let realms = """
        default-realm town;
        login storeRealm { StoreLoginModule required; }
        realm town { class StoreRealm; }
        realm city { class StoreRealm; }

        """
    private static let noRealms = """
        default-realm xtech;
        login xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; }
        realm xtech { class StartWithRealm; }
        realm other { class StartWithRealm; }

        """

    @Test(
        .enabled(if: getuid() == 0, "only root can give a folder to another user"),
        arguments: [
            (1, "belongs to the user daemon; run the command as that user: runuser -u daemon -- COMMAND"),
            (48_213, "belongs to another user, with the number 48213"),
        ]
    )
    func `a state folder of another user is named with its owner`(owner: Int, message: String) async throws {
        let people = try People()
        let folder = people.folder.url.appending(path: "var")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try FileManager.default.setAttributes(
            [.ownerAccountID: owner, .posixPermissions: 0o700],
            ofItemAtPath: folder.path
        )
        let added = try await people.gatehouse("user", "add", "--no-password", "ann")
        #expect(added.status == 4 || added.status == 3, "\(added)")
        #expect(added.errors.contains("var \(message)"), "\(added)")
        // The administrator may check the configuration of a server that has another user, and sees what serve says.
        let (checked, served) = (try await people.gatehouse("check"), try await people.gatehouse("serve"))
        #expect(checked.status == 0 && served.status == 3, "\(checked) \(served)")
        let words = "the state folder cannot be used: var \(message)"
        #expect(checked.errors.contains("warning: \(words)") && served.errors.contains("error: \(words)"), "\(checked)")
    }

    @Test(
        .enabled(if: getuid() == 0, "only root can start a program as another user"),
        .enabled(if: Program.system("setpriv") != nil, "setpriv is not installed")
    )
    func `check warns about a state folder that its user may not create, and creates nothing`() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
        try folder.write(Self.noRealms + "server { state a/b; }\nprotect /a { require any; }\n", to: "realms.conf")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644],
            ofItemAtPath: folder.url.appending(path: "realms.conf").path
        )
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"]
        let checked = try await Program.run(
            try #require(Program.system("setpriv")),
            user + [Program.built("gatehouse").path, "check"],
            in: folder.url
        )
        #expect(checked.status == 0, "\(checked)")
        #expect(
            checked.errors.hasPrefix(
                "realms.conf:5:16: warning: this user cannot create the state folder a/b: .: Permission denied\n"
            ),
            "\(checked)"
        )
        let own = try await Program.run(Program.built("gatehouse"), ["check"], in: folder.url)
        #expect(own.status == 0 && own.errors == "", "\(own)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["realms.conf"])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let server: String
        let error: String
        let make: @Sendable (URL) throws -> Void

        var testDescription: String { name }
    }

    static let cases = [
        Case(
            name: "a file",
            server: "server { listen 127.0.0.1:0; state here; }",
            error: "realms.conf:5:36: error: the state folder cannot be used: here is not a folder\n"
        ) { try Data().write(to: $0.appending(path: "here")) },
        Case(
            name: "a file, by default",
            server: "server { listen 127.0.0.1:0; }",
            error: "realms.conf:5:1: error: the state folder cannot be used: var is not a folder\n"
        ) { try Data().write(to: $0.appending(path: "var")) },
        Case(
            name: "open to others",
            server: "server { listen 127.0.0.1:0; state here; }",
            error:
                "realms.conf:5:36: error: the state folder cannot be used: here: other users may write to it; chmod 700 here\n"
        ) { url in
            let here = url.appending(path: "here")
            try FileManager.default.createDirectory(at: here, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: here.path)
        },
        Case(
            name: "no database in it",
            server: "server { listen 127.0.0.1:0; state here; }",
            error: "realms.conf:5:36: error: the store here/gatehouse.sqlite cannot be used: file is not a database\n"
        ) { url in
            let here = url.appending(path: "here")
            let closed: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
            try FileManager.default.createDirectory(at: here, withIntermediateDirectories: false, attributes: closed)
            try Data("hello".utf8).write(to: here.appending(path: "gatehouse.sqlite"))
        },
    ]

    @Test(arguments: ["check", "serve"], cases)
    func `an unusable state folder is reported once, with its line in the configuration`(
        command: String,
        folder: Case
    ) async throws {
        for realms in [Self.realms, Self.noRealms] {
            let place = try TemporaryFolder()
            try place.write(realms + folder.server, to: "realms.conf")
            try folder.make(place.url)
            let finished = try await Program.run(Program.built("gatehouse"), [command], in: place.url)
            #expect(finished.status == 3, "\(finished)")
            #expect(finished.errors.hasPrefix(folder.error), "\(finished)")
            #expect(finished.errors.components(separatedBy: "error:").count == 2, "\(finished)")
        }
    }
}
