// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `gatehouse log`, with logs that a server has written.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct LogCommandTests {
    private static let rules = "protect /form { auth form; require any; }"

    @Test func `the log of a server answers why a user was refused`() async throws {
        let people = try People(People.configuration(server: "throttle { delay 0s; }", rules: Self.rules))
        for name in ["ann", "b\u{202E}ob"] { #expect(try await people.add(name).status == 0) }
        let server = try await RunningServer(in: people.folder)
        #expect(try await server.request("/welcome", "-u", "ann:wrong guess").status == 401)
        #expect(try await server.request("/staff", "-u", "ann:\(People.password)").status == 403)
        #expect(try await server.request("/welcome", "-u", "ann:\(People.password)").status == 200)
        #expect(try await server.request("/welcome").status == 401)
        let wrong = "{\"username\":\"b\u{202E}ob\",\"password\":\"wrong guess\"}"
        #expect(try await server.request("/session", "--json", wrong).status == 401)
        #expect(await server.end() == 0)
        // The server has written its summary and its log to one file.
        let log = server.log.split(separator: "\n").filter { $0.hasPrefix("20") }.joined(separator: "\n") + "\n"
        // Every line that a server writes can be read.
        let all = try await people.gatehouse("log", "-", "--json", input: log)
        #expect(all.status == 0 && all.errors == "", "\(all)")
        let entries = try all.output.split(separator: "\n").map {
            try JSONDecoder().decode(Entry.self, from: Data($0.utf8))
        }
        #expect(entries.filter { $0.kind == "other" }.isEmpty, "\(all)")

        let ann = try await people.gatehouse("log", "--user", "ann", "--failed", input: log)
        let lines = ann.output.split(separator: "\n").map { String($0.dropFirst(25)) }
        #expect(
            lines == [
                #""ann"@"people" 127.0.0.1 "GET" "/welcome" 401: the password, code or certificate is wrong (wrong-credentials, module 0); rule realms.conf:9:9 /welcome"#,
                #""ann"@"people" 127.0.0.1 "GET" "/staff" 403: the user does not meet the rule: needs group Staff, has no group; rule realms.conf:10:9 /staff"#,
            ],
            "\(ann)"
        )
        let time = try #require(ann.output.split(separator: "\n").first?.prefix(24))
        let why = try await people.gatehouse("log", "--why", "--at", String(time), input: log)
        let reasons = why.output.split(separator: "\n").dropFirst().map(String.init)
        #expect(
            reasons == [
                "  decided by StoreLoginModule (required at realms.conf:2:20): wrong-credentials counts as a failure",
                "  granted, if StoreLoginModule=success",
            ],
            "\(why)"
        )
        let bob = try await people.gatehouse("log", "--user", "b\u{202E}ob", "--failed", input: log)
        #expect(bob.isPrintable && bob.output.contains(#""b\u{202e}ob"@"people" 127.0.0.1 sign-in refused"#), "\(bob)")
        #expect(bob.output.split(separator: "\n").count == 1, "\(bob)")
        let summary = try await people.gatehouse("log", "--summary", "--since", "1h", input: log)
        #expect(summary.output.contains("entries, 3 failures\n"), "\(summary)")
        #expect(summary.output.contains("\nfailures  user\n2         \"ann\"@\"people\"\n1  "), "\(summary)")
        #expect(summary.isPrintable)
    }

    private struct Entry: Decodable {
        let time: String
        let kind: String
        let failed: Bool
    }

    @Test func `rotated files are read in order, and lines that cannot be read are counted`() async throws {
        let people = try People()
        let line = #"2026-11-22T02:29:33.764Z access: ::1 "ann"@"people" "GET" "/welcome" 401 21 2us locked"#
        try people.folder.write("\(line)\nTraceback:\n\(line.prefix(70))", to: "server.log.1")
        try people.folder.write(
            "gatehouse: 7 lines were lost: this stream was not read\n\(line.replacing("ann", with: "bob"))\n",
            to: "server.log"
        )
        let finished = try await people.gatehouse("log", "server.log.1", "server.log")
        #expect(finished.status == 0)
        let users = finished.output.split(separator: "\n").map { $0.split(separator: " ")[1] }
        #expect(users == ["\"ann\"@\"people\"", "\"bob\"@\"people\""], "\(finished)")
        #expect(
            finished.errors == """
                2 lines are not entries of a log of Gatehouse, or are cut off
                the server has lost 7 lines, because its output was not read

                """
        )
        let json = try await people.gatehouse("log", "--summary", "--json", "server.log.1", "server.log")
        #expect(
            json.output == """
                {"addresses":[{"failures":2,"value":"::1"}],"entries":2,"failures":2,"from":"2026-11-22T02:29:33.764Z","lostLines":7,"reasons":[{"failures":2,"value":"locked"}],"rules":[],"to":"2026-11-22T02:29:33.764Z","tooLowBy":0,"unreadableLines":2,"users":[{"failures":1,"realm":"people","user":"ann"},{"failures":1,"realm":"people","user":"bob"}]}

                """
        )
    }

    @Test func `a file that is no log, is compressed or does not exist is an error`() async throws {
        let people = try People()
        try people.folder.write("hello\nworld\n", to: "other")
        try Data([0x1F, 0x8B, 8, 0]).write(to: people.folder.url.appendingPathComponent("server.log.2.gz"))
        try people.folder.write("", to: "empty")
        for (words, status, message) in [
            (["other"], 1, "none of the lines is of a log of Gatehouse"),
            (["server.log.2.gz"], 1, "server.log.2.gz is compressed; use zcat FILE | gatehouse log"),
            (["missing"], 1, "missing cannot be read: No such file or directory"),
            (["."], 1, ". cannot be read: Is a directory"), (["--since", "soon", "empty"], 2, "--since takes a time"),
            (["--why", "--summary", "empty"], 2, "--why and --summary exclude each other"),
            (["--config", "realms.conf", "empty"], 2, "--config and -D need --why"),
            (["--at", "10:00", "--since", "1h", "empty"], 2, "--at cannot be combined with --since and --until"),
            (["--at", "2026-11-22T10:00:00Z", "empty"], 2, "--at takes a time as it is printed"),
            (["empty"], 0, ""), ([], 0, ""),
        ] {
            let finished = try await Program.run(Program.built("gatehouse"), ["log"] + words, in: people.folder.url)
            #expect(finished.status == Int32(status), "\(words): \(finished)")
            #expect(
                message.isEmpty ? finished.errors.isEmpty : finished.errors.contains(message),
                "\(words): \(finished)"
            )
        }
    }
}
