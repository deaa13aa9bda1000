// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Synchronization
import Testing

@testable import Passwords

@Suite struct CalibrationTests {
    /// A calibration on a simulated machine.
    ///
    /// A pass of Argon2id over one MiB takes `perMiB`. bcrypt with cost 10 takes sixty times as long.
    private func calibration(_ target: Duration, perMiB: Duration) -> Calibration {
        let clock = Clock()
        return Calibration(target: target, now: { clock.now }) { policy in
            switch policy.scheme {
            case .argon2id(let memory, let passes, _): clock.advance(perMiB * (Double(memory * passes) / 1024))
            case .bcrypt(let cost): clock.advance(perMiB * (60 << (cost - 10)))
            case .yescrypt, .sha512crypt, .scrypt, .pbkdf2SHA256, .pbkdf2SHA512: Issue.record("not measured")
            }
        }
    }

    private final class Clock: Sendable {
        private let time = Mutex(Duration.zero)
        var now: Duration { time.withLock { $0 } }
        func advance(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    @Test func `memory is raised until the target time is reached`() throws {
        let result = try calibration(.milliseconds(100), perMiB: .milliseconds(1)).argon2id(memory: 1 << 30)
        #expect("\(result.policy)" == "argon2id memory=50MiB passes=2 lanes=1")
        #expect(result.time == .milliseconds(100))
    }

    @Test func `passes are raised when the memory has reached its maximum`() throws {
        let result = try calibration(.milliseconds(200), perMiB: .milliseconds(1)).argon2id(memory: 32 << 20)
        #expect("\(result.policy)" == "argon2id memory=32MiB passes=6 lanes=1")
    }

    @Test func `on a slow machine the policy is OWASP's minimum`() throws {
        let result = try calibration(.milliseconds(10), perMiB: .milliseconds(5)).argon2id(memory: 1 << 30)
        #expect(result.policy == .standard)
        #expect(result.time == .milliseconds(190))
    }

    @Test func `a small memory budget is never exceeded, even if the target time is not reached`() throws {
        let result = try calibration(.milliseconds(100), perMiB: .milliseconds(1)).argon2id(memory: 8 << 20)
        #expect("\(result.policy)" == "argon2id memory=8MiB passes=12 lanes=1")
        let none = try calibration(.seconds(100_000), perMiB: .nanoseconds(1)).argon2id(memory: 0)
        #expect("\(none.policy)" == "argon2id memory=64KiB passes=64 lanes=1")
    }

    @Test func `bcrypt's cost is raised until the target time is reached`() throws {
        let result = try calibration(.milliseconds(250), perMiB: .milliseconds(1)).bcrypt()
        #expect("\(result.policy)" == "bcrypt cost=12")
        let slow = try calibration(.milliseconds(10), perMiB: .milliseconds(1)).bcrypt()
        #expect("\(slow.policy)" == "bcrypt cost=10")
    }

    @Test func `a real hash is measured`() throws {
        let clock = ContinuousClock()
        let begin = clock.now
        let result = try Calibration(target: .milliseconds(1)) { begin.duration(to: clock.now) }.argon2id(
            memory: 1 << 20
        )
        #expect(result.time > .zero)
        #expect(
            !result.policy.needsRehash(of: try PasswordFormats.read(try result.policy.hash(Secret(utf8: "secret"))))
        )
    }
}
