// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
internal import CPostgres
internal import ServerConnections
internal import Synchronization

/// A result of libpq.
@safe
struct PostgreSQLResult: ~Copyable {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { unsafe self.result = result }

    deinit { unsafe PQclear(result) }

    /// True for rows, which may be none in number.
    var hasRows: Bool { unsafe PQresultStatus(result) == PGRES_TUPLES_OK }

    /// True for the mark after the answers to queries that were sent together.
    var endsPipeline: Bool { unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC }

    /// Returns the rows, or throws the error of the server, and records what that reveals about the server.
    ///
    /// If all values have more bytes than the maximum, the rows have a `problem` and no values.
    func rows(context: String, state: PostgreSQLPoolState, maximum: Int) throws(ServerFault) -> SQLRows {
        switch unsafe PQresultStatus(result) {
        case PGRES_TUPLES_OK: return tuples(context: context, maximum: maximum)
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            var rows = SQLRows(names: [])
            if let text = unsafe PQcmdTuples(result) { rows.changed = unsafe Int(String(cString: text)) ?? 0 }
            return rows
        default: break
        }
        let code = unsafe Self.text(gatehouse_postgres_sqlstate(result))
        let text = unsafe Self.text(gatehouse_postgres_primary_message(result))
        if PostgreSQLFault.isUnusableValue(code), context != SQLQuery.Name.updatePassword.rawValue {
            var rows = SQLRows(names: [])
            rows.isIncomparable = true
            return rows
        }
        if code == "26000" || code == "42P05" { state.isUnprepared.store(true, ordering: .relaxed) }
        guard !code.isEmpty else {
            let text = unsafe Self.text(PQresultErrorMessage(result))
            throw ServerFault(.lost, "\(context): \(PostgreSQLFault.oneLine(text))")
        }
        throw PostgreSQLFault.query(code, message: text, context: context)
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String {
        unsafe text.map { unsafe String(cString: $0) } ?? ""
    }

    private func tuples(context: String, maximum: Int) -> SQLRows {
        let columns = unsafe PQnfields(result)
        var rows = SQLRows(
            names: (0..<columns).map { column in
                unsafe PQfname(result, column).map { unsafe String(cString: $0) } ?? ""
            }
        )
        let count = unsafe PQntuples(result)
        var bytesLeft = maximum
        rows.rows.reserveCapacity(Int(count))
        for row in 0..<count {
            var values: [String?] = []
            values.reserveCapacity(Int(columns))
            for column in 0..<columns {
                bytesLeft -= Int(unsafe PQgetlength(result, row, column))
                guard bytesLeft >= 0 else { return SQLRows(problem: SQLLimits.tooLarge(context).log) }
                let value = value(row, column: column)
                if value == nil, unsafe PQgetisnull(result, row, column) == 0 {
                    rows.addUnreadable(Int(column), query: context)
                }
                values.append(value)
            }
            rows.rows.append(values)
        }
        return rows
    }

    /// Returns a value as text; nil for NULL, and for a text that is not UTF-8.
    private func value(_ row: Int32, column: Int32) -> String? {
        guard unsafe PQgetisnull(result, row, column) == 0 else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column),
            count: Int(PQgetlength(result, row, column))
        )
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else { return nil }
        // The server fills the values of CHAR columns with blanks, which have no meaning.
        return unsafe PQftype(result, column) == Self.paddedType ? CharPadding.removed(from: text) : text
    }

    /// The number of the type CHAR (`bpchar`) in the catalogue of every server.
    private static let paddedType: Oid = 1042
}
#endif
