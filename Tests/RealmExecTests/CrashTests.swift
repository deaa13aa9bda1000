// SPDX-License-Identifier: Apache-2.0

import RealmKit
import TestTools
import Testing

@testable import RealmExec

/// Programs that crash again and again, in both modes.
struct CrashTests {
    /// Crashes for names that begin with `crash`, after a part of an answer that would accept the user.
    private static let scripts = [
        "once": """
        for name; do :; done
        cat <&3 >/dev/null
        echo authorize >&3
        case "$name" in crash*) kill -SEGV $$ ;; esac
        """,
        "lines": LinesTests.loop(
            """
            case "$user" in
                crash*) printf "$number authorize\\n$number do" >&3; kill -SEGV $$ ;;
                esac
                printf "$number authorize\\n$number done\\n" >&3
            """
        ),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: ["once", "lines"])
    func `1,000 crashes in a row under load grant nothing, lose nothing and leave nothing`(mode: String) async throws {
        let folder = try ProgramFolder()
        let program = try folder.script(try #require(Self.scripts[mode]))
        // The first login of a process opens descriptors of the Swift runtime, which stay open.
        #expect(try await ExecSetup(program, ["mode": .string(mode)]).login("ann").identity != nil)
        try await Waiting.until { RunningProcesses.mentioning(folder.path).isEmpty && RunningProcesses.zombies == 0 }
        let (descriptors, children) = (RunningProcesses.openDescriptors, RunningProcesses.children)
        do {
            let setup = try ExecSetup(program, ["mode": .string(mode), "processes": .integer(4)])
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
            #expect(results.filter { $0.1 == nil }.count == 100)
        }
        try await Waiting.until {
            RunningProcesses.mentioning(folder.path).isEmpty && RunningProcesses.children <= children
                && RunningProcesses.openDescriptors <= descriptors
        }
    }
}
