// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import TestTools
import Testing

@testable import RealmPAM

/// Modules that break their process.
@Suite(.enabled(if: TestModule.obstacle == nil, "\(TestModule.obstacle ?? "")"))
struct BrokenModuleTests {
    private func setup(_ mode: String, _ properties: [String: PropertyValue] = [:]) throws -> PAMSetup {
        try PAMSetup("auth required MODULE \(mode)\naccount required pam_permit.so", properties)
    }

    @Test(arguments: ["crash", "abort", "exit", "exit-child", "output-endless", "close", "garbage", "leak"])
    func `a module that breaks its process makes its login unavailable`(mode: String) async throws {
        let setup = try setup(mode, ["memory": .integer(64), "helpers": .integer(2)])
        for _ in 0..<3 {
            let report = try await setup.login("ann")
            #expect(report.identity == nil)
            #expect(report.refusal?.failure == .unavailable, "\(report.texts)")
        }
        #expect(setup.log.contains { $0.hasPrefix("realm system: ") }, "the log does not name the cause")
    }

    @Test func `a prompt that arrives at the deadline leaves no time, and does not end the server`() {
        #expect(PAMDialog.timeLeft(until: 1000, at: 400) == 600)
        #expect(PAMDialog.timeLeft(until: 1000, at: 1000) == 0)
        #expect(PAMDialog.timeLeft(until: 1000, at: 1001) == 0)
        #expect(PAMDialog.timeLeft(until: 0, at: .max) == 0)
    }

    @Test(arguments: ["hang", "hang-with-child", "spin", "stop"])
    func `a module that hangs makes its login unavailable at the deadline, and its processes are killed`(
        mode: String
    ) async throws {
        let setup = try setup(mode, ["timeout": .duration(.milliseconds(700))])
        let begin = ContinuousClock.now
        let report = try await setup.login("ann")
        #expect(report.refusal?.failure == .unavailable, "\(report.texts)")
        #expect(begin.duration(to: .now) >= .milliseconds(600))
        try await Waiting.until { RunningProcesses.zombies == 0 }
    }

    @Test(arguments: [
        "account required MODULE crash", "account required MODULE code 12\npassword required MODULE crash",
    ])
    func `a crash after the password was accepted is no success`(lines: String) async throws {
        let setup = try PAMSetup("auth required pam_permit.so\n\(lines)")
        let report = try await setup.login("ann")
        #expect(report.refusal?.failure == .unavailable, "\(report.texts)")
    }

    @Test func `output of modules goes to the log, and never a line with the password`() async throws {
        let setup = try setup("output")
        #expect(try await setup.login("ann").identity != nil)
        #expect(try await setup.login("ann", "basil").refusal?.failure == .wrongCredentials)
        try await Waiting.until { setup.log.count == 4 }
        #expect(setup.log.prefix(2) == ["gatehouse-pam-helper: hello\\u{1b} out", "gatehouse-pam-helper: hello err"])
        let printing = try self.setup("print-password")
        #expect(try await printing.login("ann").identity != nil)
        try await Waiting.until { !printing.log.isEmpty }
        #expect(printing.log.allSatisfy { !$0.contains("lilac") })
    }

    @Test func `a one-time code that a module prints is not logged`() async throws {
        let setup = try setup("one-time-code")
        let code = PreparedConversation(code: Secret(utf8: "123456"))
        _ = try await setup.login("ann", PAMSetup.conversation("lilac", code))
        try await Waiting.until { !setup.log.isEmpty }
        #expect(setup.log.allSatisfy { !$0.contains("123456") }, "\(setup.log)")
    }

    @Test func `a failing look-up of groups is not an unknown user`() throws {
        let header: [UInt8] = [19, 7, 0, 0, 0, 0, 0, 0, 1]
        let noName: [UInt8] = [0, 0, 0, 0]
        let request: UInt64 = 0x0100_0000_0000_0007
        guard case .userUnavailable = try PAMReply((header + [2] + noName)[...], request: request) else {
            Issue.record("the reply is another one")
            return
        }
        guard case .user(nil) = try PAMReply((header + [0] + noName)[...], request: request) else {
            Issue.record("the reply is another one")
            return
        }
        #expect(throws: (any Error).self) { try PAMReply((header + [3] + noName)[...], request: request) }
        #expect(throws: (any Error).self) { try PAMReply((header + [0] + noName)[...], request: 7) }
    }

    @Test func `a process that a login has left cannot answer a later login`() async throws {
        let setup = try setup("late-result", ["helpers": .integer(1)])
        #expect(try await setup.login("ann").identity != nil)
        let report = try await setup.login("bob", "wrong")
        #expect(report.identity == nil)
        #expect(report.refusal?.failure == .unavailable, "\(report.texts)")
        #expect(report.texts.contains("another request"), "\(report.texts)")
    }

    @Test func `a helper that sends something after its result is killed`() async throws {
        let setup = try setup("late-bytes FOLDER/process", ["helpers": .integer(1)])
        #expect(try await setup.login("ann").identity != nil)
        let process = try #require(pid_t(setup.folder.text("process")))
        try await Waiting.until { kill(process, 0) != 0 }
        try await Waiting.until { setup.log.contains { $0.contains("without a request") } }
        #expect(try await setup.login("ann").identity != nil)
    }

    @Test(arguments: ["rename-not-utf8", "rename-long"])
    func `a name that is not UTF-8 or too long is neither repaired nor shortened`(mode: String) async throws {
        let report = try await setup(mode).login("ann")
        #expect(report.identity == nil)
        #expect(report.refusal?.failure == .unavailable, "\(report.texts)")
        #expect(report.texts.contains(mode == "rename-long" ? "too long" : "not UTF-8"), "\(report.texts)")
    }

    @Test func `signal handlers of a module do not outlive its login`() async throws {
        let setup = try PAMSetup(
            "auth required MODULE signals-seen\nauth required MODULE signals\naccount required pam_permit.so",
            ["helpers": .integer(1)]
        )
        for _ in 0..<3 {
            let report = try await setup.login("ann")
            #expect(report.identity != nil, "\(report.texts)")
        }
    }

    @Test func `a helper is replaced after its last login, and ends when it is idle`() async throws {
        let setup = try PAMSetup(
            "auth required pam_exec.so quiet FOLDER/parent.sh\naccount required pam_permit.so",
            ["helpers": .integer(1), "requests-per-helper": .integer(2), "idle-time": .duration(.milliseconds(50))]
        )
        _ = try setup.folder.script("echo $PPID >>'\(setup.folder.path)/parents'", name: "parent.sh")
        for _ in 0..<5 { #expect(try await setup.login("ann").identity != nil) }
        #expect(Set(setup.folder.text("parents").split(separator: "\n")).count >= 3)
        try await Waiting.until { RunningProcesses.zombies == 0 }
        #expect(try await setup.login("ann").identity != nil)
    }

    @Test func `a helper writes no core, and other processes can neither attach to it nor read its memory`()
        async throws
    {
        let setup = try setup("protected", geteuid() == 0 ? ["user": .string("nobody")] : [:])
        let report = try await setup.login("ann")
        #expect(report.identity != nil, "\(report.texts)")
        try await Waiting.until { setup.log.count == 2 }
        let words = setup.log.map { $0.split(separator: " ").dropFirst() }
        let process = try #require(words.first?.first.map(String.init))
        // A limit of 1 byte also keeps the kernel from piping a core to a program; 0 does not, see core(5).
        #expect(words.map { $0.dropFirst().joined(separator: " ") } == ["core 1 1", "dumpable 0"])
        let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(core?.split(separator: " ").suffix(3) == ["1", "1", "bytes"], "\(limits)")
        // The kernel gives the files of a process without dumps to root, whoever runs it.
        var status = stat()
        try #require(unsafe stat("/proc/\(process)/mem", &status) == 0)
        #expect(status.st_uid == 0)
    }

    @Test func `modules that delay failures do not hold a helper`() async throws {
        // pam_faildelay asks for an hour, which would be longer than the time limit of the login.
        let setup = try PAMSetup(
            "auth optional pam_faildelay.so delay=3600000000\nauth required MODULE check\naccount required pam_permit.so",
            ["timeout": .duration(.seconds(60))]
        )
        #expect(try await setup.login("ann", "basil").refusal?.failure == .wrongCredentials)
        #expect(try await setup.login("ann").identity != nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `1,000 crashes in a row under load grant nothing, lose nothing and leave nothing`() async throws {
        let children = RunningProcesses.children
        // The first login of a process opens descriptors of the Swift runtime, which stay open.
        #expect(try await setup("crash-some").login("ann").identity != nil)
        try await Waiting.until { RunningProcesses.children <= children }
        let descriptors = RunningProcesses.openDescriptors
        do {
            let setup = try setup("crash-some")
            let results = try await withThrowingTaskGroup(of: (Bool, LoginFailure?).self) { group in
                for number in 0..<1100 {
                    let name = number % 11 == 10 ? "ann\(number)" : "crash\(number)"
                    group.addTask {
                        let report = try await setup.login(name)
                        let isRight = report.identity.map { $0.subject.users == [name] && name.hasPrefix("ann") }
                        return (isRight ?? name.hasPrefix("crash"), report.refusal?.failure)
                    }
                }
                return try await group.reduce(into: [(Bool, LoginFailure?)]()) { $0.append($1) }
            }
            #expect(results.count == 1100)
            #expect(results.allSatisfy { $0.0 })
            #expect(results.filter { $0.1 == .unavailable }.count == 1000)
        }
        try await Waiting.until {
            RunningProcesses.children <= children && RunningProcesses.openDescriptors <= descriptors
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make a program setgid for another group"))
    func `a helper that is setgid does not load modules of a private folder`() async throws {
        let place = try ProgramFolder()
        let helper = place.file("gatehouse-pam-helper")
        try FileManager.default.copyItem(atPath: TestModule.helper, toPath: helper)
        unsafe chown(helper, 0, 42)
        unsafe chmod(helper, 0o2755)
        let lines = "auth required pam_permit.so\naccount required pam_permit.so"
        let plain = try PAMSetup(lines, ["user": .string("nobody")])
        #expect(try await plain.login("ann").identity != nil)
        let setup = try PAMSetup(lines, ["helper": .string(helper), "user": .string("nobody")])
        let report = try await setup.login("ann")
        #expect(report.refusal?.failure == .unavailable, "\(report.texts)")
        #expect(setup.log.contains { $0.contains("confdir cannot be used") }, "\(setup.log)")
        #expect(try await setup.realm.groupNames(of: try Username("root")) == ["root"])
    }

    @Test func `the helper refuses to run by itself`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: TestModule.helper)
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 64)
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(text.contains("is started by gatehouse and authcheck only"))
    }

    @Test func `a service without a file and a missing helper are errors of the configuration`() throws {
        func message(_ properties: [String: PropertyValue]) -> String {
            do {
                _ = try PAMSetup("auth required pam_permit.so", properties)
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(message([:]) == "")
        #expect(message(["service": .string("no-such-service")]).contains("PAM has no service no-such-service"))
        #expect(message(["service": .string("../gatehouse")]).contains("is the name of a PAM service"))
        #expect(message(["helper": .string("/no/such/helper")]).contains("No such file"))
        let folder = try ProgramFolder()
        let plain = try folder.write("x", to: "gatehouse-pam-helper")
        #expect(message(["helper": .string(plain)]).contains("is not executable; chmod +x"))
        #expect(message(["helper": .string(folder.path)]).contains("is not a regular file"))
        #expect(message(["user": .string("no-such-user")]).contains("no user no-such-user"))
        #expect(message(["prompt-timeout": .duration(.zero)]).contains("longer than 0"))
        #expect(message(["confdir": .string("no/such/folder")]).contains("no/such/folder: No such file"))
        try folder.write("auth required pam_permit.so\n", to: "gatehouse", mode: 0o646)
        let writable = "confdir: \(folder.path)/gatehouse: every user of this machine may write to it"
        #expect(message(["confdir": .string(folder.path)]).contains(writable))
    }

    @Test func `paths relative to the folder of this process are those of the helpers, too`() async throws {
        let folder = try ProgramFolder()
        try folder.write("auth required pam_permit.so\naccount required pam_permit.so\n", to: "gatehouse")
        let parents = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in "../" }.joined()
        func relative(_ path: String) -> PropertyValue { .string(parents + path.dropFirst()) }
        let setup = try PAMSetup(
            "auth required pam_deny.so",
            ["confdir": relative(folder.path), "helper": relative(TestModule.helper)]
        )
        let report = try await setup.login("ann")
        #expect(report.identity != nil, "\(report.texts)")
    }
}
