// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
internal import Bytes
internal import CPostgres
internal import Glibc
internal import RealmKit
internal import ServerConnections
internal import Workers

/// A connection to a server of PostgreSQL, used by one thread at a time; the thread waits in the call only.
@safe
final class PostgreSQLConnection: DatabaseConnection {
    private var connection: OpaquePointer?
    private let limits: SQLLimits

    /// Opens a connection by the parameters of libpq without the password, and prepares it for the queries of a realm.
    ///
    /// Unless it is read-only, the server must be able to change rows.
    init(
        _ parameters: [String: String],
        password: Secret?,
        isReadOnly: Bool,
        limits: SQLLimits,
        call: ServerCall
    ) throws(ServerFault) {
        self.limits = limits
        let end = call.end(within: limits.connect)
        unsafe connection = Self.start(parameters, password: password)
        do throws(ServerFault) {
            try open(until: end, call: call)
            try prepare(isReadOnly: isReadOnly, call: call)
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    private static func start(_ parameters: [String: String], password: Secret?) -> OpaquePointer? {
        let list = parameters.sorted { $0.key < $1.key }
        let names = CStrings(list.map(\.key) + (password == nil ? [] : ["password"]))
        let values = CStrings(list.map(\.value), last: password)
        return unsafe names.withPointers { names in
            unsafe values.withPointers { values in unsafe PQconnectStartParams(names, values, 0) }
        }
    }

    private func open(until end: UInt64, call: ServerCall) throws(ServerFault) {
        guard unsafe connection != nil else { throw ServerFault(.unreachable, "there is no memory") }
        // The messages then contain the code of the error.
        unsafe PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        unsafe gatehouse_postgres_ignore_notices(connection)
        guard unsafe PQstatus(connection) != CONNECTION_BAD else { throw PostgreSQLFault.connection(message) }
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            guard status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING else {
                throw PostgreSQLFault.connection(message)
            }
            let events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT
            try call.wait(for: unsafe PQsocket(connection), events: events, until: end)
            status = unsafe PQconnectPoll(connection)
            // libpq reads a notice of any size.
            guard SocketInput.bytes(unsafe PQsocket(connection)) ?? 0 <= SQLRows.maximumSize else {
                throw ServerFault(.unreachable, "the server has sent too much before the connection was open")
            }
        }
        unsafe PQsetnonblocking(connection, 1)
    }

    /// Sets what queries and the texts of their answers depend on.
    private func prepare(isReadOnly: Bool, call: ServerCall) throws(ServerFault) {
        let milliseconds = max(1, limits.query.nanoseconds / 1_000_000)
        let settings =
            "SET statement_timeout = \(milliseconds); SET standard_conforming_strings = on; SET DateStyle = 'ISO'; "
            + "SET TimeZone = 'UTC'; SET default_transaction_read_only = \(isReadOnly ? "on" : "off")"
        let exchange = exchange(call, within: limits.connect)
        try command(settings, exchange)
        guard !isReadOnly else { return }
        guard try command("SHOW transaction_read_only", exchange).rows.first?.first == "off" else {
            throw ServerFault(.unreachable, "the server is a standby, or read-only, and cannot change passwords")
        }
    }

    var isUsable: Bool {
        guard unsafe PQstatus(connection) == CONNECTION_OK else { return false }
        // Between calls the server only sends that it ends the connection.
        var entry = pollfd(fd: unsafe PQsocket(connection), events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) == 0
    }

    func close() {
        unsafe PQfinish(connection)
        unsafe connection = nil
    }

    // MARK: Queries

    func run(_ query: SQLQuery, values: SQLValues, call: ServerCall) throws(ServerFault) -> SQLRows {
        let values = try values.list(for: query)
        try call.check()
        let exchange = exchange(call, within: limits.query, isLimited: query.name != .list)
        guard query.isUpdate else { return try execute(query, values: values, exchange) }
        // A query that changes several rows is undone.
        try command("BEGIN", exchange)
        let rows: SQLRows
        do throws(ServerFault) {
            rows = try execute(query, values: values, exchange)
            try rows.checkReadable()
        } catch {
            if error.code == .failed, unsafe connection != nil { try command("ROLLBACK", exchange) }
            throw error
        }
        try command(rows.changed == 1 ? "COMMIT" : "ROLLBACK", exchange)
        return rows
    }

    func check(_ query: SQLQuery, call: ServerCall) throws(ServerFault) {
        // The server checks tables, columns and rights for it, and changes nothing.
        let explained = SQLQuery(name: query.name, text: "EXPLAIN \(query.text)", parameters: query.parameters)
        let values = query.parameters.map { _ in "gatehouse" }
        _ = try execute(explained, values: values, exchange(call, within: limits.query))
    }

    @discardableResult
    private func command(_ text: String, _ exchange: Exchange) throws(ServerFault) -> SQLRows {
        try send(unsafe PQsendQuery(connection, text))
        return try rows(exchange, context: text)
    }

    private func execute(_ query: SQLQuery, values: [String], _ exchange: Exchange) throws(ServerFault) -> SQLRows {
        let strings = CStrings(values)
        let status = unsafe strings.withPointers {
            unsafe PQsendQueryParams(connection, query.text, Int32(values.count), nil, $0, nil, nil, 0)
        }
        try send(status)
        return try rows(exchange, context: query.name.rawValue)
    }

    // MARK: Exchange

    /// The limits of the answers to one call.
    private struct Exchange {
        let call: ServerCall
        let end: UInt64
        /// The number of bytes that the socket may have received then; nil if that is not limited.
        let maximumInput: UInt64?
        let maximumSize: Int
    }

    private func exchange(_ call: ServerCall, within time: Duration, isLimited: Bool = true) -> Exchange {
        let received = isLimited ? SocketInput.bytes(unsafe PQsocket(connection)) : nil
        return Exchange(
            call: call,
            end: call.end(within: time),
            maximumInput: received.map { $0 &+ UInt64(SQLRows.maximumSize) },
            maximumSize: isLimited ? SQLRows.maximumSize : .max
        )
    }

    private var message: String {
        guard let text = unsafe PQerrorMessage(connection) else { return "no message" }
        return unsafe String(cString: text)
    }

    private var lost: ServerFault { ServerFault(.lost, PostgreSQLFault.oneLine(message)) }

    private func send(_ status: Int32) throws(ServerFault) {
        guard status == 1 else { throw lost }
        // Each row is a result of its own, which is counted when it has arrived.
        _ = unsafe PQsetSingleRowMode(connection)
    }

    /// Waits for the answer to a request, and returns its rows.
    ///
    /// If the answer is too large, they are ``SQLRows/tooLarge(_:)``, and the connection is closed.
    private func rows(_ exchange: Exchange, context: String) throws(ServerFault) -> SQLRows {
        var rows = SQLRows()
        var fault: ServerFault?
        while true {
            let isComplete = try receive(exchange)
            // libpq keeps what has arrived until the result is complete.
            let input = exchange.maximumInput.flatMap { _ in SocketInput.bytes(unsafe PQsocket(connection)) } ?? 0
            guard rows.size <= exchange.maximumSize, input <= exchange.maximumInput ?? .max else {
                close()
                return .tooLarge(context)
            }
            guard isComplete else { continue }
            guard let result = unsafe PQgetResult(connection) else { break }
            do throws(ServerFault) {
                try unsafe PostgreSQLResult(result).read(into: &rows, context: context)
            } catch {
                // After another fault the connection is not used again.
                guard error.code == .failed else { throw error }
                fault = fault ?? error
            }
        }
        if let fault { throw fault }
        guard unsafe PQstatus(connection) == CONNECTION_OK else {
            throw ServerFault(.lost, "\(context): the server has closed the connection")
        }
        return rows
    }

    /// Waits for more bytes of an answer; returns true if the next result is complete, or the last one was read.
    private func receive(_ exchange: Exchange) throws(ServerFault) -> Bool {
        let unsent = unsafe PQflush(connection)
        guard unsent >= 0 else { throw lost }
        if unsent == 0, unsafe PQisBusy(connection) == 0 { return true }
        let events = unsent == 1 ? POLLIN | POLLOUT : POLLIN
        try exchange.call.wait(for: unsafe PQsocket(connection), events: events, until: exchange.end)
        guard unsafe PQconsumeInput(connection) == 0 else { return false }
        // An error that the server has sent before it closed the connection is still read.
        guard unsafe PQisBusy(connection) == 0 else { throw lost }
        return true
    }
}

/// The number of bytes that arrive at a TCP socket, which libpq reads and does not count.
enum SocketInput {
    /// Returns the number of all bytes that a socket has received; nil if the system does not count them, as for a Unix
    /// socket.
    static func bytes(_ socket: Int32) -> UInt64? {
        // The C library does not have this field of the kernel's structure (tcpi_bytes_received in linux/tcp.h).
        let offset = 128
        let size = offset + MemoryLayout<UInt64>.size
        return unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            var length = socklen_t(size)
            guard unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, buffer.baseAddress, &length) == 0,
                length == socklen_t(size)
            else { return nil }
            return unsafe buffer.load(fromByteOffset: offset, as: UInt64.self)
        }
    }
}
#endif
