// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import OpenSSLKit
internal import RealmKit
internal import Sessions

/// The codes by which the sign-in host hands sessions over to other hosts.
///
/// A code is a random value in a URL, so it may appear in a log or in the history of a browser. It is therefore valid
/// once, for 30 seconds, at one origin, and only together with the verifier in a cookie of the browser at that origin
/// (RFC 7636; RFC 9700 section 2.1.1). The server keeps only its digest.
struct HandOverCodes: Sendable {
    /// The time in which a code can be redeemed, in nanoseconds.
    static let lifetime: UInt64 = 30_000_000_000
    /// The maximum number of open codes of a sign-in; a further code replaces the oldest one.
    static let perSession = 20

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

    private struct Code {
        let session: Session
        let origin: SignInSettings.Origin
        let challenge: Digest
    }

    private let table: ExpiringTable<SessionID, Code>

    init(clock: any LoginClock) {
        table = ExpiringTable(limit: 10_000, perOwner: Self.perSession, lifetime: Self.lifetime, clock: clock) { _ in }
    }

    var count: Int { table.count }

    /// Issues a code, for an origin and the challenge of a browser (``Destination/challenge(of:)``).
    func issue(
        for session: Session,
        to origin: SignInSettings.Origin,
        challenge: Digest
    ) throws(OpenSSLError) -> OpaqueToken {
        let code = try OpaqueToken()
        let value = Code(session: session, origin: origin, challenge: challenge)
        table.put(value, for: try code.digest(), of: session.id)
        return code
    }

    /// Redeems a code that was sent to an origin.
    ///
    /// A known code cannot be redeemed again, whatever the result. The caller must check whether the session is still
    /// valid.
    func redeem(_ token: OpaqueToken, at origin: SignInSettings.Origin, challenge: Digest?) -> Redemption {
        guard let digest = try? token.digest(), case .taken(let code) = table.take(digest) else { return .unknown }
        guard code.origin == origin else { return .rejected(code.session, reason: "another host") }
        guard let challenge else { return .withoutVerifier }
        guard code.challenge == challenge else { return .rejected(code.session, reason: "another browser") }
        return .session(code.session)
    }

    func sweep(_ now: UInt64) { table.sweep(now) }
}
