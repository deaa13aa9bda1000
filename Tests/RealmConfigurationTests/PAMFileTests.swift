// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import LoginConf
import RealmConfiguration
import RealmKit
import RealmTesting
import Testing

/// Login contexts whose modules are in a file of PAM.
@Suite struct PAMFileTests {
    private func folder(_ app: String, _ others: [String: String] = [:]) -> MemoryFolder {
        var files = ["etc/pam.d/app": app]
        for (name, text) in others { files["etc/pam.d/\(name)"] = text }
        return MemoryFolder(
            "login c { pam-file pam.d/app; }\nrealm r { class StackRealm; jaas-context c; }",
            files
        )
    }

    private func login(_ folder: MemoryFolder, _ user: String = "ann") async throws -> LoginReport {
        let request = LoginRequest(realm: "r", username: try Username(user))
        return try await folder.load().authenticator.login(request, asking: PreparedConversation.silent)
    }

    private static let account = "account required pam_permit.so\n"

    @Test(
        arguments: [
            ("pam_permit.so", "pam_permit.so", true), ("pam_permit.so", "pam_deny.so", false),
            ("pam_deny.so", "pam_permit.so", false), ("pam_permit.so", "pam_warn.so", false),
        ]
    )
    func `a login is granted if the auth lines and the account lines grant it`(
        auth: String,
        account: String,
        grants: Bool
    ) async throws {
        let report = try await login(folder("auth required \(auth)\naccount required \(account)\n"))
        #expect((report.identity != nil) == grants)
    }

    @Test func `the service of conditions is the name of the file`() async throws {
        let text = "auth required pam_succeed_if.so service = app\n\(Self.account)"
        #expect(try await login(folder(text)).identity != nil)
    }

    @Test func `account lines are evaluated only after the auth lines have granted`() async throws {
        let text = "auth sufficient pam_succeed_if.so user = ann\naccount required pam_succeed_if.so user = x\n"
        let calls = { (report: LoginReport) in report.steps.filter { $0.phase == .login }.map(\.index) }
        #expect(try await calls(login(folder(text))) == [0, 2])
        #expect(try await calls(login(folder(text), "bob")) == [0])
    }

    @Test func `included files, substacks, jumps and modules of Gatehouse form one stack`() async throws {
        let files = folder(
            """
            #%PAM-1.0
            @include common
            auth required pam_permit.so
            account substack sub
            account required pam_permit.so
            """,
            [
                "common": "auth [success=1 default=ignore] ScriptedLoginModule login=success groups=A,B\n"
                    + "auth requisite pam_deny.so\n",
                "sub": "account sufficient pam_succeed_if.so user = ann\naccount requisite pam_deny.so\n",
            ]
        )
        let report = try await login(files)
        #expect(report.identity?.groups == ["A", "B"])
        #expect(try await login(files, "bob").identity == nil)
        let context = try #require(try files.load().contexts.first)
        #expect(context.modules.map(\.name).prefix(2) == ["ScriptedLoginModule", "pam_deny"])
        #expect(context.modules[0].control == "[success=1 default=ignore]")
    }

    @Test func `lines of other stand for a type that the file does not have`() async throws {
        let files = folder("auth required pam_permit.so", ["other": "auth required pam_deny.so\n" + Self.account])
        #expect(try await login(files).identity != nil)
    }

    @Test func `a change of an argument in an included file changes the stack`() throws {
        let texts = { (user: String) in
            try folder(
                "auth include inc\n" + Self.account,
                ["inc": "auth required pam_succeed_if.so user = \(user)\n"]
            ).load().realms[0].stack.configurationTexts
        }
        #expect(try texts("ann") == texts("ann"))
        #expect(try texts("ann") != texts("bob"))
    }

    static let mistakes: [(String, String)] = [
        ("auth required pam_permit.so\n", "etc/realms.conf:1:20: error: etc/pam.d/app has no account lines"),
        ("auht required pam_permit.so\n" + account, "etc/pam.d/app:1:1: error: there is no type `auht`"),
        ("auth required pam_unix.so nullok\n" + account, "etc/pam.d/app:1:15: error: pam_unix cannot be run alone"),
        ("auth required pam_permit\n" + account, "etc/pam.d/app:1:15: error: PAM has no module pam_permit | write pam"),
        ("auth required Permit\n" + account, "etc/pam.d/app:1:15: error: Permit cannot be run alone"),
        ("auth [success=1] pam_permit.so\n" + account, "etc/pam.d/app:1:6: error: success=1 jumps behind the end"),
        ("auth include nope\n" + account, "etc/pam.d/app:1:14: error: `nope` cannot be read: No such file"),
        ("auth include app\n" + account, "etc/pam.d/app:1:14: error: the files include each other without end"),
        ("auth required pam_time.so\n" + account, "etc/pam.d/app:1:15: error: pam_time for realm r: "),
        ("auth required PermitLoginModule x=1\n" + account, "etc/pam.d/app:1:33: error: PermitLoginModule has no such"),
        (
            "auth required ScriptedLoginModule deadline=0s\n" + account,
            "etc/pam.d/app:1:44: error: deadline must be longer than 0"
        ),
        (
            "auth required ScriptedLoginModule [groups=a b] deadline=soon\n" + account,
            "etc/pam.d/app:1:57: error: deadline is a time such as 250ms, 30s, 5m, 12h or 7d, not soon"
        ),
        ("auth required pam_faillock.so preauth\n" + account, "etc/pam.d/app:1:15: warning: pam_faillock has no eff"),
    ]

    @Test(arguments: mistakes)
    func `a mistake has one message with its place in the file of PAM`(text: String, message: String) {
        let found = folder(text).diagnostics()
        #expect(found.count == 1 && found[0].hasPrefix(message), "\(found)")
    }

    @Test func `a file that is missing, or that others may write, is reported at the statement`() {
        var files = folder("auth required pam_permit.so\n@include inc\n" + Self.account, ["inc": ""])
        files.writable = ["etc/pam.d/inc"]
        #expect(files.diagnostics().first?.hasPrefix("etc/realms.conf:1:20: error: ") == true)
        files.files["etc/pam.d/app"] = nil
        #expect(
            files.diagnostics() == [
                "etc/realms.conf:1:20: error: etc/pam.d/app cannot be read: No such file or directory"
            ]
        )
    }

    static let files: [(String, String)] = [
        ("folder", "app cannot be read: it is a directory"), ("fifo", "app cannot be read: it is not a regular file"),
        ("writable", "app: every user of this machine may write to it"),
        ("included folder", "`inc` cannot be read: it is a directory"),
        ("included fifo", "`inc` cannot be read: it is not a regular file"),
        ("included writable", "inc: every user of this machine may write to it"),
        ("missing", "app cannot be read: No such file or directory"),
        ("included missing", "`inc` cannot be read: No such file or directory"),
        ("loop", "include each other without end"), ("included loop", "include each other without end"),
    ]
    /// Only root can give a file to another user.
    static let filesOfOthers = [
        ("owner", "app: belongs to another user, who could write to it"),
        ("included owner", "inc: belongs to another user, who could write to it"),
    ]

    @Test(arguments: geteuid() == 0 ? files + filesOfOthers : files)
    func `a file that is no text of this user, and a loop, have one clear message`(kind: String, message: String) throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pam-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let conf = folder.appending(path: "realms.conf").path
        let write = { (name: String, text: String) in
            try Data(text.utf8).write(to: folder.appending(path: name))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: folder.appending(path: name).path
            )
        }
        try write("realms.conf", "login c { pam-file app; }\nrealm r { class StackRealm; jaas-context c; }\n")
        let (isIncluded, what) = (kind.hasPrefix("included "), String(kind.split(separator: " ").last ?? ""))
        try write("app", (isIncluded ? "@include inc\n" : "auth required pam_permit.so\n") + Self.account)
        try write("inc", "auth required pam_permit.so\n" + (kind == "included loop" ? "auth include app\n" : ""))
        let path = folder.appending(path: isIncluded ? "inc" : "app").path
        if ["folder", "fifo", "missing"].contains(what) { try FileManager.default.removeItem(atPath: path) }
        switch what {
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        case "fifo": #expect(unsafe mkfifo(path, 0o600) == 0)
        case "writable": try FileManager.default.setAttributes([.posixPermissions: 0o646], ofItemAtPath: path)
        case "owner": #expect(unsafe chown(path, 12345, 0) == 0)
        case "loop" where !isIncluded: try write("app", "auth include app\n" + Self.account)
        default: break
        }
        var found: [Diagnostic] = []
        do throws(ConfigurationErrors) {
            found = try ConfigurationLoader(builtInRealms, files: .system, clock: ManualClock()).load(conf).warnings
            #expect(what == "owner")
        } catch {
            found = error.diagnostics.filter { $0.severity == .error }
            #expect(found.count == 1, "\(found)")
        }
        #expect(found.count { $0.message.hasSuffix(message) } == 1, "\(found)")
    }

    @Test func `a line has the deadline of its module`() async throws {
        let files = folder("auth required ScriptedLoginModule login=never deadline=5s\n" + Self.account)
        let clock = ManualClock()
        let configuration = try files.load(clock: clock)
        let request = LoginRequest(realm: "r", username: try Username("ann"))
        let task = Task { try await configuration.authenticator.login(request, asking: PreparedConversation.silent) }
        await clock.untilAsleep()
        clock.advance(by: .seconds(5))
        let report = try await task.value
        #expect(report.steps[0].fault?.log == "the module did not answer within 5.0 seconds")
    }

    @Test func `secrets of a line are in other files`() async throws {
        var files = folder("auth required VaultLoginModule token=${file:token} depth=${env:DEPTH}\n" + Self.account)
        files.files["etc/realms.conf"] = Array(
            "login c { pam-file pam.d/app; }\nrealm r { class VaultRealm; key k; jaas-context c; }".utf8
        )
        files.files["etc/token"] = Array("sesame\n".utf8)
        files.environment["DEPTH"] = "3"
        files.readableByOthers = ["etc/pam.d/app"]
        #expect(files.diagnostics().isEmpty)
        #expect(try await login(files).identity?.groups.sorted() == ["depth 3", "token 6"])
        files.readableByOthers = ["etc/token"]
        #expect(files.diagnostics().count { $0.contains("all users of this machine can read etc/token") } == 1)
        files.files["etc/pam.d/app"] = Array(("auth required VaultLoginModule token=sesame\n" + Self.account).utf8)
        files.readableByOthers = ["etc/pam.d/app"]
        let warnings = files.diagnostics()
        #expect(
            warnings.count == 1 && warnings[0].contains("all users of this machine can read this file"),
            "\(warnings)"
        )
    }

    @Test func `names of PAM are no modules of login blocks`() {
        let found = MemoryFolder(
            "login c { pam_permit required; }\nrealm r { class StackRealm; jaas-context c; }"
        ).diagnostics()
        #expect(found.first?.hasPrefix("etc/realms.conf:1:11: error: there is no login module pam_permit") == true)
    }
}
