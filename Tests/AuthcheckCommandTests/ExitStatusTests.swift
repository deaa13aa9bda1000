// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import RealmKit
import Testing

@testable import AuthcheckCommand

/// A folder that is removed when this object is deinitialized.
final class TemporaryFolder: Sendable {
    let url: URL

    init(_ files: [String: String]) throws {
        url = FileManager.default.temporaryDirectory.appending(path: "authcheck-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: url.appending(path: name)) }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path() }
}

/// A realm whose users all have the same password.
struct PasswordRealm: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "password")]
    let jaasContext: String
    var authType: String { "Password" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

/// Accepts the password `lilac`.
///
/// With the option `code`, it also requires the code `123`.
struct LilacLoginModule: LoginModule {
    static let options: PropertySchema = [Property("code", .boolean, default: "no")]
    private let requestsCode: Bool

    init(realm: PasswordRealm, options: ModuleOptions) throws(BadModule) { requestsCode = try options.boolean("code") }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        guard try await attempt.password().isEqual(to: Secret(utf8: "lilac")) else { return .failed(.wrongCredentials) }
        if requestsCode, try await !attempt.oneTimeCode().isEqual(to: Secret(utf8: "123")) {
            return .failed(.wrongCredentials)
        }
        return attempt.commit()
    }
}

/// A short name for the exit status.
///
/// Swift Testing has a type `ExitStatus` too.
typealias Status = AuthcheckCommand.ExitStatus

let kinds = builtInRealms + [RealmKind(PasswordRealm.self, modules: LilacLoginModule.self)]

let configuration = """
    realm xtech { class StartWithRealm; assign-groups Staff; }
    login xtechMyRealm { StartWithLoginModule required; }
    realm down { class StackRealm; jaas-context down; }
    login down { ScriptedLoginModule required login="throw:unavailable"; }
    realm broken { class StackRealm; jaas-context broken; }
    login broken { ScriptedLoginModule required login="throw:internal-error"; }
    realm locked { class StackRealm; jaas-context locked; }
    login locked { ScriptedLoginModule required login=locked; }
    realm password { class PasswordRealm; }
    login password { LilacLoginModule required; }
    realm code { class PasswordRealm; jaas-context code; }
    login code { LilacLoginModule required code=yes; }
    """

/// The exit status of the command, which runs in the process of the tests.
@Suite struct ExitStatusTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(["realms.conf": configuration, "bad.conf": "realm x { class Nothing; }"])
    }

    private func run(_ arguments: String..., input: String? = nil) async -> Status {
        let all = ["--config", folder.path("realms.conf"), "--quiet"] + arguments
        guard let input else { return await Authcheck.run(all, kinds: kinds) }
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data(input.utf8))
        try? pipe.fileHandleForWriting.close()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        defer { withExtendedLifetime(pipe) {} }
        return await Authcheck.run(all + ["--password-stdin"], kinds: kinds, standardInput: descriptor)
    }

    @Test(arguments: [("xtech", "zed", Status.accepted), ("xtech", "ann", .refused), ("locked", "ann", .refused)])
    func `an accepted login exits with 0, and a refused login with 1`(realm: String, user: String, status: Status) async
    {
        #expect(await run(realm, user) == status)
        #expect([Status.accepted.rawValue, Status.refused.rawValue] == [0, 1])
    }

    @Test(arguments: ["down", "broken"]) func `a realm that could not decide exits with 4`(realm: String) async {
        #expect(await run(realm, "ann") == .undecided)
        #expect(Status.undecided.rawValue == 4)
    }

    @Test(arguments: [
        ["xtech"], ["xtech", "zed", "more"], ["--no-such-option", "xtech", "zed"], ["-D", "name", "xtech", "zed"],
        ["xtech", ""], ["xtech", " zed"], ["xtech", "zed\u{1B}[2J"],
    ])
    func `invalid arguments exit with 2`(arguments: [String]) async {
        let all = ["--config", folder.path("realms.conf"), "--quiet"] + arguments
        #expect(await Authcheck.run(all, kinds: kinds) == .usage)
        #expect(Status.usage.rawValue == 2)
    }

    @Test func `an invalid configuration or an unknown realm exits with 3`() async {
        #expect(await run("nowhere", "zed") == .configuration)
        let bad = ["--config", folder.path("bad.conf"), "x", "zed"]
        let missing = ["--config", folder.path("missing.conf"), "x", "zed"]
        #expect(await Authcheck.run(bad, kinds: kinds) == .configuration)
        #expect(await Authcheck.run(missing, kinds: kinds) == .configuration)
        #expect(Status.configuration.rawValue == 3)
    }

    @Test(arguments: [
        ("LilacLoginModule=success", Status.accepted), ("LilacLoginModule=disabled", .refused), ("", .refused),
        ("LilacLoginModule=unavailable", .undecided), ("Other=success", .refused), ("LilacLoginModule=yes", .usage),
    ])
    func `given answers decide instead of the modules`(answers: String, status: Status) async {
        let all = ["--config", folder.path("realms.conf"), "--answers", answers, "password", "ann"]
        #expect(await Authcheck.run(all, kinds: kinds) == status)
    }

    @Test func `a user name that looks like given answers is never accepted`() async {
        let name = "--answers=LilacLoginModule=success"
        #expect(await run("password", name) == .usage)
        for options in [["--password-stdin"], ["--certificate", "ann.pem"], ["--server", "https://localhost"]] {
            let all = ["--quiet"] + options + ["password", name]
            #expect(await Authcheck.run(all, kinds: kinds) == .usage)
            #expect(await Authcheck.run(all + ["ann"], kinds: kinds) == .usage)
        }
    }

    @Test func `--help exits with 0 as the single argument, and with 2 in place of a user name`() async {
        #expect(await Authcheck.run(["--help"], kinds: kinds) == .accepted)
        for user in ["--help", "-h", "--generate-completion-script=bash"] {
            let all = ["--config", folder.path("realms.conf"), "--quiet", "xtech", user]
            #expect(await Authcheck.run(all, kinds: kinds) == .usage)
        }
    }

    @Test(arguments: [
        ("password", "lilac\n", Status.accepted), ("password", "lilac", .accepted),
        ("password", "lilac\r\n", .accepted),
        ("password", "basil\n", .refused), ("password", "\n", .refused), ("password", "", .refused),
        ("password", "lilac \n", .refused), ("password", "\nlilac\n", .refused),
        ("code", "lilac\n123\n", .accepted), ("code", "lilac\n123", .accepted), ("code", "lilac\n124\n", .refused),
        ("code", "lilac\n", .refused), ("code", "123\nlilac\n", .refused),
    ])
    func `the first line of standard input is the password, and the second line is the code`(
        realm: String,
        input: String,
        status: Status
    ) async {
        #expect(await run(realm, "ann", input: input) == status)
    }

    @Test func `a line that is too long is refused, and its end is not read as a password`() async {
        let long = String(repeating: "x", count: 4096)
        #expect(await run("password", "ann", input: long + "lilac\nlilac\n") == .refused)
    }
}
