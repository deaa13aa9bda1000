// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
internal import Bytes
internal import CPostgres
internal import Glibc
internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections
internal import Synchronization
internal import Workers

/// A connection to a server of PostgreSQL, used by one thread at a time; the thread waits in the call only.
@safe
final class PostgreSQLConnection: DatabaseConnection {
    private var connection: OpaquePointer?
    private let limits: SQLLimits
    private let state: PostgreSQLPoolState
    /// The names of the statements that this connection has prepared, by the texts of the queries.
    private var prepared: [String: String] = [:]
    /// The bytes that the server has sent in this call.
    private var input = InputSize()

    /// Opens a connection by the parameters of libpq without the password, and prepares it for the queries of a realm.
    ///
    /// Unless it is read-only, the server must be able to change rows.
    init(
        _ parameters: [String: String],
        password: Secret?,
        isReadOnly: Bool,
        limits: SQLLimits,
        state: PostgreSQLPoolState,
        call: ServerCall
    ) throws(ServerFault) {
        self.limits = limits
        self.state = state
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
        while true {
            switch status {
            case PGRES_POLLING_OK:
                unsafe PQsetnonblocking(connection, 1)
                return
            case PGRES_POLLING_READING: try call.wait(for: unsafe PQsocket(connection), events: POLLIN, until: end)
            case PGRES_POLLING_WRITING: try call.wait(for: unsafe PQsocket(connection), events: POLLOUT, until: end)
            default: throw PostgreSQLFault.connection(message)
            }
            status = unsafe PQconnectPoll(connection)
        }
    }

    /// Sets what queries and the texts of their answers depend on.
    private func prepare(isReadOnly: Bool, call: ServerCall) throws(ServerFault) {
        let milliseconds = max(1, limits.query.nanoseconds / 1_000_000)
        let settings =
            "SET statement_timeout = \(milliseconds); SET standard_conforming_strings = on; SET DateStyle = 'ISO'; "
            + "SET TimeZone = 'UTC'; SET default_transaction_read_only = \(isReadOnly ? "on" : "off")"
        let end = call.end(within: limits.connect)
        beginCall(maximum: SQLLimits.answerSize)
        try send(unsafe PQsendQuery(connection, settings))
        _ = try results(until: end, call: call, context: "the settings of the connection")
        guard !isReadOnly else { return }
        try send(unsafe PQsendQuery(connection, "SHOW transaction_read_only"))
        let answer = try results(until: end, call: call, context: "the state of the server")
        guard answer.rows.first?.first == "off" else {
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
        let end = call.end(within: limits.query)
        beginCall(maximum: query.name == .list ? nil : SQLLimits.answerSize)
        guard query.isUpdate else { return try execute(query, values: values, until: end, call: call) }
        // A query that changes several rows is undone.
        try command("BEGIN", until: end, call: call)
        let rows: SQLRows
        do throws(ServerFault) {
            rows = try execute(query, values: values, until: end, call: call)
        } catch {
            if error.code == .failed, unsafe connection != nil { try command("ROLLBACK", until: end, call: call) }
            throw error
        }
        try command(rows.changed == 1 ? "COMMIT" : "ROLLBACK", until: end, call: call)
        return rows
    }

    func check(_ query: SQLQuery, call: ServerCall) throws(ServerFault) {
        // The server checks tables, columns and rights for it, and changes nothing.
        beginCall(maximum: SQLLimits.answerSize)
        let explained = SQLQuery(name: query.name, text: "EXPLAIN \(query.text)", parameters: query.parameters)
        let end = call.end(within: limits.query)
        let values = query.parameters.map { _ in "gatehouse" }
        _ = try unprepared(explained, values: values, until: end, call: call)
    }

    private func command(_ text: String, until end: UInt64, call: ServerCall) throws(ServerFault) {
        try send(unsafe PQsendQuery(connection, text))
        _ = try results(until: end, call: call, context: text)
    }

    private func execute(
        _ query: SQLQuery,
        values: [String],
        until end: UInt64,
        call: ServerCall
    ) throws(ServerFault) -> SQLRows {
        let rows: SQLRows
        if state.isUnprepared.load(ordering: .relaxed) {
            rows = try unprepared(query, values: values, until: end, call: call)
        } else {
            let name = try prepare(query, until: end, call: call)
            try sendPrepared(name, values: values)
            rows = try results(until: end, call: call, context: query.name.rawValue)
        }
        try Self.check(rows, of: query)
        return rows
    }

    /// Throws if the rows are too large, and nothing can be decided without them.
    private static func check(_ rows: SQLRows, of query: SQLQuery) throws(ServerFault) {
        if rows.names.isEmpty, query.name == .password || query.isUpdate { try rows.checkReadable() }
    }

    /// Prepares a query, unless this connection has prepared it, and returns the name of the statement.
    private func prepare(_ query: SQLQuery, until end: UInt64, call: ServerCall) throws(ServerFault) -> String {
        if let known = prepared[query.text] { return known }
        let statement = try Self.statementName(query)
        try send(unsafe PQsendPrepare(connection, statement, query.text, 0, nil))
        _ = try results(until: end, call: call, context: query.name.rawValue)
        prepared[query.text] = statement
        return statement
    }

    private func sendPrepared(_ statement: String, values: [String]) throws(ServerFault) {
        let strings = CStrings(values)
        let status = unsafe strings.withPointers {
            unsafe PQsendQueryPrepared(connection, statement, Int32(values.count), $0, nil, nil, 0)
        }
        try send(status)
    }

    // MARK: Several queries

    /// Runs the queries of a login.
    ///
    /// If the answer to another query than that for the password is too large, its rows and those of the later queries have
    /// a `problem` instead: the login fails with it after the password was checked.
    func run(_ queries: [SQLQuery], values: SQLValues, call: ServerCall) throws(ServerFault) -> [SQLRows] {
        var received: [SQLRows] = []
        do throws(ServerFault) {
            if try runTogether(queries, values: values, call: call, received: &received) { return received }
            received = []
            try runEach(queries, values: values, call: call, received: &received)
            return received
        } catch {
            let missing = queries[min(received.count, queries.count)...]
            guard input.isTooLarge, let first = missing.first, first.name != .password else { throw error }
            // The connection is closed.
            return received + missing.map { _ in SQLRows(problem: error.log) }
        }
    }

    /// Sends all queries before it waits for the first answer; returns false if that is not possible, or a query has no
    /// rows.
    ///
    /// If one of them fails, the server ignores those after it. They must then be run again, one after the other.
    private func runTogether(
        _ queries: [SQLQuery],
        values: SQLValues,
        call: ServerCall,
        received: inout [SQLRows]
    ) throws(ServerFault) -> Bool {
        guard queries.count > 1, !state.isUnprepared.load(ordering: .relaxed) else { return false }
        try call.check()
        beginCall(maximum: SQLLimits.answerSize)
        var statements: [(name: String, values: [String])] = []
        for query in queries {
            let name = try prepare(query, until: call.end(within: limits.query), call: call)
            statements.append((name, try values.list(for: query)))
        }
        guard unsafe PQenterPipelineMode(connection) == 1 else { return false }
        for (place, statement) in statements.enumerated() {
            // Each answer is sent at once, so that each query has a time limit of its own, and the trace its time.
            if place > 0 { try send(unsafe PQsendFlushRequest(connection)) }
            try sendPrepared(statement.name, values: statement.values)
        }
        try send(unsafe PQpipelineSync(connection))
        let isComplete = try readTogether(queries, call: call, received: &received)
        guard unsafe PQexitPipelineMode(connection) == 1 else {
            throw ServerFault(.lost, "the server has sent an answer too many")
        }
        return isComplete
    }

    /// Waits for the answers to queries that were sent together; returns true if the server has answered each of them
    /// with rows.
    private func readTogether(
        _ queries: [SQLQuery],
        call: ServerCall,
        received: inout [SQLRows]
    ) throws(ServerFault) -> Bool {
        var start = MonotonicTime.now
        var end = call.end(within: limits.query)
        var ends = 0
        var fault: ServerFault?
        // All answers are read, even if one cannot be used: otherwise the next call would take them for its own.
        while ends <= queries.count {
            let context = ends < queries.count ? queries[ends].name.rawValue : "the end of the answers"
            let result: PostgreSQLResult?
            do throws(ServerFault) {
                result = try next(until: end, call: call, context: context)
            } catch {
                throw cause(of: error, after: fault)
            }
            guard let result else {
                // The end of the results of one query.
                ends += 1
                end = call.end(within: limits.query)
                continue
            }
            if result.endsPipeline {
                // A query that has taken too long would take as long again.
                if let fault, fault.code == .timedOut { throw fault }
                return received.count == queries.count
            }
            // An answer is never taken for that of another query.
            guard ends < queries.count, received.count == ends else { continue }
            do throws(ServerFault) {
                var rows = try result.rows(context: context, state: state, maximum: input.maximum)
                guard result.hasRows else { continue }
                try Self.check(rows, of: queries[ends])
                let now = MonotonicTime.now
                (rows.time, start) = (now &- start, now)
                received.append(rows)
            } catch {
                fault = fault ?? error
            }
        }
        throw cause(of: ServerFault(.lost, "the server has ended the answers without a result"), after: fault)
    }

    /// Returns the error that the server has sent before the answers ended, if it is the reason of the end.
    private func cause(of end: ServerFault, after fault: ServerFault?) -> ServerFault {
        guard let fault, fault.isOfOneServer, end.code == .lost else { return end }
        return fault
    }

    /// Returns a name that no statement with another text has.
    ///
    /// A pooler may pass a name to a connection on which another realm has prepared its statement.
    static func statementName(_ query: SQLQuery) throws(ServerFault) -> String {
        let digest = try Result { () throws(OpenSSLError) in try Digest.sha256(fields: [query.text]) }
            .mapError { ServerFault(.failed, "\($0)") }.get()
        // The server cuts names of more than 63 bytes.
        return "gatehouse_\(Hexadecimal.encode(Array(digest.bytes.prefix(16)).span))"
    }

    private func unprepared(
        _ query: SQLQuery,
        values: [String],
        until end: UInt64,
        call: ServerCall
    ) throws(ServerFault) -> SQLRows {
        let strings = CStrings(values)
        let status = unsafe strings.withPointers {
            unsafe PQsendQueryParams(connection, query.text, Int32(values.count), nil, $0, nil, nil, 0)
        }
        try send(status)
        return try results(until: end, call: call, context: query.name.rawValue)
    }

    // MARK: Exchange

    private var message: String {
        guard let text = unsafe PQerrorMessage(connection) else { return "no message" }
        return unsafe String(cString: text)
    }

    private func send(_ status: Int32) throws(ServerFault) {
        guard status == 1 else { throw ServerFault(.lost, PostgreSQLFault.oneLine(message)) }
    }

    /// Waits for the results of a query, and returns the rows of the last one.
    private func results(until end: UInt64, call: ServerCall, context: String) throws(ServerFault) -> SQLRows {
        var rows = SQLRows(names: [])
        var fault: ServerFault?
        while let result = try next(until: end, call: call, context: context) {
            do throws(ServerFault) {
                rows = try result.rows(context: context, state: state, maximum: input.maximum)
            } catch {
                fault = fault ?? error
            }
        }
        if let fault { throw fault }
        guard unsafe PQstatus(connection) == CONNECTION_OK else {
            throw ServerFault(.lost, "\(context): the server has closed the connection")
        }
        return rows
    }

    private func beginCall(maximum: Int?) { input = unsafe InputSize(PQsocket(connection), maximum: maximum) }

    /// Waits for the next result; nil after the last one.
    private func next(until end: UInt64, call: ServerCall, context: String) throws(ServerFault) -> PostgreSQLResult? {
        while true {
            let unsent = unsafe PQflush(connection)
            guard unsent >= 0 else { throw ServerFault(.lost, PostgreSQLFault.oneLine(message)) }
            if unsent == 0, unsafe PQisBusy(connection) == 0 { break }
            // libpq keeps what has arrived until the result is complete.
            guard !input.isTooLarge else {
                close()
                throw SQLLimits.tooLarge(context)
            }
            try call.wait(for: unsafe PQsocket(connection), events: unsent == 1 ? POLLIN | POLLOUT : POLLIN, until: end)
            let isReadable = unsafe PQconsumeInput(connection) == 1
            input.update()
            guard isReadable else {
                // An error that the server has sent before it closed the connection is still read.
                if unsafe PQisBusy(connection) == 0 { break }
                throw ServerFault(.lost, PostgreSQLFault.oneLine(message))
            }
        }
        guard let result = unsafe PQgetResult(connection) else { return nil }
        let status = unsafe PQresultStatus(result)
        let answer = unsafe PostgreSQLResult(result)
        guard status != PGRES_COPY_OUT, status != PGRES_COPY_IN, status != PGRES_COPY_BOTH else {
            throw ServerFault(.lost, "the query is COPY, which returns no rows")
        }
        return answer
    }
}
#endif
