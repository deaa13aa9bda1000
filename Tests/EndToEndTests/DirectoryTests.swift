// SPDX-License-Identifier: Apache-2.0

import DirectoryTesting
import Foundation
import Testing

/// The commands and the server with the users of a directory.
@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct DirectoryTests {
    private let directory: SlapdServer
    private let people: People

    init() async throws {
        directory = try await SlapdServer()
        people = try People(
            """
            default-realm people;
            login ldapRealm { LDAPLoginModule required; }
            realm people {
                class                 LDAPRealm;
                directory             \(directory.url);
                base-dn               "\(SlapdServer.base)";
                search-bind-dn        "\(SlapdServer.service.name)";
                search-bind-password  "\(SlapdServer.service.password)";
                group-base-dn         "\(SlapdServer.groups)";
                group-search-filter   member=%d;
                nested-groups         true;
                cache                 { ttl 0s; stale-if-unavailable 10m; }
            }
            server { listen 127.0.0.1:0; credential-cache 0s; throttle { failures 50; delay 0s; } }
            protect /welcome { realm people; auth basic; require group staff; }
            """
        )
    }

    private func status(_ server: RunningServer, _ name: String, _ password: String) async throws -> Int {
        try await server.request("/welcome", "-u", "\(name):\(password)").status
    }

    @Test func `authcheck tells the states of accounts apart, and the trace names every step`() async throws {
        let program = Program.built("authcheck")
        for (person, code, text) in [
            (SlapdServer.carl, "locked", "the directory has locked the account"),
            (SlapdServer.eve, "expired", "the password has expired"),
            (SlapdServer.frank, "disabled", "an administrator has disabled the account"),
        ] {
            let arguments = ["--password-stdin", "--trace", "people", person.uid]
            let refused = try await Program.run(
                program,
                arguments,
                input: person.password + "\n",
                in: people.folder.url
            )
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.output.contains(code) && refused.output.contains(text), "\(refused)")
            #expect(refused.output.contains("\(directory.url): bind as \(person.name): 49"), "\(refused)")
            #expect(!refused.output.contains(person.password), "\(refused)")
        }
        let ann = SlapdServer.ann
        let arguments = ["--password-stdin", "people", "ann"]
        let accepted = try await Program.run(program, arguments, input: ann.password + "\n", in: people.folder.url)
        #expect(accepted.status == 0 && accepted.output.contains("  group  level3\n"), "\(accepted)")
    }

    @Test func `users are listed and shown, and cannot be changed`() async throws {
        let listed = try await people.gatehouse("user", "list")
        #expect(listed.status == 0 && listed.isPrintable, "\(listed)")
        #expect(listed.output.contains("ann@example.org"), "\(listed)")
        let shown = try await people.gatehouse("user", "show", "ann")
        #expect(shown.output.contains("level3") && !shown.output.contains("password"), "\(shown)")
        let groups = try await people.gatehouse("user", "groups", "ann")
        #expect(Set(groups.output.split(separator: "\n")).isSuperset(of: ["staff", "level1", "level3"]), "\(groups)")
        #expect(try await people.gatehouse("user", "show", "zoe").status == 1)
        let changed = try await people.gatehouse("user", "disable", "ann")
        #expect(changed.status == 1, "\(changed)")
        #expect(changed.errors.contains("whose users cannot be changed here"), "\(changed)")
    }

    @Test func `realm test and check --connect test the server`() async throws {
        let tested = try await people.gatehouse("realm", "test", "people", "ann")
        #expect(tested.status == 0, "\(tested)")
        #expect(
            tested.output.contains("ok      \(directory.url): a login binds as \(SlapdServer.ann.name)"),
            "\(tested)"
        )
        #expect(try await people.gatehouse("realm", "test", "people", "zoe").status == 4)
        let connected = try await people.gatehouse("check", "--connect")
        #expect(connected.status == 0 && connected.errors == "", "\(connected)")
        let configured = try String(
            contentsOf: people.folder.url.appendingPathComponent("realms.conf"),
            encoding: .utf8
        )
        let rules =
            "\nprotect /a { realm people; require group stafff; }\nprotect /b { realm people; require group Staff; }\n"
        try people.folder.write(configured + rules, to: "realms.conf")
        #expect(try await people.gatehouse("check").errors == "")
        let warned = try await people.gatehouse("check", "--connect").errors
        #expect(warned.contains("warning: no user of realm people is in stafff\n"), "\(warned)")
        #expect(warned.contains("warning: no user of realm people is in Staff\n"), "\(warned)")
        #expect(warned.contains("did you mean staff?"), "\(warned)")
        await directory.stop()
        let failed = try await people.gatehouse("check", "--connect")
        #expect(failed.status == 4, "\(failed)")
        #expect(failed.output.contains("FAILED  \(directory.url): "), "\(failed)")
        #expect(failed.output.contains("Connection refused"), "\(failed)")
        #expect(try await people.gatehouse("check").status == 0)
    }

    @Test(.enabled(if: Program.hasCurl, "curl is not installed"))
    func `the access log has the name of an accepted user, and the one that was sent of a refused login`() async throws
    {
        let server = try await RunningServer(in: people.folder)
        #expect(try await status(server, "ANN", SlapdServer.ann.password) == 200)
        try await server.untilLogged(#" "ann"@"people" "GET" "/welcome" 200 "#)
        #expect(!server.log.contains("ANN"))
        #expect(try await status(server, "ANN", "wrong") == 401)
        try await server.untilLogged(#" "ANN"@"people" "GET" "/welcome" 401 "#)
        #expect(await server.end() == 0)
    }

    @Test(.enabled(if: Program.hasCurl, "curl is not installed"))
    func `while the directory is down, only remembered logins are accepted, and the log says so`() async throws {
        let server = try await RunningServer(in: people.folder)
        #expect(try await status(server, "ann", SlapdServer.ann.password) == 200)
        #expect(try await status(server, "ann", "wrong") == 401)
        #expect(try await status(server, "carl", SlapdServer.carl.password) == 401)
        await directory.kill()
        #expect(try await status(server, "ann", SlapdServer.ann.password) == 200)
        try await server.untilLogged("ann was accepted from the cache")
        #expect(try await status(server, "ann", "wrong") == 503)
        #expect(try await status(server, "ben", SlapdServer.ben.password) == 503)
        try await server.untilLogged("realm people: \(directory.url): no connection: Connection refused")
        try await directory.start()
        try await server.untilLogged("realm people: \(directory.url): the server answers again")
        #expect(try await status(server, "ben", SlapdServer.ben.password) == 200)
        #expect(try await status(server, "ann", "wrong") == 401)
        #expect(!server.log.contains(SlapdServer.ann.password) && !server.log.contains(SlapdServer.service.password))
        #expect(await server.end() == 0)
    }
}
