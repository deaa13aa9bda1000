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
    private let slots: FairSlots
    private let workers: Workers<WorkerConnections<Connection>>
    private let health: ServerHealth<Connection>
    /// The time of the last answer, of `MonotonicTime`.
    private let answered = Atomic<UInt64>(0)

    /// Creates a pool without connections, which logs the servers that fail and that answer again.
    package init(_ servers: Servers<Connection>, settings: ServerPoolSettings, log: RealmLog?, realmName: String) {
        self.settings = settings
        slots = FairSlots(
            count: settings.connections,
            queue: settings.queue,
            wait: settings.timeout.nanoseconds,
            cancelsOldest: settings.cancelsOldest,
            unlimitedSource: ClientNetwork.source(nil),
            now: { MonotonicTime.now }
        )
        let health = ServerHealth(servers, settings: settings, log: log, realmName: realmName)
        self.health = health
        workers = Workers(niceness: 0, idleTime: settings.idleTime.nanoseconds) {
            let connections = WorkerConnections(health)
            return Workers.Worker(connections) { connections.closeAll() }
        }
    }

    deinit {
        workers.close()
        health.close()
    }

    /// The number of calls that have a slot.
    package var runningCalls: Int { slots.load.held }

    package var waitingCalls: Int { slots.load.waiting }

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
        let first = FirstValue<Result<Value, ServerFault>>()
        let number = workers.begin(for: owner, in: slots) { refusal in
            first.set(.failure(Self.fault(refusal)))
        } _: { [slots] connections, slot in
            let result = Result { () throws(ServerFault) in
                try connections.run(call, isRepeatable: isRepeatable, note: note, body)
            }
            return {
                slots.release(slot)
                first.set(result)
            }
        }
        let result = await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            slots.cancel(number)
            call.cancel()
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

    private static func fault(_ refusal: FairSlots.Refusal) -> ServerFault {
        switch refusal {
        case .full: ServerFault(.full, "too many logins wait for a connection")
        case .timedOut: ServerFault(.full, "a login has waited too long for a connection")
        case .cancelled: ServerFault(.cancelled, "the login was cancelled")
        case .noThread: ServerFault(.full, "the system has no more threads")
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
        Property("queue", .integer(0...4096), default: "512"),
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
