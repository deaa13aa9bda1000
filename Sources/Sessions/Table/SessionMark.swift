// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A moment before a login: what has been ended since then the login may not have seen.
public struct SessionMark: Sendable {
    let generation: UInt64
}

/// That sessions were ended: those of logins that were on their way then are not to begin.
///
/// A login may have been accepted by a password that is no longer good, and come to its session after all others of its
/// user have been ended.
struct Endings: Sendable {
    /// How many are kept; what began before the oldest of them is refused, whoever's it is.
    static let kept = 1000

    private struct Ending {
        let generation: UInt64
        let isMeant: @Sendable (Session) -> Bool
    }

    private var endings: [Ending] = []
    private var least: UInt64 = 0
    private var generation: UInt64 = 0

    var mark: SessionMark { SessionMark(generation: generation) }

    mutating func add(_ isMeant: @escaping @Sendable (Session) -> Bool) {
        generation += 1
        endings.append(Ending(generation: generation, isMeant: isMeant))
        if endings.count > Self.kept { least = endings.removeFirst().generation }
    }

    /// Whether a session that is about to begin would have been ended since a mark.
    func mean(_ session: Session, since mark: SessionMark) -> Bool {
        guard mark.generation >= least else { return true }
        for ending in endings.reversed() {
            guard ending.generation > mark.generation else { return false }
            if ending.isMeant(session) { return true }
        }
        return false
    }
}
