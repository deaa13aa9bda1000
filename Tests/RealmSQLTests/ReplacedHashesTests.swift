// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RealmSQL

@Suite struct ReplacedHashesTests {
    private let replaced = ReplacedHashes()

    private func isReplaced(_ stored: String) throws -> Bool {
        try replaced.contains(stored, of: "ann")
    }

    @Test func `a hash that was replaced during a read of the primary server stays replaced`() throws {
        try replaced.add("old", of: "ann")
        let before = replaced.lastNumber
        try replaced.add("old", of: "ann")
        try replaced.remove("old", of: "ann", recordedUntil: before)
        #expect(try isReplaced("old"))
        try replaced.remove("old", of: "ann", recordedUntil: replaced.lastNumber)
        #expect(try !isReplaced("old"))
    }

    @Test func `the oldest of 10,000 hashes is forgotten`() throws {
        for number in 0...10_000 { try replaced.add("\(number)", of: "ann") }
        #expect(try !isReplaced("0") && isReplaced("1") && isReplaced("10000"))
    }
}
