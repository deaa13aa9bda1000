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
        ("auth required PermitLoginModule x=1\n" + account, "etc/pam.d/app:1:15: error: PermitLoginModule has no op"),
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

    @Test(
        arguments: [
            ("folder", "it is a directory"), ("fifo", "it is not a regular file"),
            ("writable", "every user of this machine may write to it"), ("loop", "include each other without end"),
        ]
    )
    func `a folder, a FIFO, a file that anybody may write, and a loop have one clear message`(
        kind: String,
        message: String
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pam-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, conf) = (folder.appending(path: "app").path, folder.appending(path: "realms.conf").path)
        let text = "login c { pam-file app; }\nrealm r { class StackRealm; jaas-context c; }\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: conf))
        switch kind {
        case "folder": try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
        case "fifo": #expect(unsafe mkfifo(file, 0o600) == 0)
        default:
            let included = kind == "loop" ? "auth include app\n" : ""
            try Data((included + "auth required pam_permit.so\n" + Self.account).utf8)
                .write(to: URL(fileURLWithPath: file))
            let mode = kind == "writable" ? 0o646 : 0o600
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        }
        let loader = ConfigurationLoader(builtInRealms, files: .system, clock: ManualClock())
        let errors = #expect(throws: ConfigurationErrors.self) { try loader.load(conf) }
        let found = errors?.diagnostics.filter { $0.severity == .error }.map(\.message) ?? []
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    @Test func `names of PAM are no modules of login blocks`() {
        let found = MemoryFolder(
            "login c { pam_permit required; }\nrealm r { class StackRealm; jaas-context c; }"
        ).diagnostics()
        #expect(found.first?.hasPrefix("etc/realms.conf:1:11: error: there is no login module pam_permit") == true)
    }
}
