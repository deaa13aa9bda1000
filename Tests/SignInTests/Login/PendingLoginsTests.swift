// SPDX-License-Identifier: Apache-2.0

import AccessControl
import OpenSSLKit
import RealmKit
import RealmTesting
import SeededRandom
import Testing

@testable import Sessions
@testable import SignIn

extension InteractiveLogin {
    /// Returns a login that has received a password and waits for a code; it is unavailable with the code, and refused
    /// without it.
    fileprivate static func waitingForCode() -> InteractiveLogin {
        InteractiveLogin(name: "zed", password: Secret(utf8: "p"), numbers: QuestionNumbers()) { conversation in
            do throws(LoginFault) {
                _ = try await conversation.answer([.password(prompt: "P")])
                _ = try await conversation.answer([.oneTimeCode(prompt: "C")])
                return .unavailable(nil)
            } catch {
                return .rejected(nil)
            }
        }
    }

    /// True if the login has ended without its code.
    fileprivate var isCancelled: Bool {
        get async { if case .finished(.rejected) = await next() { true } else { false } }
    }
}

@Suite struct PendingLoginsTests {
    private typealias Table = PendingLogins
    private let clock = ManualClock(now: 5)

    private func table(limit: Int = 1000, perNetwork: Int = 20) -> Table {
        Table(limit: limit, perNetwork: perNetwork, lifetime: 600, clock: clock)
    }

    private func browser(_ number: Int) throws -> Digest { try Digest.sha256(Array("\(number)".utf8)) }

    private func waiting(
        _ number: Int,
        from source: String = "192.0.2.1",
        of account: String? = nil
    ) throws -> PendingLogin {
        PendingLogin(
            form: PendingLogin.Form(
                username: try Username(account ?? "user\(number)"),
                password: Secret(utf8: "p"),
                realms: [],
                whenUnavailable: .continue,
                browser: try browser(number),
                client: RequestClient(address: source)
            ),
            interactive: .waitingForCode(),
            start: .init(epoch: RevocationLog<Session>().epoch, generation: 0, authenticator: Authenticator([])),
            question: .init(callbacks: [], number: number)
        )
    }

    /// Returns the numbers of the browsers that have a pending login.
    ///
    /// The table does not change.
    private func present(_ table: Table, _ numbers: Range<Int>) throws -> [Int] {
        let taken = try numbers.compactMap { table.take(try browser($0)) }
        taken.forEach { table.put($0, replacing: false) }
        return taken.compactMap(\.question?.number)
    }

    @Test func `a pending login can be taken only once`() async throws {
        let table = table()
        table.put(try waiting(1))
        #expect(table.count == 1)
        let taken = try #require(table.take(try browser(1)))
        #expect(taken.question?.number == 1)
        #expect(table.count == 0)
        #expect(try table.take(browser(1)) == nil)
        #expect(try table.take(browser(2)) == nil)
        guard case .questions(_, let number) = await taken.interactive.next() else { return #expect(Bool(false)) }
        #expect(taken.interactive.answer([.secret(Secret(utf8: "1"))], to: number))
        #expect(await !taken.interactive.isCancelled)
    }

    @Test func `only one of several concurrent tasks gets a pending login`() async throws {
        let table = table()
        for number in 0..<50 {
            table.put(try waiting(number))
            let browser = try browser(number)
            let taken = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 { group.addTask { table.take(browser) != nil } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(taken == 1)
        }
    }

    @Test func `a new login of a browser cancels its earlier login`() async throws {
        let table = table()
        let (old, new) = (try waiting(1), try waiting(1, from: "192.0.2.2"))
        _ = await old.interactive.next()
        table.put(old)
        table.put(new)
        #expect(await old.interactive.isCancelled)
        #expect(table.count == 1)
        #expect(try table.take(browser(1))?.interactive === new.interactive)
    }

    @Test func `a login that is put back is cancelled if the browser has a newer login`() async throws {
        let table = table()
        let old = try waiting(1)
        _ = await old.interactive.next()
        table.put(old)
        let taken = try #require(table.take(try browser(1)))
        let new = try waiting(1)
        table.put(new)
        #expect(!table.put(taken, replacing: false))
        #expect(await old.interactive.isCancelled)
        #expect(try table.take(browser(1))?.interactive === new.interactive)
        #expect(table.put(new, replacing: false))
    }

    @Test func `if a source has too many logins, its oldest login is cancelled`() async throws {
        let table = table()
        let oldest = try waiting(0)
        _ = await oldest.interactive.next()
        table.put(try waiting(99, from: "192.0.2.2"))
        table.put(oldest)
        for number in 1...20 { table.put(try waiting(number)) }
        #expect(table.count == 21)
        #expect(await oldest.interactive.isCancelled)
        #expect(try present(table, 0..<100) == Array(1...20) + [99])
    }

    @Test func `all addresses of an IPv6 network are the same source`() throws {
        let table = table(perNetwork: 2)
        for number in 0..<3 { table.put(try waiting(number, from: "2001:db8::\(number)")) }
        #expect(try present(table, 0..<3) == [1, 2])
    }

    @Test func `if the table is full, a login of the source with the most logins is cancelled`() throws {
        let table = table(limit: 10, perNetwork: 8)
        table.put(try waiting(0, from: "192.0.2.2"))
        table.put(try waiting(1, from: "192.0.2.3"))
        for number in 2..<10 { table.put(try waiting(number)) }
        #expect(table.count == 10)
        table.put(try waiting(10, from: "192.0.2.4"))
        #expect(try present(table, 0..<11) == [0, 1] + Array(3...10))
        // The source with many logins loses one of its own logins.
        for number in 11..<30 { table.put(try waiting(number)) }
        #expect(table.count == 10)
        #expect(try present(table, 0..<30).prefix(3) == [0, 1, 10])
    }

    @Test func `if sources have equally many logins, the oldest login is cancelled`() throws {
        let table = table(limit: 3)
        for number in 0..<4 { table.put(try waiting(number, from: "192.0.2.\(number)")) }
        #expect(try present(table, 0..<4) == [1, 2, 3])
    }

    @Test func `an expired login is cancelled`() async throws {
        let table = table()
        let (first, second) = (try waiting(1), try waiting(2))
        _ = await first.interactive.next()
        table.put(first)
        clock.advance(by: .nanoseconds(300))
        table.put(second)
        clock.advance(by: .nanoseconds(299))
        table.sweep(clock.now)
        #expect(table.count == 2)
        clock.advance(by: .nanoseconds(1))
        table.sweep(clock.now)
        #expect(table.count == 1)
        #expect(await first.interactive.isCancelled)
        #expect(try table.take(browser(2)) != nil)
    }

    @Test func `an expired login is not returned, even before a sweep`() async throws {
        let table = table()
        let late = try waiting(1)
        _ = await late.interactive.next()
        table.put(late)
        clock.advance(by: .nanoseconds(600))
        #expect(try table.take(browser(1)) == nil)
        #expect(await late.interactive.isCancelled)
    }

    @Test func `all pending logins can be cancelled at once`() async throws {
        let table = table()
        let one = try waiting(1)
        _ = await one.interactive.next()
        table.put(one)
        table.removeAll()
        #expect(table.count == 0)
        #expect(await one.interactive.isCancelled)
        table.put(try waiting(2))
        #expect(table.count == 1)
    }

    @Test func `random operations never exceed the limits`() throws {
        var random = Random(seed: 4)
        let table = table(limit: 12, perNetwork: 5)
        var mine: [Int: PendingLogin] = [:]
        for _ in 0..<3000 {
            let number = random.below(40)
            switch random.below(5) {
            case 0: mine[number] = table.take(try browser(number)) ?? mine[number]
            case 1: mine.removeValue(forKey: number).map { _ = table.put($0, replacing: false) }
            case 2 where random.below(20) == 0:
                clock.advance(by: .nanoseconds(random.below(400)))
                table.sweep(clock.now)
            default: table.put(try waiting(number, from: "192.0.2.\(random.below(4))"))
            }
            #expect(table.count <= 12)
        }
        let left = try (0..<40).compactMap { table.take(try browser($0)) }
        #expect(Dictionary(grouping: left, by: \.form.client.address).values.allSatisfy { $0.count <= 5 })
        #expect(table.count == 0)
    }

    @Test func `neither other sources nor other browsers of its source cancel a login`() throws {
        let table = Table(limit: 100, lifetime: 1000, clock: clock)
        table.put(try waiting(1, from: "192.0.2.1", of: "ann"))
        for number in 2..<22 { table.put(try waiting(number, from: "192.0.2.1", of: "ann")) }
        for number in 22..<42 { table.put(try waiting(number, from: "203.0.113.9", of: "ann")) }
        for number in 42..<82 { table.put(try waiting(number, from: "198.51.100.\(number)", of: "ann")) }
        #expect(try present(table, 0..<100) == Array(1..<82))
    }

    @Test func `an answer with a wrong number does not change a pending login or its deadline`() throws {
        let table = Table(limit: 100, lifetime: 1000, clock: clock)
        table.put(try waiting(1))
        for _ in 0..<4 {
            clock.advance(by: .nanoseconds(240))
            guard case .another = table.take(try browser(1), if: { $0.question?.number == 2 }) else {
                Issue.record("the login was taken")
                return
            }
        }
        clock.advance(by: .nanoseconds(40))
        guard case .none = table.take(try browser(1), if: { $0.question?.number == 1 }) else {
            Issue.record("the login has not expired")
            return
        }
    }
}

extension PendingLogins {
    /// Removes and returns the login of a browser.
    fileprivate func take(_ browser: Digest) -> PendingLogin? {
        if case .taken(let login) = take(browser, if: { _ in true }) { login } else { nil }
    }
}
