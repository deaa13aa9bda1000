// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Synchronization

/// The codes by which the sign-in host hands sessions over to other hosts.
///
/// A code is a random value in a URL, so it may appear in a log or in the history of a browser. It is therefore valid
/// once, for 30 seconds, at one origin, and only together with the verifier in a cookie of the browser at that origin
/// (RFC 7636; RFC 9700 section 2.1.1). The server keeps only its digest.
///
/// The table may be used from any thread.
final class HandOverCodes: Sendable {
    /// The time in which a code can be redeemed, in nanoseconds.
    static let lifetime: UInt64 = 30_000_000_000
    /// The maximum number of open codes of a sign-in; a further code replaces the oldest one.
    static let perSession = 20
    /// The maximum number of open codes; a further code replaces the oldest one.
    static let total = 10_000

    /// The result of redeeming a code.
    enum Redemption: Sendable {
        /// The code was valid. The session is the session of the sign-in.
        case session(Session)
        /// There is no such code: it was never issued, was redeemed before, or has expired.
        case unknown
        /// The browser has no verifier: another tab has completed its hand-over, or the verifier has expired.
        case withoutVerifier
        /// The code is not valid at this origin or in this browser.
        case rejected(Session, reason: String)
    }

    private struct Entry {
        let session: Session
        let origin: SignInSettings.Origin
        let challenge: Digest
        let deadline: UInt64
    }

    private struct State {
        var entries: [Digest: Entry] = [:]
        var bySession: [SessionID: [Digest]] = [:]

        mutating func remove(_ code: Digest) -> Entry? {
            guard let entry = entries.removeValue(forKey: code) else { return nil }
            let id = entry.session.id
            bySession[id]?.removeAll { $0 == code }
            if bySession[id]?.isEmpty == true { bySession[id] = nil }
            return entry
        }
    }

    private let clock: any LoginClock
    private let state = Mutex(State())

    init(clock: any LoginClock) { self.clock = clock }

    var count: Int { state.withLock { $0.entries.count } }

    /// Issues a code, for an origin and the challenge of a browser (``Destination/challenge(of:)``).
    func issue(
        for session: Session,
        to origin: SignInSettings.Origin,
        challenge: Digest
    ) throws(OpenSSLError) -> OpaqueToken {
        let code = try OpaqueToken()
        let digest = try code.digest()
        let (deadline, overflow) = clock.now.addingReportingOverflow(Self.lifetime)
        let entry = Entry(
            session: session,
            origin: origin,
            challenge: challenge,
            deadline: overflow ? .max : deadline
        )
        state.withLock { state in
            if let own = state.bySession[session.id], own.count >= Self.perSession { _ = state.remove(own[0]) }
            if state.entries.count >= Self.total,
                let oldest = state.entries.min(by: { $0.value.deadline < $1.value.deadline })?.key
            {
                _ = state.remove(oldest)
            }
            state.entries[digest] = entry
            state.bySession[session.id, default: []].append(digest)
        }
        return code
    }

    /// Redeems a code that was sent to an origin.
    ///
    /// A known code cannot be redeemed again, whatever the result. The caller must check whether the session is still
    /// valid.
    func redeem(_ code: OpaqueToken, at origin: SignInSettings.Origin, challenge: Digest?) -> Redemption {
        guard let digest = try? code.digest(), let entry = state.withLock({ $0.remove(digest) }),
            clock.now < entry.deadline
        else { return .unknown }
        guard entry.origin == origin else { return .rejected(entry.session, reason: "another host") }
        guard let challenge else { return .withoutVerifier }
        guard entry.challenge == challenge else { return .rejected(entry.session, reason: "another browser") }
        return .session(entry.session)
    }

    func sweep(_ now: UInt64) {
        state.withLock { state in
            for code in state.entries.filter({ $0.value.deadline <= now }).keys { _ = state.remove(code) }
        }
    }
}
