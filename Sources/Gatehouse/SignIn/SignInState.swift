// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Synchronization

/// What is known of people who sign in: it outlives the configuration, which may be read again.
final class SignInState: Sendable {
    /// What a login that waits for a person has to remember.
    struct Pending: Sendable {
        /// Where somebody wanted to go.
        let target: String?
        /// What is said before that.
        let messages: [String]
        /// What is asked.
        let questions: [Callback]
        let number: Int
        /// When it began, as sessions count.
        let mark: SessionMark
    }

    /// Who has signed in.
    let sessions: SessionTable
    let tickets: SignInTickets
    let waiting: WaitingLogins<SignInAttempt, Pending>
    /// The names that were typed and not accepted, to be shown again.
    let names: RecentNames
    let clock: any LoginClock
    let wall: WallClock

    init(
        sessions: SessionTable,
        settings: SignInSettings,
        clock: any LoginClock,
        wall: WallClock
    ) throws(OpenSSLError) {
        self.sessions = sessions
        tickets = try SignInTickets()
        waiting = WaitingLogins(limit: settings.waiting, time: settings.time.nanoseconds, clock: clock)
        names = RecentNames()
        self.clock = clock
        self.wall = wall
    }
}

/// The last names that were typed and not accepted, by browser; so that they need not stand in an address.
final class RecentNames: Sendable {
    private static let bound = 1000

    private let names = Mutex((texts: [Digest: String](), order: [Digest]()))

    /// Keeps a name for the page that is shown next.
    func put(_ name: String, _ browser: Digest) {
        names.withLock { names in
            if names.texts.updateValue(name, forKey: browser) == nil { names.order.append(browser) }
            if names.order.count > Self.bound { names.texts[names.order.removeFirst()] = nil }
        }
    }

    /// The name, once.
    func take(_ browser: Digest) -> String? {
        names.withLock { names in
            guard let name = names.texts.removeValue(forKey: browser) else { return nil }
            names.order.removeAll { $0 == browser }
            return name
        }
    }
}
