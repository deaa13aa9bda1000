// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import SeededRandom
import TestTools
import Testing

@testable import RealmExec

/// Programs that answer many requests by lines.
struct LinesTests {
    private let folder: ProgramFolder

    init() throws { folder = try ProgramFolder() }

    private func setup(_ script: String, _ properties: [String: PropertyValue] = [:]) throws -> ExecSetup {
        let values: [String: PropertyValue] = ["mode": .string("lines"), "processes": .integer(4)]
        return try ExecSetup(try folder.script(script), values.merging(properties) { _, new in new })
    }

    static func loop(_ body: String) -> String {
        """
        field() { [ "$1" = - ] || printf %s "$1" | base64 -d; }
        while read -r number service user password challenge peer realm <&3; do
            user=$(field "$user")
            password=$(field "$password")
            \(body)
        done
        """
    }

    private static let people = loop(
        """
        case "$user:$password" in
            ann:lilac) printf "$number %s\\n" 'group staff' authorize ;;
            bob:basil) printf "$number %s\\n" authorize ;;
            ann:* | bob:*) echo "$number reject" ;;
            *) echo "$number unknown-user" ;;
            esac >&3
            echo "$number done" >&3
        """
    )

    @Test func `the module passes the conformance tests`() async throws {
        let module = LoginModuleConformance(
            try setup(Self.people).module,
            accepts: [.init("ann", password: "lilac"), .init("bob", password: "basil")],
            refuses: [
                .init("ann", password: "basil"), .init("ann", password: ""), .init("zed", password: "lilac"),
                .init("ann:lilac", password: "x"), .init("-", password: "lilac"), .init("ann", password: "lilac\0"),
            ],
            timeLimit: .seconds(60)
        )
        #expect(await module.violations() == [])
    }

    @Test func `a trace of the shell is logged without the secret and without its form in the request`() async throws {
        let setup = try setup("set -x\n" + Self.people)
        for password in ["quite-secret", "quite-secret/1", "quite-secret/12"] {
            #expect(try await setup.login("ann", password).refusal?.failure == .wrongCredentials)
        }
        try await Waiting.until { setup.log.entries.contains { $0.contains("read -r") } }
        let log = setup.log.entries.joined(separator: "\n")
        #expect(log.contains("(a line with the secret of the login is not logged)"), "\(log)")
        #expect(!log.contains("quite-secret") && !log.contains("cXVpdGUtc2VjcmV0"), "\(log)")
    }

    @Test func `what a program writes after its answer, or in a later login, is logged without the secrets`()
        async throws
    {
        let body = """
            echo "earlier: $earlier" >&2
            earlier="$earlier $password"
            case "$challenge:$password" in
                :first-lilac) echo "$number challenge Code for $password" ;;
                *:*) echo "$number reject" ;;
            esac >&3
            echo "$number done" >&3
            (sleep 0.2; echo "late: $password" >&2) &
            """
        let setup = try setup(Self.loop(body), ["processes": .integer(1)])
        for password in ["one-lilac", "two-lilac", "three-lilac"] {
            #expect(try await setup.login("ann", password).refusal?.failure == .wrongCredentials)
            try await Task.sleep(for: .milliseconds(400))
        }
        let conversation = RecordingConversation(name: "bob", password: "first-lilac", code: "second-lilac")
        _ = try await setup.login("bob", conversation)
        _ = try await setup.login("ann", "four-lilac")
        try await Waiting.until { setup.log.entries.count > 6 }
        let log = setup.log.entries.joined(separator: "\n")
        #expect(log.contains("(a line with the secret of the login is not logged)"), "\(log)")
        #expect(!log.contains("lilac"), "\(log)")
    }

    @Test func `no line of an answer contains a part of a password with a line feed`() async throws {
        let body = """
            printf "$number unavailable cannot bind with %s\n" "$password" >&3
            echo "$number done" >&3
            """
        let report = try await setup(Self.loop(body)).login("ann", "first-lilac\nsecond-lilac")
        #expect(report.identity == nil && !report.faultTexts.contains("lilac"), "\(report.faultTexts)")
    }

    @Test(arguments: [
        ("exec 3>&-; sleep 0.1; exit 7", "ended with status 7"),
        ("exec 3>&-; exec sleep 60", "has ended, and its status is not known"),
    ])
    func `a program that closes its channel is not said to be ended by the signal that we send`(
        body: String,
        cause: String
    ) async throws {
        let report = try await setup(Self.loop(body)).login("ann")
        #expect(report.refusal?.failure == .unavailable)
        #expect(report.faultTexts.contains(cause), "\(report.faultTexts)")
    }

    @Test func `one process answers many logins, and is replaced after its last one`() async throws {
        let setup = try setup(
            Self.loop("echo \"$number group $$\" >&3; echo \"$number authorize\" >&3; echo \"$number done\" >&3"),
            ["requests-per-process": .integer(3), "processes": .integer(1)]
        )
        var processes: [String] = []
        for _ in 0..<7 { processes += try await setup.login("ann").identity?.groups ?? [] }
        #expect(processes.count == 7)
        #expect(Set(processes).count == 3)
        #expect(processes[0] == processes[2] && processes[3] == processes[5] && processes[2] != processes[3])
    }

    @Test(arguments: [
        "echo \"$number done\"", "echo \"$number authorize\"; exit", "echo authorize; echo done",
        "echo \"1$number authorize\"; echo \"1$number done\"", "echo \"$number authorize\"; echo \"1$number done\"",
        "echo \"$number authorize\"; echo \"$number reject\"; echo \"$number done\"",
        "printf \"$number authorize\\n$number done\\n$number authorize\\n\"",
        "echo \"$number authorize\"; kill -9 $$", "exit 0", "kill -9 $$", "yes", "head -c 100000 /dev/zero; exit",
    ])
    func `an answer that breaks the protocol is unavailable, and the next login has a new process`(
        answer: String
    ) async throws {
        let setup = try setup(
            Self.loop(
                """
                if [ "$user" = zed ]; then
                    \(answer)
                    else
                    printf "$number authorize\\n$number done\\n"
                    fi >&3
                """
            ),
            ["processes": .integer(1)]
        )
        for _ in 0..<2 {
            let report = try await setup.login("zed")
            #expect(report.identity == nil)
            #expect(report.refusal?.failure == .unavailable, "\(report.faultTexts)")
            #expect(try await setup.login("ann").identity != nil)
        }
    }

    @Test func `each question has a number that earlier numbers do not reveal`() async throws {
        let setup = try setup(
            Self.loop("printf \"$number %s\\n\" \"group $number\" authorize done >&3"),
            ["processes": .integer(1)]
        )
        var numbers: [UInt64] = []
        for _ in 0..<20 {
            let groups = try #require(try await setup.login("ann").identity?.groups)
            numbers.append(try #require(groups.first.flatMap { UInt64($0) }))
        }
        let steps = zip(numbers.dropFirst(), numbers).map { $0 &- $1 }
        #expect(Set(steps).count == 19)
        #expect(numbers.contains { $0 > UInt64(UInt32.max) })
    }

    @Test func `a child of an earlier login that guesses numbers cannot answer a later login`() async throws {
        // The child answers with the number after its own, while the program does not answer.
        let setup = try setup(
            Self.loop(
                """
                if [ "$user" = zed ]; then
                    echo "$number reject" >&3
                    echo "$number done" >&3
                    {
                        while [ ! -e "\(folder.path)/guess" ]; do sleep 0.01; done
                        # The shell cannot add to a number above 2^63.
                        next=$number
                        [ ${#number} -gt 18 ] || next=$((number + 1))
                        printf "$next authorize\\n$next done\\n" >&3
                    } &
                else
                    touch "\(folder.path)/guess"
                    sleep 1000
                    fi
                """
            ),
            ["processes": .integer(1), "timeout": .duration(.seconds(30))]
        )
        #expect(try await setup.login("zed").refusal?.failure == .wrongCredentials)
        let report = try await setup.login("ann")
        #expect(report.identity == nil)
        #expect(report.refusal?.failure == .unavailable)
        #expect(report.faultTexts.contains("does not begin with the number"), "\(report.faultTexts)")
    }

    @Test func `a program that hangs delays only its own login`() async throws {
        let setup = try setup(
            Self.loop(
                "if [ \"$user\" = zed ]; then sleep 1000; fi; printf \"$number authorize\\n$number done\\n\" >&3"
            ),
            ["timeout": .duration(.seconds(20)), "processes": .integer(2)]
        )
        let hanging = Task { try await setup.login("zed") }
        try await Waiting.until { !RunningProcesses.mentioning(folder.path).isEmpty }
        let begin = ContinuousClock.now
        for _ in 0..<20 { #expect(try await setup.login("ann").identity != nil) }
        #expect(begin.duration(to: .now) < .seconds(19))
        hanging.cancel()
        #expect(try await hanging.value.identity == nil)
    }

    @Test func `a process without logins ends, and the next login starts another`() async throws {
        let setup = try setup(Self.people, ["idle-time": .duration(.milliseconds(20))])
        for _ in 0..<3 {
            #expect(try await setup.login("ann").identity != nil)
            try await Waiting.until { RunningProcesses.mentioning(folder.path).isEmpty }
        }
    }

    @Test func `all processes end with the realm`() async throws {
        do {
            let setup = try setup(Self.people)
            for _ in 0..<3 { #expect(try await setup.login("ann").identity != nil) }
            #expect(!RunningProcesses.mentioning(folder.path).isEmpty)
        }
        try await Waiting.until { RunningProcesses.mentioning(folder.path).isEmpty && RunningProcesses.zombies == 0 }
    }

    @Test(arguments: ["refuse", "cancel-oldest"])
    func `a full queue is an overload for a login, and all logins have an answer`(policy: String) async throws {
        let setup = try setup(
            Self.loop("sleep 0.05; printf \"$number authorize\\n$number done\\n\" >&3"),
            ["processes": .integer(1), "queue": .integer(2), "when-full": .string(policy)]
        )
        let failures = try await withThrowingTaskGroup(of: LoginFailure?.self) { group in
            for _ in 0..<20 { group.addTask { try await setup.login("ann").refusal?.failure } }
            return try await group.reduce(into: [LoginFailure?]()) { $0.append($1) }
        }
        #expect(failures.count == 20)
        #expect(failures.contains(nil))
        #expect(failures.contains(.overloaded))
        #expect(failures.allSatisfy { $0 == nil || $0 == .overloaded })
    }

    @Test(arguments: ["once", "lines"])
    func `names and passwords with any characters arrive unchanged`(mode: String) async throws {
        let program = try folder.write(
            """
            #!/usr/bin/env python3
            base64, hashlib, sys = map(__import__, ("base64", "hashlib", "sys"))
            channel = open(3, "r+b", buffering=0)
            def answer(user, password):
                return [b"user " + user, b"group " + hashlib.sha256(password).hexdigest().encode(), b"authorize"]
            if sys.argv[-1] == "lines":
                for line in channel:
                    number, _, user, password = line.split()[:4]
                    lines = answer(base64.b64decode(user), base64.b64decode(password)) + [b"done"]
                    channel.write(b"".join(number + b" " + line + b"\\n" for line in lines))
            else:
                password = channel.read().split(b"\\0")[1]
                channel.write(b"\\n".join(answer(sys.argv[-1].encode(errors="surrogateescape"), password)))
            """,
            to: "echo.py",
            mode: 0o755
        )
        let setup = try ExecSetup(program, ["mode": .string(mode), "processes": .integer(2)])
        var random = Random(seed: 13)
        let parts = [
            "-", "--", "-s", "a", "B", " ", "'", "\"", "\\", "$(id)", "`id`", "${HOME}", ";", "|", "&", ">", "*", "{",
            "}",
            "[", ":", ",", "\\n", "%s", "%n", "../", "/", "é", "e\u{301}", "日本", "😀", "\u{200D}", "=", "#", "~", "!",
        ]
        for _ in 0..<(mode == "once" ? 40 : 300) {
            let name = (0..<(1 + random.below(8))).map { _ in random.pick(parts) }.joined()
            guard let user = try? Username(name), name.utf8.count <= 256 else { continue }
            let password = (0..<(1 + random.below(20))).map { _ in random.pick(parts + ["\n", "\r", "\t"]) }.joined()
            let report = try await setup.login(name, password)
            let identity = try #require(report.identity, "\(name.debugDescription): \(report.faultTexts)")
            #expect(identity.username == user)
            let again = try await setup.login("zed", password)
            #expect(again.identity?.groups == identity.groups)
        }
    }
}
