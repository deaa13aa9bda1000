// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
            error: "realms.conf:5:36: error: the state folder cannot be used: here: other users may write to it\n"
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
