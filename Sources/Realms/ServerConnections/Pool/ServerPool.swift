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
