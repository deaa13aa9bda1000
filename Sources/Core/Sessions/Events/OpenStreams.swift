// SPDX-License-Identifier: Apache-2.0

/// The open event streams of all sessions.
struct OpenStreams: Sendable {
    private struct Entry: Sendable {
        let stream: EventStream
        let session: SessionID
        let owner: SessionOwner
    }

    private var entries: [UInt64: Entry] = [:]
    private var countBySession: [SessionID: Int] = [:]
    /// The numbers of the streams of each user, the oldest first.
    private var byOwner: [SessionOwner: [UInt64]] = [:]
    private var lastNumber: UInt64 = 0
    private var isClosed = false

    /// True if nothing is kept.
    var isEmpty: Bool { entries.isEmpty && countBySession.isEmpty && byOwner.isEmpty }

    /// All streams, in no order.
    var streams: [EventStream] { entries.values.map(\.stream) }

    /// Adds a stream.
    ///
    /// If there are too many streams, the oldest stream of the user with the most streams must end, unless the user of the
    /// new stream would then have the most.
    ///
    /// - Returns: The number of the stream, and the stream that must end.
    /// - Throws: ``SessionFault``: `closing`, `tooManyStreams`.
    mutating func open(
        _ stream: EventStream,
        of session: Session,
        limits: SessionSettings
    ) throws(SessionFault) -> (number: UInt64, evicted: EventStream?) {
        guard !isClosed else { throw .closing }
        let owner = SessionOwner(session.user)
        let own = byOwner[owner]?.count ?? 0
        guard countBySession[session.id, default: 0] < limits.streamsPerSession, own < limits.streamsPerUser else {
            throw .tooManyStreams
        }
        var evicted: EventStream?
        if entries.count >= limits.streams {
            guard let most = byOwner.values.max(by: { $0.count < $1.count }), most.count > own + 1 else {
                throw .tooManyStreams
            }
            evicted = entries[most[0]]?.stream
            close(most[0])
        }
        lastNumber += 1
        entries[lastNumber] = Entry(stream: stream, session: session.id, owner: owner)
        countBySession[session.id, default: 0] += 1
        byOwner[owner, default: []].append(lastNumber)
        return (lastNumber, evicted)
    }

    /// Removes a stream; does nothing if it was removed before.
    mutating func close(_ number: UInt64) {
        guard let entry = entries.removeValue(forKey: number) else { return }
        let count = countBySession[entry.session, default: 1] - 1
        countBySession[entry.session] = count > 0 ? count : nil
        byOwner[entry.owner]?.removeAll { $0 == number }
        if byOwner[entry.owner]?.isEmpty == true { byOwner[entry.owner] = nil }
    }

    /// Rejects new streams from now on.
    ///
    /// - Returns: The open streams, to be ended by the caller.
    mutating func closeAll() -> [EventStream] {
        isClosed = true
        return streams
    }
}
