// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import TestTools
import Testing

@testable import RealmExec

/// Programs that are started for each login.
struct OnceTests {
    private let folder: ProgramFolder

    init() throws { folder = try ProgramFolder() }

    private func answering(_ script: String, _ properties: [String: PropertyValue] = [:]) throws -> ExecSetup {
        try ExecSetup(try folder.script("cat <&3 >/dev/null\n" + script), properties)
    }

    /// Accepts ann with lilac and bob with basil.
    static let people = """
        for name; do :; done
        tr '\\0' '\\n' <&3 | {
            IFS= read -r challenge
            IFS= read -r password
            case "$name:$password" in
            ann:lilac) printf 'group staff\\ngroup board of directors\\nauthorize\\n' ;;
            bob:basil) echo authorize ;;
            ann:* | bob:*) echo reject ;;
            *) echo unknown-user ;;
            esac
        } >&3

        """

    @Test func `the logins of one user hold half of the processes`() async throws {
        let setup = try answering(
            "echo x >>'\(folder.file("started"))'; while [ ! -e '\(folder.file("go"))' ]; do sleep 0.02; done; echo authorize >&3",
            ["processes": .integer(4)]
        )
        func count() -> Int { folder.text("started").utf8.count / 2 }
        let ann = ["ann", "Ann", "ANN"].map { name in Task { try await setup.login(name).identity != nil } }
        try await Waiting.until { count() == 2 }
        let bob = Task { try await setup.login("bob").identity != nil }
        try await Waiting.until { count() == 3 }
        try await Task.sleep(for: .milliseconds(200))
        #expect(count() == 3)
        try folder.write("", to: "go")
        for login in ann + [bob] { #expect(try await login.value) }
        #expect(count() == 4)
    }

    @Test func `the realm and its module pass the conformance tests`() async throws {
        let program = try folder.script(Self.people)
        let setup = try ExecSetup(program)
        let module = LoginModuleConformance(
            try setup.module,
            accepts: [.init("ann", password: "lilac"), .init("bob", password: "basil")],
            refuses: [
                .init("ann", password: "basil"), .init("ann", password: ""), .init("Ann", password: "lilac"),
                .init("zed", password: "lilac"), .init("--", password: "lilac"),
                .init("ann", password: "lilac\0"), .init("ann", password: String(repeating: "l", count: 100_000)),
                .init("ann:lilac", password: "x"), .init("$(id)", password: "lilac"), .init("-sann", password: "lilac"),
            ],
            timeLimit: .seconds(60)
        )
        #expect(await module.violations() == [])
        let realm = RealmConformance(
            ExecRealm.self,
            properties: ["program": [program]],
            unknownUsers: ["zed"],
            spellings: [["ann", "Ann"]]
        )
        #expect(await realm.violations() == [])
    }

    @Test(
        arguments: [
            ("echo authorize >&3", nil), ("echo authorize root >&3", nil), ("echo authorize secure >&3; exit 0", nil),
            ("printf authorize >&3", nil),
            ("echo reject >&3", LoginFailure.wrongCredentials), ("echo reject >&3; exit 1", .wrongCredentials),
            ("echo reject silent >&3", .wrongCredentials), ("echo unknown-user >&3", .unknownUser),
            ("echo locked >&3", .locked), ("echo disabled >&3", .disabled), ("echo expired >&3", .accountExpired),
            ("echo reject expired >&3", .accountExpired), ("echo must-change >&3", .credentialExpired),
            ("echo reject pwexpired >&3", .credentialExpired), ("echo permission-denied >&3", .permissionDenied),
            ("echo unavailable database down >&3", .unavailable), ("echo overloaded busy >&3", .overloaded),
            ("printf 'overloaded\\nunavailable\\n' >&3", .unavailable),
            // Everything else is no decision.
            ("exit 0", .unavailable), ("exit 1", .unavailable), ("exit 127", .unavailable),
            ("echo authorize >&3; exit 1", .unavailable), ("echo authorize >&3; kill -9 $$", .unavailable),
            ("echo authorize >&3; kill -SEGV $$", .unavailable), ("echo reject >&3; kill -9 $$", .unavailable),
            ("echo authorize; exit 0", .unavailable), ("echo authorize >&2; exit 0", .unavailable),
            ("echo Authorize >&3", .unavailable), ("echo ' authorize' >&3", .unavailable),
            ("echo authorize admin >&3", .unavailable), ("printf 'authorize\\r\\n' >&3", .unavailable),
            ("printf 'authorize\\nreject\\n' >&3", .unavailable), ("printf 'reject\\nauthorize\\n' >&3", .unavailable),
            ("printf 'authorize\\nlocked\\n' >&3", .unavailable), ("printf 'authorize\\nhello\\n' >&3", .unavailable),
            ("printf 'authorize\\nunavailable\\n' >&3", .unavailable), ("printf 'authorize\\0\\n' >&3", .unavailable),
            ("printf 'authorize\\nuser \\n' >&3", .unavailable),
            ("printf 'authorize\\nattribute mail\\n' >&3", .unavailable),
            ("printf 'authorize\\nattribute a=b c\\n' >&3", .unavailable),
            ("printf 'authorize\\ngroup\\n' >&3", .unavailable),
            ("printf 'authorize\\ngroup a\\033b\\n' >&3", .unavailable),
            ("printf 'authorize\\ngroup a\\377b\\n' >&3", .unavailable),
            ("yes group x | head -n 1025 >&3; echo authorize >&3", .unavailable),
            ("head -c 70000 /dev/zero >&3; echo authorize >&3", .unavailable),
            ("exec 3>&-; sleep 0; exit 0", .unavailable),
        ] as [(String, LoginFailure?)]
    )
    func `only status 0 with the line authorize is a success`(script: String, failure: LoginFailure?) async throws {
        let report = try await answering(script).login("ann")
        #expect((report.identity != nil) == (failure == nil))
        #expect(report.refusal?.failure == failure, "\(report.faultTexts)")
    }

    @Test func `the cause of an outage is logged with the realm, at most once a second, and a refusal is not`()
        async throws
    {
        let outage = try answering("kill -9 $$")
        for _ in 0..<3 { #expect(try await outage.login("ann").refusal?.failure == .unavailable) }
        let lines = outage.log.entries.filter { $0.hasPrefix("realm helpers: the helper program: ") }
        #expect(!lines.isEmpty && lines.allSatisfy { $0.contains("signal 9") })
        let refusal = try answering("echo reject >&3")
        #expect(try await refusal.login("ann").refusal?.failure == .wrongCredentials)
        #expect(!refusal.log.entries.contains { $0.hasPrefix("realm helpers: ") && !$0.contains("runs as root") })
    }

    @Test func `name, groups and lines of BSD authentication are read`() async throws {
        let setup = try answering(
            """
            printf 'value authtype test\\nsetenv HOME /\\nunsetenv X\\nremove /tmp/x\\nfd\\n' >&3
            printf 'user Ann Smith\\ngroup staff\\ngroup été\\nattribute mail ann@example.com\\nattribute mail a b\\nauthorize\\n' >&3
            """
        )
        let report = try await setup.login("ann")
        #expect(report.identity?.subject.users == ["Ann Smith"])
        #expect(report.identity?.groups == ["staff", "été"])
        let mail = try UserAttribute(name: "mail", values: ["ann@example.com", "a b"])
        #expect(report.identity?.subject.attributes == [mail])
    }

    @Test func `a challenge is shown to the user, and the response is checked`() async throws {
        let program = try folder.script(
            """
            tr '\\0' '\\n' <&3 | {
                IFS= read -r challenge
                IFS= read -r response
                case "$challenge:$response" in
                :lilac) printf 'value challenge "otp-md5 \\\\"95\\\\" wi123"\\nreject challenge\\n' ;;
                'otp-md5 "95" wi123:basil') echo challenge once more ;;
                'once more:mint') echo authorize ;;
                *) echo reject ;;
                esac
            } >&3
            """
        )
        let setup = try ExecSetup(program)
        func conversation(_ codes: [String]) -> RecordingConversation {
            RecordingConversation(
                [.prepared(PreparedConversation(password: Secret(utf8: "lilac")))]
                    + codes.map { .prepared(PreparedConversation(code: Secret(utf8: $0))) }
            )
        }
        let right = conversation(["basil", "mint"])
        #expect(try await setup.login("ann", right).identity != nil)
        let prompts: [[Callback]] = [
            [.password(prompt: "Password")], [.oneTimeCode(prompt: "otp-md5 \"95\" wi123")],
            [.oneTimeCode(prompt: "once more")],
        ]
        #expect(right.questions == prompts)
        #expect(try await setup.login("ann", conversation(["mint"])).refusal?.failure == .wrongCredentials)
        // A client with HTTP Basic has no answer to a challenge.
        #expect(try await setup.login("ann", "lilac").refusal?.failure == .missingCredential)
    }

    @Test func `a program that always asks again is unavailable`() async throws {
        let setup = try answering("echo challenge again >&3")
        let report = try await setup.login("ann", RecordingConversation(password: "lilac", code: "1"))
        #expect(report.refusal?.failure == .unavailable)
    }

    @Test func `arguments, environment, descriptors and folder are exactly those of the contract`() async throws {
        let setup = try ExecSetup(
            try folder.script(
                """
                { printf '<%s>' "$@"; echo; env | sort; pwd; ls /proc/self/fd; cat /proc/$$/cmdline; cat /proc/$$/environ
                ulimit -c; ulimit -n; grep -E '^(NoNewPrivs|SigBlk|SigIgn):' /proc/self/status; } >'\(folder.path)/seen' 2>&1
                cat <&3 >'\(folder.path)/secret'
                echo authorize >&3
                """
            ),
            ["arguments": .list(["-x", "two words"])]
        )
        let report = try await setup.login("ann", "quite secret", peer: "192.0.2.7")
        #expect(report.identity != nil, "\(report.faultTexts)")
        let seen = folder.text("seen")
        let arguments =
            "<-x><two words><-s><response><-v><service=tests><-v><realm=helpers><-v><peer=192.0.2.7><--><ann>"
        #expect(seen.split(separator: "\n").first.map(String.init) == arguments)
        for line in ["HOME=/", "LANG=C.UTF-8", "SHELL=/bin/sh", "\n/\n", "NoNewPrivs:\t1"] {
            #expect(seen.contains(line), "\(line) in \(seen)")
        }
        let signals = seen.split(separator: "\n").filter { $0.hasPrefix("Sig") }
        #expect(signals == ["SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"])
        #expect(!seen.contains("quite secret"))
        #expect(folder.text("secret") == "\0quite secret\0")
        let variables = seen.split(separator: "\n").dropFirst().prefix { $0 != "/" }
        let known = ["HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "_"]
        #expect(variables.allSatisfy { line in known.contains { line.hasPrefix("\($0)=") } }, "\(variables)")
        // 0 to 3, and the descriptor with which ls reads the folder.
        #expect(seen.contains("\n0\n1\n2\n3\n4\n"), "\(seen)")
    }

    @Test func `output goes to the log, escaped and bounded, and never with the secret`() async throws {
        let setup = try ExecSetup(
            try folder.script(
                """
                password=$(tr '\\0' '\\n' <&3 | sed -n 2p)
                printf 'one\\033[31m\\n' >&2
                echo two
                echo "the password is $password" >&2
                yes 0123456789 | head -n 2000 >&2
                echo authorize >&3
                """
            )
        )
        let report = try await setup.login("ann", "quite-secret")
        #expect(report.identity != nil, "\(report.faultTexts)")
        try await Waiting.until { setup.log.entries.count > 4 }
        let entries = setup.log.entries.filter { !$0.contains("runs as root") }
        #expect(entries.prefix(2) == ["helper.sh: one\\u{1b}[31m", "helper.sh: two"])
        #expect(entries.last == "helper.sh: the rest of its output is not logged")
        #expect(entries.joined().utf8.count < 20_000)
        #expect(!entries.contains { $0.contains("quite-secret") })
    }

    @Test(arguments: [
        "cat <&3 | tr -d '\\0' >&3", "echo \"ldap_bind(cn=ann, $p) failed\" >&3",
        "echo \"unavailable bind with $p failed\" >&3",
        "echo \"user $p$(printf '\\001')\" >&3; echo authorize >&3",
        "echo \"attribute $p $p\" >&3; echo \"attribute -$p- x\" >&3; echo authorize >&3",
        "echo \"reject $p\" >&3",
        "echo \"attribute $(printf %s \"$p\" | base64 | tr -d =)! x\" >&3; echo authorize >&3",
    ])
    func `no error of an answer contains the secret`(answer: String) async throws {
        let setup = try ExecSetup(
            try folder.script(
                answer.hasPrefix("cat") ? answer : "p=$(tr '\\0' '\\n' <&3 | sed -n 2p)\n\(answer)"
            )
        )
        let report = try await setup.login("ann", "quite-secret/1")
        #expect(report.identity == nil)
        let texts = report.faultTexts + setup.log.entries.joined()
        for secret in ["quite-secret", "cXVpdGUtc2VjcmV0LzE"] { #expect(!texts.contains(secret), "\(texts)") }
        #expect(report.faultTexts.contains("the helper program"), "\(texts)")
    }

    @Test func `a program that writes without end is killed`() async throws {
        let report = try await answering("yes; echo authorize >&3").login("ann")
        #expect(report.refusal?.failure == .unavailable)
        #expect(report.faultTexts.contains("output"), "\(report.faultTexts)")
        let answers = try await answering("yes group x >&3").login("ann")
        #expect(answers.refusal?.failure == .unavailable)
    }

    @Test func `a program that hangs is unavailable at its deadline, and is killed with its children`() async throws {
        let marker = folder.file("marker")
        let setup = try answering(
            "echo authorize >&3; sh -c 'sleep 1000; : \(marker)' & sh -c 'trap \"\" TERM; sleep 1001; : \(marker)'",
            ["timeout": .duration(.milliseconds(1500))]
        )
        let begin = ContinuousClock.now
        let report = try await setup.login("ann")
        #expect(report.refusal?.failure == .unavailable)
        #expect(begin.duration(to: .now) >= .milliseconds(1400))
        try await Waiting.until { RunningProcesses.mentioning(folder.path).isEmpty && RunningProcesses.zombies == 0 }
    }

    @Test func `children that a program leaves behind are killed`() async throws {
        let marker = folder.file("marker")
        let setup = try answering("sh -c 'sleep 1000; : \(marker)' & echo authorize >&3")
        #expect(try await setup.login("ann").identity != nil)
        try await Waiting.until { RunningProcesses.mentioning(folder.path).isEmpty }
    }

    @Test func `a cancelled login kills its program at once`() async throws {
        let setup = try answering("sleep 1000; : \(folder.path)")
        let login = Task { try await setup.login("ann") }
        try await Waiting.until { !RunningProcesses.mentioning(folder.path).isEmpty }
        login.cancel()
        #expect(try await login.value.identity == nil)
        try await Waiting.until { RunningProcesses.mentioning(folder.path).isEmpty }
    }

    @Test func `a program that takes more memory than its limit is unavailable`() async throws {
        let program = try folder.write(
            """
            #!/usr/bin/env python3
            block = bytearray(200 << 20)
            open(3, "wb").write(b"authorize\\n")
            """,
            to: "memory.py",
            mode: 0o755
        )
        #expect(try await ExecSetup(program, ["memory": .integer(400)]).login("ann").identity != nil)
        #expect(try await ExecSetup(program, ["memory": .integer(100)]).login("ann").refusal?.failure == .unavailable)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can start programs as another user"))
    func `the program runs as the configured user, with the groups of that user only`() async throws {
        let setup = try answering(
            "printf 'group %s\\n' \"$(id -un)\" \"$(id -Gn)\" >&3; echo authorize >&3",
            ["user": .string("nobody")]
        )
        let report = try await setup.login("ann")
        #expect(report.identity?.groups == ["nobody", "nogroup"], "\(report.faultTexts)")
        #expect(!setup.log.entries.contains { $0.contains("runs as root") })
        let asRoot = try answering("echo authorize >&3")
        #expect(asRoot.log.entries.contains { $0.contains("runs as root") })
    }

    @Test func `programs that other users could replace are errors of the configuration`() throws {
        func message(_ program: String, _ properties: [String: PropertyValue] = [:]) -> String {
            do {
                _ = try ExecSetup(program, properties)
                return ""
            } catch {
                return "\(error)"
            }
        }
        let good = try folder.script("echo authorize >&3", name: "good.sh")
        #expect(message(good) == "")
        #expect(message("good.sh").contains("No such file"))
        let parents = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in "../" }.joined()
        #expect(message(parents + good.dropFirst()) == "")
        #expect(message(folder.file("missing.sh")).contains("No such file"))
        #expect(message(folder.path).contains("not a regular file"))
        #expect(message(try folder.write("x", to: "plain")).contains("chmod +x"))
        #expect(message(try folder.write("x", to: "group", mode: 0o775)).contains("chmod g-w"))
        #expect(message(try folder.write("x", to: "others", mode: 0o757)).contains("chmod o-w"))
        #expect(message(good, ["user": .string("no-such-user")]).contains("no user no-such-user"))
        #expect(message(good, ["timeout": .duration(.zero)]).contains("longer than 0"))
        unsafe chmod(folder.path, 0o777)
        #expect(message(good).contains("chmod o-w \(folder.path)"))
        unsafe chmod(folder.path, 0o755)
        #expect(message(good) == "")
    }
}
