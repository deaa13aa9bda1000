// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import OpenSSLKit
import RealmKit
import Sessions
import Testing

@testable import GatehouseCommand

@Suite struct SessionJSONTests {
    @Test func `a session that was handed over has the id of its sign-in, and no token`() throws {
        let ids = try ["AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAQ"].map { try #require(SessionID($0)) }
        let session = SessionRecord(
            ids[1],
            token: try Digest.sha256([1]),
            user: SignedInUser(realm: "town", username: try Username("a\u{202E}\"nn"), groups: ["Staff"]),
            host: try #require(SessionHost("wiki.example")),
            parent: ids[0],
            client: SessionClient(address: nil, userAgent: "browser"),
            created: 1_795_314_573,
            lastSeen: 1_795_314_574,
            idleExpiry: 1_795_314_600,
            absoluteExpiry: 1_795_314_590,
            stamp: nil
        )
        #expect(
            session.json == #"""
                {"client":"browser","expires":"2026-11-22T02:29:50Z","host":"wiki.example","id":"AAAAAAAAAAAAAAAAAAAAAQ","lastUsed":"2026-11-22T02:29:34Z","parent":"AAAAAAAAAAAAAAAAAAAAAA","realm":"town","started":"2026-11-22T02:29:33Z","user":"a\u202e\"nn"}
                """#
        )
    }

    @Test func `further rows of a table are aligned with its first rows`() {
        let columns = Table.Columns(of: [["user", "realm", "host"], ["ann", "town", "a"]])
        #expect(columns.lines([["bob", "t", "b"]]) == ["bob   t      b"])
        #expect(columns.lines([["a longer name", "t", "b", "more"]]) == ["a longer name  t      b     more"])
    }
}
