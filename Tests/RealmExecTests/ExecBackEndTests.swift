// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmExec
import RealmKit
import RealmTesting
import TestTools
import Testing

/// The realm and its helper programs under the conformance test for back ends.
struct ExecBackEndTests {
    @Test func `the realm keeps the contract while its program is lost, crashes and hangs`() async throws {
        let folder = try ProgramFolder()
        try FileManager.default.createDirectory(atPath: folder.file("open"), withIntermediateDirectories: true)
        let (ann, bob) = (RealmBackEndConformance.randomPassword(), RealmBackEndConformance.randomPassword())
        let cleo = RealmBackEndConformance.randomPassword()
        let program = try folder.script(
            """
            for name; do :; done
            if [ -e "\(folder.path)/crash" ]; then kill -9 $$; fi
            if [ -e "\(folder.path)/hang" ]; then : > "\(folder.path)/open/$$"; exec sleep 1000; fi
            tr '\\0' '\\n' <&3 | {
                IFS= read -r challenge
                IFS= read -r password
                if IFS= read -r more; then password=; fi
                case "$name:$password" in
                ann:\(ann)) printf 'group staff\\nauthorize\\n' ;;
                bob:\(bob)) printf 'group staff\\ngroup crew\\nauthorize\\n' ;;
                cleo:\(cleo)) printf 'group \\377\\nauthorize\\n' ;;
                ann:* | bob:* | cleo:*) echo reject ;;
                *) echo unknown-user ;;
                esac
            } >&3

            """
        )
        let deadline = Duration.seconds(15)
        let marker: @Sendable (String, String, String, Bool) -> BackEndFault = { name, file, cause, hangs in
            BackEndFault(name, hangs: hangs, causes: [cause]) {
                try folder.write("", to: file)
            } end: {
                try FileManager.default.removeItem(atPath: folder.file(file))
            }
        }
        var conformance = RealmBackEndConformance(
            users: [
                .init("ann", password: ann, groups: ["staff"]), .init("bob", password: bob, groups: ["staff", "crew"]),
            ],
            faults: [
                BackEndFault("the program is removed", causes: ["No such file or directory"]) {
                    try FileManager.default.moveItem(atPath: program, toPath: program + ".old")
                } end: {
                    try FileManager.default.moveItem(atPath: program + ".old", toPath: program)
                },
                marker("the program crashes", "crash", "signal 9", false),
                marker("the program hangs", "hang", "did not answer within", true),
            ],
            deadline: deadline
        ) { services in
            try .forConformance(
                RealmKind(ExecRealm.self, modules: ExecLoginModule.self),
                properties: ["program": [program], "timeout": ["600s"], "queue": ["2000"]],
                services: services,
                deadline: deadline
            )
        }
        conformance.openCalls = {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.file("open"))) ?? []
            return names.compactMap { pid_t($0) }.count { kill($0, 0) == 0 }
        }
        conformance.rounds = 100
        conformance.usersWithProblems = [.init("cleo", password: cleo)]
        let report = await conformance.check()
        #expect(report.violations == [])
        #expect(report.checked.count == RealmBackEndConformance.Check.allCases.count - 1, "\(report)")
    }
}
