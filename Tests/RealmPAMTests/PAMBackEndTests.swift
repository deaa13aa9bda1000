// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmPAM
import RealmTesting
import TestTools
import Testing

/// The realm, its helpers and a service under the conformance test for back ends.
@Suite(.enabled(if: TestModule.obstacle == nil, "\(TestModule.obstacle ?? "")"))
struct PAMBackEndTests {
    @Test func `the realm keeps the contract while modules crash, exit, hang and answer nonsense`() async throws {
        let folder = try ProgramFolder()
        try FileManager.default.createDirectory(atPath: folder.file("open"), withIntermediateDirectories: true)
        let (daemon, bin) = (RealmBackEndConformance.randomPassword(), RealmBackEndConformance.randomPassword())
        let module = try TestModule.compile(into: folder)
        let helper = folder.file("gatehouse-pam-helper")
        try FileManager.default.copyItem(atPath: TestModule.helper, toPath: helper)
        try folder.write(
            """
            auth required \(module) kit \(folder.path) daemon=\(daemon) bin=\(bin) sys=lilac
            account required \(module) expired sys
            password required \(module) \(folder.file("new-password"))

            """,
            to: "gatehouse"
        )
        let deadline = Duration.seconds(10)
        let fault: @Sendable (String, [String]) -> BackEndFault = { mode, causes in
            BackEndFault("the module does \(mode)", hangs: mode == "hang", causes: causes) {
                try folder.write(mode, to: "fault")
            } end: {
                try FileManager.default.removeItem(atPath: folder.file("fault"))
            }
        }
        var conformance = RealmBackEndConformance(
            users: [
                .init("daemon", password: daemon, groups: ["daemon"]), .init("bin", password: bin, groups: ["bin"]),
            ],
            faults: [
                fault("crash", ["ended by signal 11"]), fault("abort", ["ended by signal 6"]),
                fault("exit", ["ended with status 0"]), fault("garbage", ["a message"]),
                fault("close", ["the helper for PAM has ended"]), fault("output-endless", ["output"]),
                fault("hang", ["did not answer within"]),
                BackEndFault("the helper is removed", causes: ["No such file or directory"]) {
                    try FileManager.default.moveItem(atPath: helper, toPath: helper + ".old")
                    // Helpers that run already end at their next login.
                    for process in RunningProcesses.mentioning(helper) { kill(process, SIGKILL) }
                } end: {
                    try FileManager.default.moveItem(atPath: helper + ".old", toPath: helper)
                },
                BackEndFault("the helper is another program", causes: ["the helper for PAM"]) {
                    try FileManager.default.moveItem(atPath: helper, toPath: helper + ".old")
                    try FileManager.default.copyItem(atPath: "/bin/true", toPath: helper)
                    for process in RunningProcesses.mentioning(helper) { kill(process, SIGKILL) }
                } end: {
                    try FileManager.default.removeItem(atPath: helper)
                    try FileManager.default.moveItem(atPath: helper + ".old", toPath: helper)
                },
            ],
            deadline: deadline
        ) { services in
            try .forConformance(
                RealmKind(PAMRealm.self, modules: PAMLoginModule.self),
                properties: [
                    "confdir": [folder.path], "helper": [helper], "timeout": ["600s"], "queue": ["2000"],
                    "helpers": ["4"],
                ],
                services: services,
                deadline: deadline
            )
        }
        conformance.openCalls = {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.file("open"))) ?? []
            return names.compactMap { pid_t($0) }.count { kill($0, 0) == 0 }
        }
        conformance.usersWithProblems = [.init("sys", password: "lilac")]
        conformance.stored = { folder.text("new-password") }
        let report = await conformance.check()
        #expect(report.violations == [])
        #expect(report.checked.count == RealmBackEndConformance.Check.allCases.count - 1, "\(report)")
        try await Waiting.until { RunningProcesses.mentioning(helper).isEmpty }
    }
}
