// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

/// What the connections of one event loop share: the clock's hand, the Date field, room to work in, and a list of all.
///
/// Deadlines are looked at a few times a second for all connections together. A timer for each would cost more than
/// most requests do.
final class ConnectionLoop {
    /// How many bytes of responses are put together before they are sent.
    static let outputSize = 65_536
    /// How often deadlines are looked at.
    static let tick = TimeAmount.milliseconds(250)

    let eventLoop: any EventLoop
    let limits: HTTPLimits
    let times: Times
    let parser: HeadParser
    var responder: any Responder
    /// The clock's hand: nanoseconds in which clients could do something, as of the last tick.
    private(set) var now: UInt64 = 0
    private var lastTick: UInt64 = 0
    private(set) var date: ByteBuffer
    /// The value of the Date field.
    private(set) var dateText = ""
    private(set) var isDraining = false

    /// Room for the fields of the head being read.
    var fields: [RequestHead.Field] = []
    /// Room for the responses to the requests of one read.
    var output = ByteBuffer()

    private var unflushed: [LoopMember] = []
    private var flushAll: (@Sendable () -> Void)?
    private var first: LoopMember?
    private var sweep: RepeatedTask?
    private var dateSecond = -1
    private let clock: @Sendable () -> Int

    /// The limits' times in nanoseconds.
    struct Times {
        let handshake, head, body, idle, write: UInt64

        init(_ limits: HTTPLimits) {
            handshake = limits.handshakeTime.nanoseconds
            head = limits.headTime.nanoseconds
            body = limits.bodyTime.nanoseconds
            idle = limits.idleTime.nanoseconds
            write = limits.writeTime.nanoseconds
        }
    }

    /// - Parameters:
    ///   - eventLoop: The event loop everything here is called on.
    ///   - limits: What clients may do.
    ///   - responder: Who answers.
    ///   - clock: Tells the seconds since 1970-01-01 00:00 UTC.
    init(
        _ eventLoop: any EventLoop,
        _ limits: HTTPLimits,
        _ responder: any Responder,
        clock: @escaping @Sendable () -> Int
    ) {
        self.eventLoop = eventLoop
        self.limits = limits
        self.responder = responder
        self.clock = clock
        times = Times(limits)
        parser = HeadParser(limits: limits)
        date = ByteBuffer()
        tick()
    }

    /// Begins to look at deadlines.
    func start() {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        flushAll = { bound.value.flushUnflushed() }
        sweep = eventLoop.scheduleRepeatedTask(initialDelay: Self.tick, delay: Self.tick) { _ in
            bound.value.tick()
            bound.value.expire()
        }
    }

    func stop() {
        sweep?.cancel()
        sweep = nil
        flushAll = nil
    }

    /// Whether a body comes more slowly than is allowed.
    ///
    /// - Parameters:
    ///   - received: How much of it has come, in bytes.
    ///   - began: When its time began, in nanoseconds; it may be yet to come, where some of it was excused.
    ///   - now: The clock's hand.
    /// - Returns: True if its time is over and less has come since than the rate wants.
    func isTooSlow(received: Int, since began: UInt64, _ now: UInt64) -> Bool {
        guard now > began else { return false }
        let elapsed = now - began
        guard elapsed > times.body else { return false }
        return Double(received) < Double(elapsed - times.body) / 1e9 * Double(limits.bodyRate)
    }

    /// Hands over the responses that have been put together.
    func takeOutput() -> ByteBuffer {
        let taken = output
        output = ByteBuffer()
        return taken
    }

    /// Has a connection's responses sent once everything else that has come in this round is looked at.
    ///
    /// One write after the other finds the client awake that the first has woken, and waking is what costs most about
    /// sending. A connection that is alone does not wait for anybody.
    func flushLater(_ handler: LoopMember) {
        unflushed.append(handler)
        if unflushed.count == 1, let flushAll { eventLoop.execute(flushAll) }
    }

    private func flushUnflushed() {
        // Sending may make room in which a connection takes its next requests, so the list may grow meanwhile.
        var index = 0
        while index < unflushed.count {
            unflushed[index].flushNow()
            index += 1
        }
        unflushed.removeAll(keepingCapacity: true)
    }

    func insert(_ handler: LoopMember) {
        handler.next = first
        first?.previous = handler
        first = handler
    }

    func remove(_ handler: LoopMember) {
        handler.previous?.next = handler.next
        handler.next?.previous = handler.previous
        if first === handler { first = handler.next }
        handler.previous = nil
        handler.next = nil
    }

    /// Lets requests that have begun finish and ends all other connections.
    func drain() {
        isDraining = true
        forEach { $0.drain() }
    }

    /// Ends the connections there are as soon as what has begun on them is done.
    func retire() {
        forEach { $0.retire() }
    }

    /// Ends all connections now.
    func closeAll() {
        forEach { $0.abort() }
    }

    private func expire() {
        let now = now
        forEach { $0.expire(now) }
    }

    private func forEach(_ body: (LoopMember) -> Void) {
        var handler = first
        while let current = handler {
            // It may leave the list while it is looked at.
            handler = current.next
            body(current)
        }
    }

    private func tick() {
        let time = eventLoop.now.uptimeNanoseconds
        // When the process was stopped, or the machine asleep, no client had that time.
        now &+= min(time &- lastTick, 2 * UInt64(Self.tick.nanoseconds))
        lastTick = time
        let second = clock()
        guard second != dateSecond else { return }
        dateSecond = second
        dateText = HTTPDate.text(second)
        date = HTTPDate.field(dateText)
    }
}

extension Duration {
    /// The whole nanoseconds; 0 for less than none.
    package var nanoseconds: UInt64 {
        UInt64(max(0, components.seconds)) &* 1_000_000_000 &+ UInt64(max(0, components.attoseconds / 1_000_000_000))
    }
}
