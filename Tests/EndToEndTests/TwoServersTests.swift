// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Two servers: the users are at the first, and the second asks the first through its realm API.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct TwoServersTests {
    private static let token = "f3b0c44298fc1c149afbf4c8996fb924"

    private let people: People

    init() throws {
        people = try People(
            People.configuration(
                passwords: "hash bcrypt cost=6;",
                server: """
                    throttle { failures 50; delay 0s; }
                    realm-api { client second { realm people; token "${file:token}"; } }
                    """
            )
        )
        try people.folder.write("\(Self.token)\n", to: "token")
    }

    private func second(of first: RunningServer, cache: String = "") throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            login remoteRealm { RemoteLoginModule required; }
            realm remote {
                class      RemoteRealm;
                gatehouse  \(first.url)/realms/people/check;
                token      "${file:\(people.folder.url.path)/token}";
                ca-file    "\(first.certificate)";
                \(cache)
            }
            server { listen 127.0.0.1:0; credential-cache 0s; throttle { failures 50; delay 0s; } }
            protect /welcome { realm remote; auth basic; require group Staff; }
            """,
            to: "realms.conf"
        )
        return folder
    }

    private func status(_ server: RunningServer, _ name: String, _ password: String) async throws -> Int {
        try await server.request("/welcome", "-u", "\(name):\(password)").status
    }

    @Test func `users of the first server sign in at the second`() async throws {
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        #expect(try await people.add("bob").status == 0)
        let first = try await RunningServer(in: people.folder)
        let server = try await RunningServer(in: try second(of: first))
        #expect(try await status(server, "ann", People.password) == 200)
        #expect(try await status(server, "bob", People.password) == 403)
        #expect(try await status(server, "ann", "wrong") == 401)
        #expect(try await status(server, "cid", People.password) == 401)
        #expect(!server.log.contains(People.password) && !server.log.contains(Self.token))
        #expect(!first.log.contains(People.password))
        #expect(await server.end() == 0)
        #expect(await first.end() == 0)
    }

    @Test func `while the first server is down, the second answers 503, and logs the cause`() async throws {
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        let first = try await RunningServer(in: people.folder)
        let server = try await RunningServer(in: try second(of: first))
        #expect(try await status(server, "ann", People.password) == 200)
        await first.kill()
        #expect(try await status(server, "ann", People.password) == 503)
        #expect(try await status(server, "ann", "wrong") == 503)
        try await server.untilLogged("cannot connect", "refused", "connection")
        #expect(await server.end() == 0)
    }

    @Test func `with stale-if-unavailable, only remembered logins are accepted while the first server is down`()
        async throws
    {
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        #expect(try await people.add("bob", "--group", "Staff").status == 0)
        let first = try await RunningServer(in: people.folder)
        let folder = try second(of: first, cache: "cache { ttl 0s; stale-if-unavailable 10m; }")
        let server = try await RunningServer(in: folder)
        #expect(try await status(server, "ann", People.password) == 200)
        await first.kill()
        #expect(try await status(server, "ann", People.password) == 200)
        try await server.untilLogged("ann was accepted from the cache")
        #expect(try await status(server, "ann", "wrong") == 503)
        #expect(try await status(server, "bob", People.password) == 503)
        #expect(await server.end() == 0)
    }
}
