// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit
internal import Synchronization
package import Workers

/// Connections to the servers of one realm, each with a thread, with a bounded queue of calls.
///
/// A call uses the first server that is up; if it fails, the next one, within the deadline of the call. The server is then
/// checked by a thread of its own, and calls use it again when it answers. If no server is up, calls fail at once. The
/// connections are closed when the pool is released.
package final class ServerPool<Connection: ServerConnection>: Sendable {
    package let settings: ServerPoolSettings
    private let slots: CallSlots
    private let core: PoolCore<Connection>
    /// The time of the last answer, of `MonotonicTime`.
    private let answered = Atomic<UInt64>(0)

    /// Creates a pool without connections, which logs the servers that fail and that answer again.
    package init(_ servers: Servers<Connection>, settings: ServerPoolSettings, log: RealmLog?, realmName: String) {
        self.settings = settings
        slots = CallSlots(
            count: settings.connections,
            queue: settings.queue,
            wait: settings.timeout,
            cancelsOldest: settings.cancelsOldest,
            unlimitedSource: ClientNetwork.source(nil),
            now: { MonotonicTime.now }
        )
        core = PoolCore(servers, settings: settings, log: log, realmName: realmName)
    }

    deinit { core.close() }

    /// The number of calls that have a slot.
    package var runningCalls: Int { settings.connections - slots.freeSlots }

    package var waitingCalls: Int { slots.waitingCalls }

    /// Waits for a connection, and runs a call with it, again after a fault if it is repeatable.
    ///
    /// Sources take turns; one source, and one user, hold at most half of the connections. `note` receives the faults of
    /// servers, on any thread. `body` runs on a thread that may block; all its waits must be waits of the `ServerCall`.
    package func run<Value: Sendable>(
        for owner: JobOwner,
        isRepeatable: Bool = true,
        note: @escaping @Sendable (String) -> Void = { _ in },
        _ body: @escaping @Sendable (Connection, ServerCall) throws(ServerFault) -> Value
    ) async throws(ServerFault) -> Value {
        let begin = MonotonicTime.now
        let call = ServerCall(until: begin &+ settings.timeout.nanoseconds)
        let result: Result<Value, ServerFault>
        do throws(CallSlots.Refusal) {
            result = try await slots.run(for: owner) { [core] in
                let first = FirstValue<Result<Value, ServerFault>>()
                let hasBegun = core.begin { connections in
                    let result = Result { () throws(ServerFault) in
                        try connections.run(call, isRepeatable: isRepeatable, note: note, body)
                    }
                    return { first.set(result) }
                }
                guard hasBegun else { return .failure(ServerFault(.full, "the system has no more threads")) }
                return await withTaskCancellationHandler {
                    await first.value()
                } onCancel: {
                    call.cancel()
                }
            }
        } catch {
            throw Self.fault(error)
        }
        switch result {
        case .success(let value):
            answered.store(MonotonicTime.now, ordering: .relaxed)
            return value
        case .failure(let fault):
            // A server that answers others meanwhile is slow for this call, or has too much to do.
            guard fault.code == .timedOut, answered.load(ordering: .relaxed) > begin else { throw fault }
            throw ServerFault(.overloaded, fault.log)
        }
    }

    private static func fault(_ refusal: CallSlots.Refusal) -> ServerFault {
        switch refusal {
        case .full: ServerFault(.full, "too many logins wait for a connection")
        case .timedOut: ServerFault(.full, "a login has waited too long for a connection")
        case .cancelled: ServerFault(.cancelled, "the login was cancelled")
        }
    }
}

/// The limits of the connections of one realm.
package struct ServerPoolSettings: Sendable, Hashable {
    /// The maximum number of calls at the same time; each has a thread, and at most one connection to each server.
    package var connections = 8
    /// The maximum number of waiting calls.
    package var queue = 512
    /// True to reject the oldest call of the source or user with the most waiting calls when the queue is full; false to
    /// reject the new call or, if another source or user has more of them, the newest call of that one; of the calls of a
    /// user, one of the source with the most.
    package var cancelsOldest = false
    /// The time for a call, from its arrival to its answer.
    package var timeout = Duration.seconds(10)
    /// The time after which a connection without calls is closed.
    package var idleTime = Duration.seconds(60)
    /// The maximum time between two checks of a server that is down.
    package var checkInterval = Duration.seconds(1)
    /// True if the servers take turns; false if the first one that is up is used.
    package var isRoundRobin = false

    package init() {}

    /// The properties that ``init(_:connections:)`` reads, apart from the number of connections.
    package static let properties: PropertySchema = [
        Property("queue", .integer(0...100_000), default: "512"),
        Property("when-full", .choice(["refuse", "cancel-oldest"]), default: "refuse"),
        Property("timeout", .duration, default: "10s"),
        Property("idle-time", .duration, default: "60s"),
        Property("check-interval", .duration, default: "1s"),
        Property("servers", .choice(["in-order", "round-robin"]), default: "in-order"),
    ]

    /// Reads the limits from properties whose schema contains ``properties``, and the number of `connections` by that name.
    package init(_ properties: RealmProperties, connections: String) throws(BadRealm) {
        self.init()
        self.connections = try properties.integer(connections)
        queue = try properties.integer("queue")
        cancelsOldest = try properties.string("when-full") == "cancel-oldest"
        timeout = try Self.time("timeout", of: properties)
        idleTime = try Self.time("idle-time", of: properties)
        checkInterval = try Self.time("check-interval", of: properties)
        isRoundRobin = try properties.string("servers") == "round-robin"
    }

    package static func time(_ name: String, of properties: RealmProperties) throws(BadRealm) -> Duration {
        let time = try properties.duration(name)
        guard (Duration.milliseconds(1)...Duration.seconds(3600)).contains(time) else {
            throw BadRealm("is from 1ms to 1h", setting: name)
        }
        return time
    }
}
