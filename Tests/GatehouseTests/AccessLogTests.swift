// SPDX-License-Identifier: Apache-2.0

import AccessControl
import RealmConfiguration
import RealmKit
import Synchronization
import Testing

@testable import Gatehouse

@Suite struct AccessLogTests {
    private final class Lines: AccessLogOutput {
        let texts = Mutex<[String]>([])

        func write(_ line: Span<UInt8>) {
            let text = unsafe line.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
            texts.withLock { $0.append(text) }
        }
    }

    /// Returns the line of an entry, with `?` for its duration.
    private static func line(_ change: (inout AccessLog.Entry) throws -> Void) throws -> String {
        let lines = Lines()
        let log = AccessLog(lines, clock: SystemClock(), isEnabled: true)
        var entry = AccessLog.Entry(peer: "192.0.2.1", method: "GET", status: 200, length: 12)
        try change(&entry)
        log.write(entry, since: log.now)
        let texts = lines.texts.withLock { $0 }
        return try #require(texts.count == 1 ? texts[0] : nil).replacing(#/ \d+us/#, with: " ?us")
    }

    @Test func `a line has the client, the user, the request, the response and the duration`() throws {
        let line = try Self.line { entry in
            entry.user = (try Username("zed"), "xtech")
            entry.path = RequestPath(target: "/a/b/")
            entry.remarks = (" first", " second", " third")
        }
        #expect(line == #"192.0.2.1 "zed"@"xtech" "GET" "/a/b/" 200 12 ?us first second third"#)
        #expect(try Self.line { $0.peer = nil } == #"- - "GET" (ambiguous path) 200 12 ?us"#)
    }

    @Test func `text of a client cannot end its quotes or its line`() throws {
        let line = try Self.line { entry in
            entry.user = (try Username("a\"b\\c"), "r")
            entry.method = "G\r\n\""
            entry.path = RequestPath(target: "/%22%20x/%C2%85")
        }
        let isForged = line.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{2028}" }
        #expect(!isForged, "\(line)")
        // The quotes of the user, the realm, the method and the path, and no others.
        #expect(line.replacing("\\\"", with: "").count { $0 == "\"" } == 8, "\(line)")
    }
}
