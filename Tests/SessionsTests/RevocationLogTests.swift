// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sessions

@Suite struct RevocationLogTests {
    @Test func `a revocation applies to matching sessions that began before it`() {
        var log = RevocationLog<String>()
        let before = log.epoch
        #expect(!log.hasRevoked("ann", since: before))
        log.revoke { $0 == "ann" }
        let between = log.epoch
        log.revoke { $0 == "bob" }
        #expect(log.hasRevoked("ann", since: before))
        #expect(log.hasRevoked("bob", since: before))
        #expect(!log.hasRevoked("eve", since: before))
        #expect(!log.hasRevoked("ann", since: between))
        #expect(log.hasRevoked("bob", since: between))
        #expect(!log.hasRevoked("bob", since: log.epoch))
    }

    @Test func `for an epoch before the oldest kept revocation, everything counts as revoked`() {
        var log = RevocationLog<String>()
        let oldest = log.epoch
        log.revoke { _ in false }
        let second = log.epoch
        for _ in 1..<RevocationLog<String>.capacity { log.revoke { _ in false } }
        #expect(!log.hasRevoked("ann", since: oldest))
        log.revoke { _ in false }
        #expect(log.hasRevoked("ann", since: oldest))
        #expect(!log.hasRevoked("ann", since: second))
        log.revoke { _ in false }
        #expect(log.hasRevoked("ann", since: second))
        #expect(!log.hasRevoked("ann", since: log.epoch))
    }

    @Test func `the log keeps 1,000 revocations`() { #expect(RevocationLog<Int>.capacity == 1000) }
}
