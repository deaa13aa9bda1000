// SPDX-License-Identifier: Apache-2.0

internal import ServerConnections

/// The kinds of SQL that the realm understands.
enum SQLDialect: Sendable, Hashable {
    case sqlite
    case postgreSQL
}

/// A value that a query receives.
enum SQLParameter: String, Sendable, Hashable, CaseIterable {
    /// The user's name.
    case user
    /// The new hash of the password.
    case passwordHash = "password-hash"
    /// The hash that the new one replaces.
    case oldHash = "old-hash"
}

/// A query with numbered parameters.
struct SQLQuery: Sendable, Hashable {
    /// The queries of a realm; the raw value is the name of the property.
    enum Name: String, Sendable, Hashable, CaseIterable {
        case password = "password-query"
        case state = "state-query"
        case groups = "groups-query"
        case attributes = "attributes-query"
        case updatePassword = "update-password-query"
        case list = "list-query"
    }

    /// The name for messages.
    let name: Name
    /// The text with `$1` or `?1` for the first parameter.
    let text: String
    /// The parameters, in the order of their numbers.
    let parameters: [SQLParameter]

    /// True if the query changes rows.
    var isUpdate: Bool { name == .updatePassword }
}

/// The values of the parameters of one call.
///
/// Values are text, and never a part of a query's text. A value with a NUL byte cannot be made: databases would cut it.
struct SQLValues: Sendable {
    private var values: [SQLParameter: String] = [:]

    /// - Parameters:
    ///   - user: The user's name; nil for a query without a user.
    ///   - passwordHash: The new hash.
    ///   - oldHash: The hash that is replaced.
    init?(user: String? = nil, passwordHash: String? = nil, oldHash: String? = nil) {
        for (name, value) in [(SQLParameter.user, user), (.passwordHash, passwordHash), (.oldHash, oldHash)] {
            guard let value else { continue }
            guard !value.utf8.contains(0) else { return nil }
            values[name] = value
        }
    }

    /// Returns the values of a query's parameters, in their order; nil if one is missing.
    func list(for query: SQLQuery) -> [String]? {
        let list = query.parameters.compactMap { values[$0] }
        return list.count == query.parameters.count ? list : nil
    }
}

/// The rows of an answer, as text.
struct SQLRows: Sendable {
    /// The names of the columns, as the database spells them.
    let names: [String]
    /// The names of the columns, in lower case.
    var columns: [String] { names.map { $0.lowercased() } }
    /// The values; nil for NULL.
    var rows: [[String?]] = []
    /// The number of rows that an update has changed.
    var changed = 0
    /// True if the database cannot compare a value with its column, so that there are no rows and no columns.
    var isIncomparable = false
    /// The reason why values or rows are missing, because they cannot be read; nil if none is.
    var problem: String?
    /// The columns with a value that cannot be read, for each row that has any; the value is nil in ``rows``.
    var unreadable: [Int: Set<Int>] = [:]
    /// The time until the answer, since the answer before it, in nanoseconds.
    var time: UInt64 = 0

    /// Creates the answer to a query whose rows are missing.
    ///
    /// - Parameter problem: The reason.
    init(problem: String) {
        names = []
        self.problem = problem
    }

    /// - Parameter names: The names of the columns.
    init(names: [String]) { self.names = names }

    /// Throws if a value cannot be read.
    func checkReadable() throws(ServerFault) {
        if let problem { throw ServerFault(.failed, problem) }
    }
}
