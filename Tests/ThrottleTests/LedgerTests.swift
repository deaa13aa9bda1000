// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import SeededRandom
import Testing

@testable import Throttle

struct LedgerTests {
    private static let second = 1_000_000_000

    private func ledger(_ capacity: Int, limit: Int = 3) -> Ledger {
        let rules = Ledger.Rules(limit: limit, window: 900 * Self.second, lock: 900 * Self.second, capacity: capacity)
        return Ledger(rules, isStored: true)
    }

    private func key(_ name: String) -> ThrottleKey { .account(Account(realm: "town", key: name)) }

    @Test func `a flood from one source pushes out its own records and nobody else's`() {
        var ledger = ledger(1000)
        for number in 0..<400 {
            _ = ledger.fail(key("user\(number)"), owner: Source("192.0.2.\(number % 200)"), number)
        }
        for number in 0..<50_000 {
            _ = ledger.fail(key("bogus\(number)"), owner: Source("198.51.100.9"), 1000 + number)
        }
        #expect(ledger.count == 1000)
        #expect((0..<400).allSatisfy { ledger.standing(key("user\($0)"), 60_000) == .open(failures: 1) })
        #expect(ledger.standing(key("bogus49999"), 60_000) == .open(failures: 1))
        #expect(ledger.standing(key("bogus0"), 60_000) == .open(failures: 0))
    }

    @Test func `a flood from many sources pushes out the oldest, and locked ones last`() {
        var ledger = ledger(100)
        for _ in 0..<3 { _ = ledger.fail(key("ann"), owner: Source("192.0.2.1"), 0) }
        _ = ledger.fail(key("bob"), owner: Source("192.0.2.2"), 0)
        for number in 0..<300 {
            _ = ledger.fail(key("bogus\(number)"), owner: Source("10.0.\(number / 250).\(number % 250)"), number)
        }
        #expect(ledger.count == 100)
        #expect(ledger.standing(key("ann"), 400) == .locked(failures: 3))
        #expect(ledger.standing(key("bob"), 400) == .open(failures: 0))
        for number in 0..<120 {
            for _ in 0..<3 { _ = ledger.fail(key("locked\(number)"), owner: Source("192.0.2.9"), 500 + number) }
        }
        #expect(ledger.count == 100)
        #expect(ledger.standing(key("ann"), 700) == .open(failures: 0))
        #expect(ledger.standing(key("locked119"), 700) == .locked(failures: 3))
    }

    @Test func `what says nothing any more makes room first`() {
        var ledger = ledger(100)
        for number in 0..<100 { _ = ledger.fail(key("old\(number)"), owner: nil, 0) }
        let later = 1100 * Self.second
        for number in 0..<50 { _ = ledger.fail(key("new\(number)"), owner: Source("192.0.2.1"), later) }
        #expect(ledger.count == 50)
        #expect((0..<50).allSatisfy { ledger.standing(key("new\($0)"), later) == .open(failures: 1) })
    }

    @Test func `a record takes a bounded number of bytes, however long the name`() throws {
        #expect(MemoryLayout<Ledger.Record>.stride <= 160)
        let long = String(repeating: "ü", count: 500)
        let account = Account(realm: "town", key: long)
        #expect(account.key.utf8.count <= Account.maximumBytes)
        #expect(account != Account(realm: "town", key: long + "x"))
        #expect(account == Account(realm: "town", key: long))
        // Record, links, key, index and owner. Measured, with 100,000 accounts of 50,000 sources: 55 MB for short names,
        // 90 MB for long ones.
        let most =
            MemoryLayout<Ledger.Record>.stride + 16 + Account.maximumBytes + 32
            + 2 * MemoryLayout<ThrottleKey>.stride + 100
        #expect(most * 100_000 < 60_000_000)
    }

    @Test func `making room takes as long in a large table as in a small one`() {
        func time(_ capacity: Int) -> Duration {
            var ledger = ledger(capacity)
            func fail(_ numbers: Range<Int>) {
                for number in numbers {
                    _ = ledger.fail(key("bogus\(number)"), owner: Source("10.0.\(number % 7).1"), number)
                }
            }
            fail(0..<capacity)
            // The best of several: others use the processor too.
            return (1...5).map { turn in
                ContinuousClock().measure { fail(capacity * turn * 2..<capacity * turn * 2 + 100) }
            }.min() ?? .zero
        }
        // A search would take a hundred times as long.
        #expect(time(20_000) < time(200) * 20)
    }

    @Test(arguments: 0..<20)
    func `chains and counts stay right, whatever happens`(seed: UInt64) {
        var random = Random(seed: seed)
        var ledger = ledger(20)
        var now = 0
        for _ in 0..<1000 {
            now += random.below(20) * Self.second
            let name = key("user\(random.below(40))")
            switch random.below(10) {
            case 0: ledger.clear(name)
            case 1: _ = ledger.record(name, now)
            default:
                let before = ledger.record(name, now)
                let result = ledger.fail(name, owner: Source("192.0.2.\(random.below(6))"), now)
                let after = ledger.record(name, now)
                #expect(after != nil)
                if before?.lockEnd != nil {
                    #expect(after?.lockEnd == before?.lockEnd)
                    #expect(!result.hasLocked)
                } else {
                    #expect(result.hasLocked == (after?.lockEnd != nil))
                }
            }
            #expect(ledger.count <= 20)
            #expect(ledger.count == ledger.records.count)
        }
        for record in ledger.records { ledger.clear(record.key) }
        #expect(ledger.count == 0)
        #expect(ledger.records.isEmpty)
    }
}

struct FailureWindowTests {
    @Test(arguments: 0..<30)
    func `a window counts what it must, and no more than an eighth beyond`(seed: UInt64) {
        var random = Random(seed: seed)
        let start = random.below(100) - 50
        var window = FailureWindow(since: start)
        var all: [Int] = []
        var slot = start
        for _ in 0..<500 {
            slot += random.below(4) == 0 ? random.below(12) : 0
            if random.below(3) > 0 {
                window.add(in: slot)
                all.append(slot)
            }
            #expect(window.count(in: slot) == all.count { $0 >= slot - 8 })
            #expect(window.count(in: slot + 3) == all.count { $0 >= slot - 5 })
        }
    }

    @Test func `a count stops at what it can hold`() {
        var window = FailureWindow(since: 0)
        window.add(Int(UInt16.max), in: 0)
        window.add(in: 0)
        #expect(window.count(in: 0) == Int(UInt16.max))
    }
}
