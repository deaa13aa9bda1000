// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What a store has not been told yet.
struct StoreBacklog: Sendable {
    let isStored: Bool
    /// The last order that was carried out.
    var lastOrder = 0
    /// Sessions to be forgotten.
    private(set) var removals: Set<SessionID> = []
    /// Sessions that were used.
    private var touched: [Session] = []
    /// What the wall clock shows more than the other, in seconds, when times were last stored.
    private var offset: Int?

    init(isStored: Bool) { self.isStored = isStored }

    mutating func remove(_ id: SessionID) {
        if isStored { removals.insert(id) }
    }

    mutating func hasRemoved(_ ids: [SessionID]) { removals.subtract(ids) }

    mutating func touch(_ session: Session) {
        if isStored { touched.append(session) }
    }

    /// Those whose times are to be stored, which then are taken to be.
    mutating func takeTouched() -> [Session] {
        let taken = touched
        touched = []
        for session in taken { session.forgetTouch() }
        return taken
    }

    /// Whether somebody has set the clock since times were last stored: they mean other times then.
    mutating func hasShifted(_ now: UInt64, wall: Int) -> Bool {
        let offset = wall - Int(clamping: now / 1_000_000_000)
        defer { self.offset = offset }
        return self.offset.map { abs(offset - $0) > 2 } ?? false
    }
}
