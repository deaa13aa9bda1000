// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import SeededRandom
import Testing

@testable import Throttle

/// Tests with random attempts; the first test compares the throttle with a simple model.
struct RandomAttemptsTests {
    /// A simple model of the throttle, which keeps every failure.
    private struct Model {
        struct Entry {
            var failures: [Int] = []
            var running = 0
            var lockEnd: Int?
        }

        let limits: [Bool: Int]
        var entries: [String: Entry] = [:]

        /// The length of a slot in seconds.
        ///
        /// The window has eight slots.
        static let slot = 10

        mutating func settle(_ key: String, _ now: Int) {
            var entry = entries[key, default: Entry()]
            if let end = entry.lockEnd, now >= end { entry = Entry(running: entry.running) }
            entry.failures.removeAll { $0 / Self.slot < now / Self.slot - 8 }
            entries[key] = entry
        }

        func limit(_ key: String) -> Int { limits[key.hasPrefix("192")] ?? 0 }

        /// Returns the keys at which an attempt gets reservations; nil if it waits.
        mutating func admit(_ name: String, from peer: String, _ now: Int) -> [String]? {
            for key in [name, peer] { settle(key, now) }
            if entries[peer]?.lockEnd != nil { return [] }
            // An attempt at a locked account counts for its source.
            let keys = [name, peer].filter { entries[$0]?.lockEnd == nil }
            for key in keys {
                guard let entry = entries[key] else { continue }
                if entry.failures.count + entry.running >= limit(key) { return nil }
            }
            for key in keys { entries[key]?.running += 1 }
            return keys
        }

        mutating func end(_ keys: [String], _ result: AttemptResult, _ now: Int) {
            for key in keys {
                settle(key, now)
                entries[key]?.running -= 1
                switch result {
                case .notCounted, .acceptedElsewhere: break
                case .success: if key.hasPrefix("user") { entries[key]?.failures = [] }
                case .failure:
                    entries[key]?.failures.append(now)
                    if entries[key]?.failures.count == limit(key) { entries[key]?.lockEnd = now + 100 }
                }
            }
        }
    }

    @Test(arguments: 0..<20)
    func `the throttle admits and counts random attempts like the model`(seed: UInt64) throws {
        var random = Random(seed: seed)
        var settings = ThrottleSettings()
        settings.failures = 1 + random.below(5)
        settings.sourceFailures = 2 + random.below(10)
        for window in [\ThrottleSettings.window, \.sourceWindow] { settings[keyPath: window] = .seconds(80) }
        for lock in [\ThrottleSettings.lock, \.sourceLock] { settings[keyPath: lock] = .seconds(100) }
        var state = ThrottleState(settings, isStored: false)
        var model = Model(limits: [false: settings.failures, true: settings.sourceFailures])
        var open: [(login: Reservation, keys: [String])] = []
        var now = 0
        for _ in 0..<1000 {
            now += random.below(3) == 0 ? random.below(30) : 0
            let moment = now * 1_000_000_000
            if !open.isEmpty, random.below(2) == 0 {
                let (login, keys) = open.remove(at: random.below(open.count))
                // A login at a locked account never succeeds.
                let results = [AttemptResult.failure, .failure, .failure, .notCounted, .success]
                let result = results[random.below(keys.count == 2 ? 5 : 4)]
                _ = state.settle(login, results: login.accounts.map { ($0, result) }, at: moment)
                model.end(keys, result, now)
            } else {
                let (name, peer) = ("user\(random.below(4))", "192.0.2.\(random.below(3))")
                let wanted = Reservation([Account(realm: "town", key: name)], from: ClientNetwork(peer))
                let login = state.admit(wanted, at: moment)
                let keys = model.admit(name, from: peer, now)
                #expect(login?.reserved.count == keys?.count)
                if let login, let keys, !keys.isEmpty { open.append((login, keys)) }
            }
            for (name, entry) in model.entries {
                #expect(entry.running >= 0)
                #expect(entry.failures.count + entry.running <= model.limit(name) || entry.lockEnd != nil)
            }
        }
        for (login, _) in open { _ = state.settle(login, results: [], at: now * 1_000_000_000) }
        #expect(state.pending == (0, 0))
    }

    @Test(arguments: 0..<20)
    func `random tasks with cancellations leave no reservation behind`(seed: UInt64) async throws {
        var random = Random(seed: seed)
        let fixture = try ThrottleFixture {
            $0.failures = 3
            $0.sourceFailures = 8
        }
        var logins: [Task<LoginReport, any Error>] = []
        for _ in 0..<300 {
            let (name, peer) = ("user\(random.below(4))", "192.0.2.\(random.below(3))")
            let password = ["right", "wrong"][random.below(2)]
            let login = Task { try await fixture.login(name, password, from: peer) }
            if random.below(5) == 0 { login.cancel() }
            logins.append(login)
            if random.below(20) == 0 { fixture.clock.advance(by: .seconds(random.below(300))) }
            if random.below(50) == 0 { fixture.throttle.clear(.all) }
        }
        for login in logins { _ = try await login.value }
        #expect(fixture.throttle.pending == (0, 0))
    }

    /// The limits are low, so that attempts wait.
    ///
    /// If an attempt that waits at one realm had a reservation at another realm, attempts could wait for each other.
    @Test(arguments: 0..<20)
    func `attempts at several realms in any order all complete`(seed: UInt64) async throws {
        var random = Random(seed: seed)
        let names = ["town", "city", "port"]
        let check = [LoginStack.Entry(PasswordCheck(), .required)]
        let fixture = try ThrottleFixture(
            {
                $0.failures = 2
                $0.sourceFailures = 3
            },
            others: ["city": check, "port": [LoginStack.Entry(PasswordCheck("other"), .required)]]
        )
        var logins: [Task<MultiRealmLoginReport, any Error>] = []
        for _ in 0..<300 {
            let realms = names.shuffled(using: &random).prefix(1 + random.below(3))
            let name = "user\(random.below(3))"
            let peer = "192.0.2.\(random.below(3))"
            let password = ["right", "wrong", "other"][random.below(3)]
            let login = Task { try await fixture.login(name, password, in: Array(realms), from: peer) }
            if random.below(5) == 0 { login.cancel() }
            logins.append(login)
            if random.below(50) == 0 { fixture.throttle.clear(.all) }
        }
        for login in logins { _ = try await login.value }
        #expect(fixture.throttle.pending == (0, 0))
    }
}
