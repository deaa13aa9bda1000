// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPLimits
internal import NIOCore
internal import NIOOpenSSL

/// The state that the connections of one event loop share: the time, the Date field, buffers, and the list of
/// connections.
///
/// Deadlines are checked four times a second for all connections together. A timer for each connection would cost more
/// time than most requests.
final class EventLoopState {
    /// The number of response bytes that are collected before they are sent.
    static let outputSize = 65_536
    /// The interval at which deadlines are checked.
    static let tick = TimeAmount.milliseconds(250)

    /// All functions are called on it.
    let eventLoop: any EventLoop
    let limits: HTTPLimits
    let times: TimeLimits
    let parser: HeadParser
    var responder: any Responder
    let onHandshake: (@Sendable (TLSHandshakeCompleted) -> Void)?
    /// The time of the last tick in nanoseconds, without the time while the process or the machine is suspended.
    private(set) var now: UInt64 = 0
    private var lastTick: UInt64 = 0
    private(set) var date: ByteBuffer
    /// The value of the Date field.
    private(set) var dateText = ""
    private(set) var isDraining = false

    /// A buffer for the fields of the header that is being read.
    var fields: [RequestHead.Field] = []
    /// A buffer for the responses to the requests of one read.
    var output = ByteBuffer()

    private var unflushed: [EventLoopConnection] = []
    private var flushAll: (@Sendable () -> Void)?
    private var first: EventLoopConnection?
    private var deadlineTimer: RepeatedTask?
    private var dateSecond = -1
    /// Returns the seconds since 1970-01-01 00:00 UTC.
    private let clock: @Sendable () -> Int

    init(
        _ eventLoop: any EventLoop,
        limits: HTTPLimits,
        responder: any Responder,
        clock: @escaping @Sendable () -> Int,
        onHandshake: (@Sendable (TLSHandshakeCompleted) -> Void)? = nil
    ) {
        self.eventLoop = eventLoop
        self.limits = limits
        self.responder = responder
        self.clock = clock
        self.onHandshake = onHandshake
        times = TimeLimits(limits)
        parser = HeadParser(limits: limits)
        date = ByteBuffer()
        tick()
    }

    func start() {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        flushAll = { bound.value.flushUnflushed() }
        deadlineTimer = eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { _ in
            bound.value.tick()
            bound.value.expire()
        }
    }

    func stop() {
        deadlineTimer?.cancel()
        deadlineTimer = nil
        flushAll = nil
    }

    func takeOutput() -> ByteBuffer {
        let taken = output
        output = ByteBuffer()
        return taken
    }

    /// Schedules a flush of a connection for the end of the event loop's round.
    ///
    /// Waking a client that sleeps costs more than sending. If all responses are sent right after one another, only the
    /// first response wakes the client.
    func flushLater(_ connection: EventLoopConnection) {
        unflushed.append(connection)
        if unflushed.count == 1, let flushAll { eventLoop.execute(flushAll) }
    }

    private func flushUnflushed() {
        // After its flush a connection may answer further requests and be added again, so the list may grow.
        var index = 0
        while index < unflushed.count {
            unflushed[index].flushNow()
            index += 1
        }
        unflushed.removeAll(keepingCapacity: true)
    }

    func insert(_ connection: EventLoopConnection) {
        connection.next = first
        first?.previous = connection
        first = connection
    }

    func remove(_ connection: EventLoopConnection) {
        connection.previous?.next = connection.next
        connection.next?.previous = connection.previous
        if first === connection { first = connection.next }
        connection.previous = nil
        connection.next = nil
    }

    /// Ends all connections after the requests that have begun, and accepts no further connections.
    func drain() {
        isDraining = true
        retire()
    }

    /// Ends the connections that are open now after the requests that have begun.
    func retire() { forEach { $0.drain() } }

    func closeAll() { forEach { $0.abort() } }

    private func expire() {
        let now = now
        forEach { $0.closeIfExpired(at: now) }
    }

    private func forEach(_ body: (EventLoopConnection) -> Void) {
        var next = first
        while let connection = next {
            // `body` may remove the connection from the list.
            next = connection.next
            body(connection)
        }
    }

    private func tick() {
        let time = eventLoop.now.uptimeNanoseconds
        // At most the time of two ticks is added, so that deadlines do not expire while the process or the machine is
        // suspended.
        now &+= min(time &- lastTick, 2 * UInt64(Self.tick.nanoseconds))
        lastTick = time
        let second = clock()
        guard second != dateSecond else { return }
        dateSecond = second
        dateText = UTCTime.httpDate(second)
        date = ByteBuffer(string: "Date: \(dateText)\r\n")
    }
}

/// The base class of the HTTP/1 and HTTP/2 connections, with their links in the list of ``EventLoopState``, which calls
/// these functions.
class EventLoopConnection {
    var next: EventLoopConnection?
    var previous: EventLoopConnection?

    /// Ends the connection if one of its deadlines has passed at the ``EventLoopState/now`` of its event loop.
    func closeIfExpired(at now: UInt64) {}

    /// Ends the connection after the requests that have begun are answered.
    func drain() {}

    func abort() {}

    /// Sends the waiting responses, as ``EventLoopState/flushLater(_:)`` has scheduled.
    func flushNow() {}
}
