// SPDX-License-Identifier: Apache-2.0

internal import Workers

/// The connections of one thread, at most one to each server.
final class WorkerConnections<Connection: ServerConnection> {
    private let health: ServerHealth<Connection>
    private var connections: [Connection?]

    init(_ health: ServerHealth<Connection>) {
        self.health = health
        connections = Array(repeating: nil, count: health.servers.names.count)
    }

    func closeAll() {
        for server in connections.indices { close(server) }
    }

    private func close(_ server: Int) {
        connections[server]?.close()
        connections[server] = nil
    }

    /// Makes a call with the first server that can answer it.
    func run<Value>(
        _ call: ServerCall,
        isRepeatable: Bool,
        note: (String) -> Void,
        _ body: (Connection, ServerCall) throws(ServerFault) -> Value
    ) throws(ServerFault) -> Value {
        let order = health.states.order()
        var last: ServerFault?
        for server in order {
            let name = health.servers.names[server]
            let begin = MonotonicTime.now
            do throws(ServerFault) {
                let value = try run(call, server: server, isRepeatable: isRepeatable, body)
                health.recordAnswer(of: server, begin: begin)
                return value
            } catch {
                guard error.isOfOneServer else { throw error }
                health.record(error, of: server, begin: begin)
                note("\(name): \(error.log)")
                last = ServerFault(error.code, "\(name): \(error.log)")
                // A call that may have been answered is not made again.
                guard isRepeatable || error.code == .unreachable else { break }
                try call.check()
            }
        }
        throw last ?? noServer()
    }

    private func noServer() -> ServerFault {
        let causes = health.servers.names.indices.map { server in
            "\(health.servers.names[server]): \(health.states.fault(of: server)?.log ?? "the server does not answer")"
        }
        let isOverloaded = health.servers.names.indices.contains { health.states.fault(of: $0)?.code == .overloaded }
        let code = isOverloaded ? ServerFault.Code.overloaded : .unreachable
        return ServerFault(code, "no server answers; \(causes.joined(separator: "; "))")
    }

    private func run<Value>(
        _ call: ServerCall,
        server: Int,
        isRepeatable: Bool,
        _ body: (Connection, ServerCall) throws(ServerFault) -> Value
    ) throws(ServerFault) -> Value {
        try call.check()
        if let connection = connections[server], !connection.isUsable { close(server) }
        let wasOpen = connections[server] != nil
        do throws(ServerFault) {
            return try runOnce(call, server: server, body)
        } catch {
            // The server may have closed the connection while it was idle, for example because it was restarted.
            guard wasOpen, isRepeatable, error.code == .lost else { throw error }
            return try runOnce(call, server: server, body)
        }
    }

    private func runOnce<Value>(
        _ call: ServerCall,
        server: Int,
        _ body: (Connection, ServerCall) throws(ServerFault) -> Value
    ) throws(ServerFault) -> Value {
        let connection: Connection
        if let open = connections[server] {
            connection = open
        } else {
            connection = try health.servers.connect(server, call)
            connections[server] = connection
        }
        do throws(ServerFault) {
            return try body(connection, call)
        } catch {
            // After any other fault an answer may still arrive, which would be taken for that of the next call.
            if error.code != .failed { close(server) }
            throw error
        }
    }
}
