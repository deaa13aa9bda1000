// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import TestTools
import Testing

@testable import RealmExec

/// The programs of Examples/Helpers, with the real shell and the real Python.
struct ExampleHelperTests {
    private let folder: ProgramFolder

    init() throws { folder = try ProgramFolder() }

    private static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/Helpers")

    /// The examples are copied, because a checkout may be writable by a group.
    private func setup(_ name: String, users: String, mode: String) throws -> ExecSetup {
        let text = try String(contentsOf: Self.examples.appending(path: name), encoding: .utf8)
        return try ExecSetup(
            try folder.write(text, to: name, mode: 0o755),
            ["arguments": .list([try folder.write(users, to: "users")]), "mode": .string(mode)]
        )
    }

    private static let accepted: [LoginModuleConformance.Credential] = [
        .init("ann", password: "lilac"), .init("bob", password: "basil"),
    ]
    private static let refused: [LoginModuleConformance.Credential] = [
        .init("ann", password: "basil"), .init("ann", password: ""), .init("ann", password: "lilac\n"),
        .init("ann", password: "lilac\nx"), .init("ann", password: "lilac "), .init("ann", password: "\\lilac"),
        .init("zed", password: "lilac"), .init("*", password: "lilac"), .init("an?", password: "lilac"),
        .init("ann:x", password: "lilac"), .init("ann:$6$salt$", password: ""), .init("-ann", password: "lilac"),
        .init("--", password: "lilac"), .init("-s", password: "lilac"), .init("$(id)", password: "lilac"),
    ]

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "needs openssl"),
        arguments: ["once", "lines"]
    )
    func `the example in shell passes the conformance tests`(mode: String) async throws {
        // openssl passwd -6 -salt salt lilac, -salt pepper basil, and -salt salt with 256 times the letter a
        let users = """
            ann:$6$salt$mplLuFcoRRu8zIYyTdP0cz64ixmu00oKdbfUZJB7Du4WL/Xxyh1zzLophi0YHVR271FyAXjfKT7WZrS4xLTAp/:staff,admins
            bob:$6$pepper$MAZoNS0w3JETuUIp/lQ0G8.7V8vodpxbip2pRQUFo.BADvRyF/gHXeLn0dbaEQeo.G1HeuWkHhi8YiCHskpOw.:staff
            eve:$6$salt$h8DBsosty3mo26PE2LCyuWqxFel7YjaFMcFk6LQV7wRA9xJygMAD1hu3J2elNdM4Rb/qfwPXM3HBKnnreT1qX1:

            """
        let setup = try setup("users-file.sh", users: users, mode: mode)
        let conformance = LoginModuleConformance(
            try setup.module,
            accepts: Self.accepted,
            refuses: Self.refused,
            timeLimit: .seconds(120)
        )
        #expect(await conformance.violations() == [])
        #expect(try await setup.login("ann").identity?.groups == ["staff", "admins"])
        // openssl reads 256 bytes: a longer password must not be accepted by its beginning.
        let longest = String(repeating: "a", count: 256)
        #expect(try await setup.login("eve", longest).identity != nil)
        for end in ["a", "b", "é"] {
            #expect(try await setup.login("eve", longest + end).refusal?.failure == .wrongCredentials)
        }
        #expect(setup.log.entries.filter { !$0.contains("runs as root") } == [])
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "needs openssl"),
        arguments: ["once", "lines"]
    )
    func `what fails in the example in shell is an outage, and a group is no pattern`(mode: String) async throws {
        // openssl passwd -6 -salt salt lilac. The last line has no line break.
        let hash =
            "$6$salt$mplLuFcoRRu8zIYyTdP0cz64ixmu00oKdbfUZJB7Du4WL/Xxyh1zzLophi0YHVR271FyAXjfKT7WZrS4xLTAp/"
        let setup = try setup("users-file.sh", users: "ann:\(hash):*,a\\tb", mode: mode)
        #expect(try await setup.login("ann").identity?.groups == ["*", "a\\tb"])
        let users = folder.path + "/users"
        try FileManager.default.removeItem(atPath: users)
        #expect(try await setup.login("ann").refusal?.failure == .unavailable)
        // Opening a folder succeeds, and reading it fails.
        try FileManager.default.createDirectory(atPath: users, withIntermediateDirectories: false)
        #expect(try await setup.login("ann").refusal?.failure == .unavailable)
        // A program that is missing or fails.
        for program in mode == "lines" ? ["openssl", "base64"] : ["openssl", "tr"] {
            let text = try String(contentsOf: Self.examples.appending(path: "users-file.sh"), encoding: .utf8)
                .replacing(program == "openssl" ? "openssl passwd" : "\(program) ", with: "false ")
            let broken = try ExecSetup(
                try folder.write(text, to: "broken-\(program).sh", mode: 0o755),
                [
                    "arguments": .list([try folder.write("ann:\(hash):staff\n", to: "users-\(program)")]),
                    "mode": .string(mode),
                ]
            )
            for name in ["ann", "zed"] {
                #expect(try await broken.login(name).refusal?.failure == .unavailable, "\(program)")
            }
        }
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"),
        arguments: ["once", "lines"]
    )
    func `the example in Python passes the conformance tests`(mode: String) async throws {
        let users = """
            {"ann": {"salt": "00ff", "pbkdf2": "99d108edb0c10410d4121a061867571eb64498ca9e77c59bb5ec90c2851cf7d9", "groups": ["staff", "admins"]},
             "bob": {"salt": "0aa0", "pbkdf2": "ad371f9b452eec501309f40108aac0750857294c2a04e4814257df612e008006", "groups": []},
             "off": {"salt": "0aa0", "pbkdf2": "ad371f9b452eec501309f40108aac0750857294c2a04e4814257df612e008006", "groups": [], "locked": true}}
            """
        let setup = try setup("users_file.py", users: users, mode: mode)
        let conformance = LoginModuleConformance(
            try setup.module,
            accepts: Self.accepted,
            refuses: Self.refused,
            timeLimit: .seconds(120)
        )
        #expect(await conformance.violations() == [])
        #expect(try await setup.login("ann").identity?.groups == ["staff", "admins"])
        #expect(try await setup.login("off", "basil").refusal?.failure == .locked)
        try folder.write("{", to: "users")
        let report = try await setup.login("ann")
        #expect(report.refusal?.failure == .unavailable)
        #expect(report.faultTexts.contains("JSONDecodeError"), "\(report.faultTexts)")
        let cause = "realm helpers: the helper program: \(folder.path)/users: JSONDecodeError"
        #expect(setup.log.entries.filter { !$0.contains("runs as root") } == [cause])
    }
}
