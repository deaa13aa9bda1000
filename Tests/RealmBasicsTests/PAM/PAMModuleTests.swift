// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import RealmKit
import RealmTesting
import Testing

@testable import RealmBasics

/// Tests the modules with names of PAM, with the published cases of Linux-PAM where there are some.
@Suite struct PAMModuleTests {
    private struct GroupRealm: Realm {
        static let properties: PropertySchema = []
        let jaasContext = "groups"
        let authType = "groups"

        init() {}
        init(_ properties: RealmProperties) throws(BadRealm) {}

        func groupNames(of user: Username) async throws(RealmError) -> [String] {
            switch user.text {
            case "ann": return ["staff", "admins"]
            case "down": throw .unavailable("down")
            default: throw .noSuchUser(user)
            }
        }
    }

    private func module(_ name: String, _ arguments: [String], type: String = "auth") throws -> any LoginModule {
        let kind = try #require(PAMModules.kinds.first { $0.names == [name] })
        var values = ["arguments": PropertyValue.list(arguments)]
        values["type"] = .string(type)
        values["service"] = .string("https")
        let options = try ModuleOptions(values, schema: kind.options, realmName: "r")
        return try kind.makeModule(realm: GroupRealm(), options: options)
    }

    private func outcome(
        _ module: any LoginModule,
        user: String = "ann",
        peer: String? = "192.0.2.7",
        service: String = "https"
    ) async throws -> Outcome {
        let entry = LoginStack.Entry(module, .required, name: "module")
        let stack = LoginStack(name: "pam", [entry], clock: ManualClock())
        let request = LoginRequest(realm: "r", username: try Username(user), service: service, peer: peer)
        let report = await stack.login(request, asking: PreparedConversation.silent)
        return try #require(report.steps.first).outcome
    }

    private func outcome(
        _ name: String,
        _ arguments: String...,
        user: String = "ann",
        type: String = "auth"
    )
        async throws -> Outcome
    {
        try await outcome(try module(name, arguments, type: type), user: user)
    }

    /// A file with a text.
    private struct File {
        let path = FileManager.default.temporaryDirectory.appending(path: "pam-\(UUID().uuidString)").path

        init(_ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try setMode(0o600)
        }

        func remove() { try? FileManager.default.removeItem(atPath: path) }

        func setMode(_ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
    }

    private static let denied = Outcome.failure(.wrongCredentials)

    @Test func `modules without conditions have the codes of Linux-PAM`() async throws {
        for type in ["auth", "account"] {
            #expect(try await outcome("pam_permit", type: type) == .success)
            #expect(try await outcome("pam_deny", type: type) == Self.denied)
            #expect(try await outcome("pam_warn", type: type) == .ignored)
        }
        #expect(try await outcome("pam_faildelay", "delay=3000000") == .ignored)
    }

    @Test func `pam_faillock has the codes of an account that is not locked`() async throws {
        #expect(try await outcome("pam_faillock", "preauth", "silent", "deny=3") == .success)
        #expect(try await outcome("pam_faillock", "authfail") == .ignored)
        #expect(try await outcome("pam_faillock", "authsucc") == .success)
        #expect(try await outcome("pam_faillock", type: "account") == .success)
        #expect(throws: BadModule.self) { try module("pam_faillock", ["deny=3"]) }
    }

    @Test func `pam_nologin refuses all users while the file exists`() async throws {
        let file = try File("down for maintenance")
        defer { file.remove() }
        let path = file.path
        #expect(try await outcome("pam_nologin", "file=\(path)") == Self.denied)
        #expect(try await outcome("pam_nologin", "file=\(path).no") == .ignored)
        #expect(try await outcome("pam_nologin", "file=\(path).no", "successok") == .success)
        #expect(try await outcome("pam_nologin", "file=\(path)/no") == .ignored)
        #expect(throws: BadModule.self) { try module("pam_nologin", ["fil=/x"]) }
    }

    @Test(
        arguments: [
            ("user = ann", true), ("user = Ann", false), ("user != bob", true), ("user != ann", false),
            ("user in bob:ann", true), ("user in bob:an", false), ("user notin bob:ann", false), ("user =~ a*", true),
            ("user !~ a*", false), ("user =~ b*", false), ("user ingroup staff", true), ("user ingroup x:admins", true),
            ("user ingroup sta", false), ("user notingroup staff", false), ("user notingroup x", true),
            ("rhost = 192.0.2.7", true), ("rhost =~ 192.0.2.*", true), ("service in ssh:https", true),
            ("quiet user = ann service = https", true), ("user = ann service = ssh", false),
        ]
    )
    func `pam_succeed_if holds if all conditions hold`(_ words: String, holds: Bool) async throws {
        let made = try module("pam_succeed_if", words.split(separator: " ").map(String.init))
        #expect(try await outcome(made) == (holds ? .success : Self.denied))
    }

    @Test func `pam_succeed_if counts unknown users to no group, and decides nothing without groups`() async throws {
        #expect(try await outcome("pam_succeed_if", "user", "ingroup", "staff", user: "eve") == Self.denied)
        let fault = Outcome.failure(.internalError)
        #expect(try await outcome("pam_succeed_if", "user", "notingroup", "staff", user: "down") == fault)
    }

    @Test(
        arguments: [
            "", "quiet", "user = ann or", "uid >= 1000", "shell = /bin/sh", "tty = tty1", "user innetgr x",
            "user eq ann", "use_uid user ingroup staff",
            "rhost ingroup staff", "user ~ ann",
        ]
    )
    func `conditions that cannot be decided here do not load`(_ words: String) {
        #expect(throws: BadModule.self) { try module("pam_succeed_if", words.split(separator: " ").map(String.init)) }
    }

    @Test func `pam_listfile compares whole lines`() async throws {
        let file = try File("bob\nann\r\n\nadmins\n192.0.2.7\n")
        defer { file.remove() }
        let path = file.path
        let list = { (item: String, sense: String) -> any LoginModule in
            try module("pam_listfile", ["item=\(item)", "sense=\(sense)", "file=\(path)", "onerr=fail"])
        }
        #expect(try await outcome(list("user", "allow")) == .success)
        #expect(try await outcome(list("user", "deny")) == Self.denied)
        #expect(try await outcome(list("user", "allow"), user: "an") == Self.denied)
        #expect(try await outcome(list("user", "deny"), user: "an") == .success)
        #expect(try await outcome(list("group", "allow")) == .success)
        #expect(try await outcome(list("group", "allow"), user: "bob") == Self.denied)
        #expect(try await outcome(list("rhost", "allow")) == .success)
        #expect(try await outcome(list("rhost", "deny"), peer: nil) == .failure(.internalError))
        try file.setMode(0o666)
        #expect(try await outcome(list("user", "allow")) == .failure(.internalError))
        let missing = ["item=user", "sense=deny", "file=/nonexistent/x"]
        #expect(try await outcome(module("pam_listfile", missing + ["onerr=fail"])) == .failure(.internalError))
        #expect(try await outcome(module("pam_listfile", missing + ["onerr=succeed"])) == .success)
    }

    @Test func `a file that others may write, that is gone or that became a FIFO refuses the login`() async throws {
        let file = try File("*;*;x;!Al0000-2400\n")
        defer { file.remove() }
        let list = ["item=user", "sense=deny", "onerr=fail", "file=\(file.path)"]
        let modules = [
            try module("pam_listfile", list), try module("pam_time", ["conffile=\(file.path)"], type: "account"),
        ]
        for module in modules { #expect(try await outcome(module) == .success) }
        try file.setMode(0o646)
        for module in modules { #expect(try await outcome(module) == .failure(.internalError)) }
        file.remove()
        for module in modules { #expect(try await outcome(module) == .failure(.internalError)) }
        #expect(unsafe mkfifo(file.path, 0o600) == 0)
        for module in modules { #expect(try await outcome(module) == .failure(.internalError)) }
    }

    @Test(
        arguments: [
            "sense=deny file=/x onerr=fail", "item=user file=/x onerr=fail", "item=user sense=deny onerr=fail",
            "item=user sense=deny file=/x", "item=tty sense=deny file=/x onerr=fail",
            "item=user sense=no file=/x onerr=fail", "item=user sense=deny file=x onerr=fail",
            "item=user sense=deny file=/x onerr=fail apply=@x", "item=user sense=deny file=/x onerr=fail unknown",
        ]
    )
    func `pam_listfile does not load with a malformed option`(_ words: String) {
        #expect(throws: BadModule.self) { try module("pam_listfile", words.split(separator: " ").map(String.init)) }
    }

    /// The rules and users of `tst-pam_time1` of Linux-PAM.
    @Test func `pam_time refuses exactly the users of a line at a time that it does not contain`() async throws {
        let file = try File("# times\n* ; * ; you|me ; !Al0000-2400\n*;*;x|y;!Al0000-2400\n")
        defer { file.remove() }
        let path = file.path
        let made = try module("pam_time", ["conffile=\(path)"], type: "account")
        for user in ["xy", "yx"] { #expect(try await outcome(made, user: user) == .success) }
        for user in ["you", "me", "x", "y"] {
            #expect(try await outcome(made, user: user) == .failure(.permissionDenied))
        }
        #expect(throws: BadModule.self) { try module("pam_time", ["conffile=\(path)"]) }
        #expect(throws: BadModule.self) { try module("pam_time", ["conffile=\(path).no"], type: "account") }
        #expect(throws: BadModule.self) { try module("pam_time", ["conffile=time.conf"], type: "account") }
    }

    @Test func `a time.conf with the line ends of DOS loses no line, but does not load`() async throws {
        let error = #expect(throws: PAMTimeRules.BadLine.self) { try PAMTimeRules("# x\r\n*;*;ann;!Al0000-2400\r\n") }
        #expect(error?.line == 1)
    }

    /// A module of a realm that spells names in its own way, as directories do.
    private struct NamingModule: LoginModule {
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) { self.init() }

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            do throws(BadUsername) {
                return attempt.commit(as: try Username(attempt.username.text.lowercased()))
            } catch {
                throw .internalError("\(error)")
            }
        }
    }

    @Test(arguments: [
        ("pam_succeed_if", ["user", "!=", "ann"]), ("pam_succeed_if", ["user", "notingroup", "staff"]),
        ("pam_listfile", ["item=user", "sense=deny", "onerr=fail"]), ("pam_time", []),
    ])
    func `conditions about the user are about the name that the realm has given`(
        name: String,
        arguments: [String]
    ) async throws {
        let file = try File(name == "pam_time" ? "*;*;ann;!Al0000-2400\n" : "ann\n")
        defer { file.remove() }
        let path =
            switch name {
            case "pam_time": ["conffile=\(file.path)"]
            case "pam_listfile": ["file=\(file.path)"]
            default: [String]()
            }
        let condition = try module(name, arguments + path, type: "account")
        let entries = [LoginStack.Entry(NamingModule(), .required), .init(condition, .required, name: name)]
        let stack = LoginStack(name: "pam", entries, clock: ManualClock())
        for (user, grants) in [("ANN", false), ("EVE", true)] {
            let request = LoginRequest(realm: "r", username: try Username(user))
            let report = await stack.login(request, asking: PreparedConversation.silent)
            #expect((report.identity != nil) == grants, "\(user)")
        }
    }

    @Test(
        arguments: [
            ("*;*;ann;Wk0800-1700", 1, 759, false), ("*;*;ann;Wk0800-1700", 1, 800, true),
            ("*;*;ann;Wk0800-1700", 1, 1700, false), ("*;*;ann;Wk0800-1700", 6, 900, false),
            ("*;*;a*;Fr2200-0600", 5, 2300, true), ("*;*;a*;Fr2200-0600", 6, 500, true),
            ("*;*;a*;Fr2200-0600", 0, 500, false), ("*;*;a*;Fr2200-0600", 5, 500, false),
            ("*;*;ann;AlSu0000-2400", 0, 900, false), ("*;*;ann;AlSu0000-2400", 1, 900, true),
            ("*;*;!ann;!Al0000-2400", 1, 900, true), ("ssh;*;*;!Al0000-2400", 1, 900, true),
            ("ssh|https;*;*;!Al0000-2400", 1, 900, false), ("*;*;a*&!ann;!Al0000-2400", 1, 900, true),
            ("*;*;ann;Mo0800-0900|Mo1000-1100", 1, 1030, true),
            // The operator and the mark after it are one character.
            ("*;*;!\u{308}root;!Al0000-2400", 1, 900, false),
        ]
    )
    func `times of pam_time are of the days and minutes`(_ line: String, day: Int, time: Int, allows: Bool) throws {
        let rules = try PAMTimeRules(line)
        #expect(rules.allow(service: "https", user: "ann", at: .init(day: day, time: time)) == allows)
    }

    /// A file system that stalls holds a bounded number of logins.
    @Test func `the logins that wait for a file are bounded, and one too many is refused`() async throws {
        let reader = ModuleFileReader("pam_listfile")
        let gate = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<ModuleFileReader.maximumWaiting {
                group.addTask {
                    let answer = try? await reader.run {
                        gate.wait()
                        return true
                    }
                    return answer ?? false
                }
            }
            // Until all wait, another one would have to wait, too.
            while reader.waitingCount < ModuleFileReader.maximumWaiting { await Task.yield() }
            await #expect(throws: LoginFault.self) { try await reader.run { true } }
            for _ in 0..<ModuleFileReader.maximumWaiting { gate.signal() }
            for await isDone in group { #expect(isDone) }
        }
        #expect(try await reader.run { true })
    }

    @Test func `an argument that a module does not know is not shown`() {
        let error = #expect(throws: BadModule.self) { try module("pam_nologin", ["password=hunter2"]) }
        #expect(error?.message == "knows only the arguments file=, successok here")
    }

    @Test(arguments: [
        "*;*;ann", "*;tty1;ann;Al0000-2400", "*;*;@net;Al0000-2400", "*;*;a*b*;Al0000-2400", "*;*;ann;0800-1700",
        "*;*;ann;Al0860-1700", "*;*;;Al0000-2400", "*;*;ann;Xx0000-2400", "*;*;ann;Al0000",
    ])
    func `a line of pam_time that cannot be decided here is an error with its number`(_ line: String) {
        let error = #expect(throws: PAMTimeRules.BadLine.self) { try PAMTimeRules("\n# x\n\(line)\n") }
        #expect(error?.line == 3)
    }
}
