// SPDX-License-Identifier: Apache-2.0

import RealmKit
import SeededRandom
import TestTools
import Testing

@testable import Throttle

struct FailureTableTests {
    private static let second = 1_000_000_000

    private func table(_ capacity: Int, limit: Int = 3) -> FailureTable {
        let rules = FailureTable.Rules(
            limit: limit,
            window: 900 * Self.second,
            lock: 900 * Self.second,
            capacity: capacity
        )
        return FailureTable(rules, isStored: true)
    }

    private func key(_ name: String) -> ThrottleKey { .account(Account(realm: "town", key: name)) }

    @Test func `a flood from one source evicts only its own records`() {
        var table = table(1000)
        for number in 0..<400 {
            _ = table.fail(key("user\(number)"), owner: ClientNetwork("192.0.2.\(number % 200)"), at: number)
        }
        for number in 0..<50_000 {
            _ = table.fail(key("bogus\(number)"), owner: ClientNetwork("198.51.100.9"), at: 1000 + number)
        }
        #expect(table.count == 1000)
        #expect((0..<400).allSatisfy { table.status(key("user\($0)"), at: 60_000) == .open(failures: 1) })
        #expect(table.status(key("bogus49999"), at: 60_000) == .open(failures: 1))
        #expect(table.status(key("bogus0"), at: 60_000) == .open(failures: 0))
    }

    @Test func `a flood from many sources evicts the oldest records first, and locked records last`() {
        var table = table(100)
        for _ in 0..<3 { _ = table.fail(key("ann"), owner: ClientNetwork("192.0.2.1"), at: 0) }
        _ = table.fail(key("bob"), owner: ClientNetwork("192.0.2.2"), at: 0)
        for number in 0..<300 {
            _ = table.fail(
                key("bogus\(number)"),
                owner: ClientNetwork("10.0.\(number / 250).\(number % 250)"),
                at: number
            )
        }
        #expect(table.count == 100)
        #expect(table.status(key("ann"), at: 400) == .locked(failures: 3))
        #expect(table.status(key("bob"), at: 400) == .open(failures: 0))
        for number in 0..<120 {
            for _ in 0..<3 {
                _ = table.fail(key("locked\(number)"), owner: ClientNetwork("192.0.2.9"), at: 500 + number)
            }
        }
        #expect(table.count == 100)
        #expect(table.status(key("ann"), at: 700) == .open(failures: 0))
        #expect(table.status(key("locked119"), at: 700) == .locked(failures: 3))
    }

    @Test func `expired records are evicted first`() {
        var table = table(100)
        for number in 0..<100 { _ = table.fail(key("old\(number)"), owner: nil, at: 0) }
        let later = 1100 * Self.second
        for number in 0..<50 { _ = table.fail(key("new\(number)"), owner: ClientNetwork("192.0.2.1"), at: later) }
        #expect(table.count == 50)
        #expect((0..<50).allSatisfy { table.status(key("new\($0)"), at: later) == .open(failures: 1) })
    }

    @Test func `a withdrawn failure ends the lock that it has caused, and no other lock`() {
        var table = table(100)
        let (old, _) = table.fail(key("ann"), owner: nil, at: 0)
        let (first, _) = table.fail(key("ann"), owner: nil, at: 800 * Self.second)
        // The oldest failure is out of the window when the lock begins.
        for time in [1100, 1200] { _ = table.fail(key("ann"), owner: nil, at: time * Self.second) }
        let now = 1300 * Self.second
        table.withdraw(old, of: key("ann"), at: now)
        #expect(table.status(key("ann"), at: now) == .locked(failures: 3))
        table.withdraw(first, of: key("ann"), at: now)
        #expect(table.status(key("ann"), at: now) == .open(failures: 2))
        #expect(table.fail(key("ann"), owner: nil, at: now).hasLocked)
    }

    @Test(arguments: ["cleared", "all cleared", "unlocked by time"])
    func `a failure that no longer counts takes no other failure with it`(end: String) {
        var table = table(100, limit: 2)
        _ = table.fail(key("ann"), owner: nil, at: 0)
        let (withdrawn, hasLocked) = table.fail(key("ann"), owner: nil, at: 0)
        #expect(hasLocked)
        var now = 0
        switch end {
        case "cleared": table.clear(key("ann"))
        case "all cleared": table.clearAll()
        default:
            now = 900 * Self.second
            table.withdraw(withdrawn, of: key("ann"), at: now)
            #expect(table.status(key("ann"), at: now) == .open(failures: 0))
        }
        for isLast in [false, true] { #expect(table.fail(key("ann"), owner: nil, at: now).hasLocked == isLast) }
        table.withdraw(withdrawn, of: key("ann"), at: now)
        #expect(table.status(key("ann"), at: now) == .locked(failures: 2))
    }

    @Test func `a record of a long name takes a bounded number of bytes`() throws {
        #expect(MemoryLayout<FailureTable.Record>.stride <= 160)
        let long = String(repeating: "ü", count: 500)
        let account = Account(realm: "town", key: long)
        #expect(account.key.utf8.count <= Account.maximumBytes)
        #expect(account != Account(realm: "town", key: long + "x"))
        #expect(account == Account(realm: "town", key: long))
        // A record has links, a key, an index and an owner. Measured with 100,000 accounts and 50,000 sources: 55 MB for
        // short names, 90 MB for long names.
        let maximum =
            MemoryLayout<FailureTable.Record>.stride + 16 + Account.maximumBytes + 32
            + 2 * MemoryLayout<ThrottleKey>.stride + 100
        #expect(maximum * 100_000 < 60_000_000)
    }

    @Test func `an eviction costs as much in a large table as in a small table`() async {
        /// A full table. Each further failure evicts a record.
        struct FullTable {
            var table: FailureTable
            var number = 0

            mutating func fail(_ count: Int) {
                for _ in 0..<count {
                    let account = Account(realm: "town", key: "bogus\(number)")
                    _ = table.fail(.account(account), owner: ClientNetwork("10.0.\(number % 7).1"), at: number)
                    number += 1
                }
            }

            mutating func cost() -> Double { ProcessorTime.measureThread { fail(100) } }
        }
        var (large, small) = (FullTable(table: table(20_000)), FullTable(table: table(200)))
        large.fail(20_000)
        small.fail(200)
        // If the table searched its records, the large table would cost a hundred times as much.
        let ratio = await CostRatio(below: 20, of: { large.cost() }, to: { small.cost() })
        #expect(ratio.value < 20, "\(ratio)")
    }

    @Test(arguments: 0..<20)
    func `links and counts stay consistent under random operations`(seed: UInt64) {
        var random = Random(seed: seed)
        var table = table(20)
        var now = 0
        var counted: [(key: ThrottleKey, failure: FailureTable.CountedFailure)] = []
        for _ in 0..<1000 {
            now += random.below(20) * Self.second
            let name = key("user\(random.below(40))")
            switch random.below(10) {
            case 0: table.clear(name)
            case 1: _ = table.record(name, at: now)
            case 2 where !counted.isEmpty:
                let (key, failure) = counted.remove(at: random.below(counted.count))
                table.withdraw(failure, of: key, at: now)
            default:
                let before = table.record(name, at: now)
                let result = table.fail(name, owner: ClientNetwork("192.0.2.\(random.below(6))"), at: now)
                counted.append((name, result.counted))
                let after = table.record(name, at: now)
                #expect(after != nil)
                if before?.lockEnd != nil {
                    #expect(after?.lockEnd == before?.lockEnd)
                    #expect(!result.hasLocked)
                } else {
                    #expect(result.hasLocked == (after?.lockEnd != nil))
                }
            }
            #expect(table.count <= 20)
            #expect(table.count == table.records.count)
        }
        for record in table.records { table.clear(record.key) }
        #expect(table.count == 0)
        #expect(table.records.isEmpty)
    }
}

struct FailureWindowTests {
    @Test(arguments: 0..<30)
    func `a window counts the failures of the present slot and of the eight slots before it`(seed: UInt64) {
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
            } else if !all.isEmpty {
                window.remove(in: all.remove(at: random.below(all.count)))
            }
            #expect(window.count(in: slot) == all.count { $0 >= slot - 8 })
            #expect(window.count(in: slot + 3) == all.count { $0 >= slot - 5 })
        }
    }

    @Test func `a count that has reached its maximum does not overflow`() {
        var window = FailureWindow(since: 0)
        window.add(Int(UInt16.max), in: 0)
        window.add(in: 0)
        #expect(window.count(in: 0) == Int(UInt16.max))
    }
}
