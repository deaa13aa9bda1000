// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The open event streams of all sessions.
struct OpenStreams: Sendable {
    /// The streams by their numbers.
    private(set) var streams: [UInt64: EventStream] = [:]
    private(set) var countBySession: [SessionID: Int] = [:]
    private var lastNumber: UInt64 = 0
    private var isClosed = false

    /// Adds a stream.
    ///
    /// - Returns: The number of the stream.
    /// - Throws: ``SessionFault``: `closing`, `tooManyStreams`.
    mutating func open(
        _ stream: EventStream,
        of id: SessionID,
        limits: SessionSettings
    ) throws(SessionFault) -> UInt64 {
        guard !isClosed else { throw .closing }
        let count = countBySession[id, default: 0]
        guard count < limits.streamsPerSession, streams.count < limits.streams else { throw .tooManyStreams }
        lastNumber += 1
        streams[lastNumber] = stream
        countBySession[id] = count + 1
        return lastNumber
    }

    mutating func close(_ number: UInt64, of id: SessionID) {
        guard streams.removeValue(forKey: number) != nil else { return }
        let count = countBySession[id, default: 0] - 1
        countBySession[id] = count > 0 ? count : nil
    }

    /// Rejects new streams from now on.
    ///
    /// - Returns: The open streams, to be ended by the caller.
    mutating func closeAll() -> [EventStream] {
        isClosed = true
        return Array(streams.values)
    }
}
