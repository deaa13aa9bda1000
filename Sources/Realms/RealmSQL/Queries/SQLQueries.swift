// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit
internal import ServerConnections

/// The queries of a realm, from the names of tables and columns or from the configuration.
struct SQLQueries: Sendable {
    /// Returns the columns `username` and `password`, and optionally those of the state.
    let password: SQLQuery
    /// Returns the columns of the state; nil if there is no such query.
    let state: SQLQuery?
    /// Returns one column.
    let groups: SQLQuery?
    /// Returns columns with the names of attributes.
    let attributes: SQLQuery?
    let updatePassword: SQLQuery?
    /// Returns all users.
    let list: SQLQuery?
    /// Returns some stored passwords, whose costs are those of the realm.
    let sample: SQLQuery?
    /// A user with more groups is refused: a group that denies access must not be missing.
    let maximumGroups: Int
    /// True if the returned name must have the bytes of the name that was typed.
    let isCaseSensitive: Bool

    /// The queries of a login, in order: every login runs all of them.
    var ofLogin: [SQLQuery] { [password, state, groups, attributes].compactMap(\.self) }

    private static let tableProperties = [
        "user-table", "user-name-column", "password-column", "group-table", "group-name-column",
        "group-table-user-name-column",
    ]

    init(_ properties: RealmProperties, dialect: SQLDialect) throws(BadRealm) {
        maximumGroups = try properties.integer("maximum-groups")
        isCaseSensitive = try properties.boolean("case-sensitive")
        if properties.has("password-query") {
            guard !properties.has("user-table") else {
                throw BadRealm("must not be set together with user-table", setting: "password-query")
            }
            for name in Self.tableProperties where properties.has(name) {
                throw BadRealm("must not be set together with password-query", setting: name)
            }
        }
        let tables = properties.has("user-table") ? try Tables(properties) : nil
        func query(
            _ name: SQLQuery.Name,
            uses parameters: [SQLParameter] = [.user],
            or text: String? = nil
        ) throws(BadRealm) -> SQLQuery? {
            let isSet = properties.has(name.rawValue)
            if isSet, text != nil {
                throw BadRealm("must not be set together with the names of tables", setting: name.rawValue)
            }
            guard let source = isSet ? try properties.string(name.rawValue) : text else { return nil }
            let query = try QueryScanner.translate(source, name: name, dialect: dialect, parameters: parameters)
            if let missing = parameters.first(where: { !query.parameters.contains($0) }) {
                throw BadRealm("does not use :\(missing.rawValue)", setting: name.rawValue)
            }
            return query
        }
        guard let password = try query(.password, or: tables?.password) else {
            let problem = "must be set, or user-table, user-name-column and password-column"
            throw BadRealm(problem, setting: "password-query")
        }
        self.password = password
        state = try query(.state)
        groups = try query(.groups, or: tables?.groups)
        attributes = try query(.attributes)
        updatePassword = try query(.updatePassword, uses: [.user, .passwordHash, .oldHash])
        list = try query(.list, uses: [], or: properties.has("list-query") ? nil : tables?.list)
        sample = tables.map { SQLQuery(name: .list, text: $0.sample, parameters: []) }
    }

    /// The tables and columns that GlassFish's property names describe.
    private struct Tables {
        let password: String
        let groups: String?
        let list: String
        let sample: String

        init(_ properties: RealmProperties) throws(BadRealm) {
            func name(_ setting: String, isTable: Bool = false) throws(BadRealm) -> String {
                guard properties.has(setting) else { throw BadRealm("must be set", setting: setting) }
                return try quoted(try properties.string(setting), isTable: isTable, setting: setting)
            }
            let table = try name("user-table", isTable: true)
            let user = try name("user-name-column")
            let hash = try name("password-column")
            // SQLite could read the name of a missing column as a string, but not with the name of a table before it.
            password =
                "SELECT t.\(user) AS \"username\", t.\(hash) AS \"password\" FROM \(table) AS t WHERE t.\(user) = :user"
            list = "SELECT t.\(user) AS \"username\" FROM \(table) AS t ORDER BY 1"
            sample = "SELECT t.\(hash) AS \"password\" FROM \(table) AS t LIMIT 100"
            guard properties.has("group-table") else {
                for setting in ["group-name-column", "group-table-user-name-column"] where properties.has(setting) {
                    throw BadRealm("needs group-table", setting: setting)
                }
                groups = nil
                return
            }
            let groupTable = try name("group-table", isTable: true)
            let group = try name("group-name-column")
            let member =
                properties.has("group-table-user-name-column") ? try name("group-table-user-name-column") : user
            groups = "SELECT t.\(group) FROM \(groupTable) AS t WHERE t.\(member) = :user"
        }
    }

    /// Returns the name of a column in double quotes, or of a table with an optional schema, as in `accounts.users`.
    ///
    /// PostgreSQL would convert a name without quotes to lower case, and cut one of more than 63 bytes without an error.
    static func quoted(_ name: String, isTable: Bool, setting: String) throws(BadRealm) -> String {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isValid = parts.allSatisfy { part in
            // Letters that are not ASCII have bytes from 0x80.
            let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) || byte >= 0x80 || byte == 0x5F }
            return part.count <= 63 && part.first.map(isLetter) == true
                && part.allSatisfy { isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "$") }
        }
        guard isValid, parts.count <= (isTable ? 3 : 1) else {
            throw BadRealm(
                "is the name of \(isTable ? "a table, such as users or accounts.users" : "a column"): letters, digits, "
                    + "_ and $, at most 63 bytes; use the -query properties for other names",
                setting: setting
            )
        }
        return parts.map { "\"\(String(decoding: $0, as: UTF8.self))\"" }.joined(separator: ".")
    }
}

/// The kinds of SQL that the realm understands.
enum SQLDialect: Sendable, Hashable {
    case sqlite
    case postgreSQL
}

/// A value that a query receives.
enum SQLParameter: String, Sendable, Hashable, CaseIterable {
    case user
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

    let name: Name
    /// The text with `$1` or `?1` for the first parameter.
    let text: String
    /// The parameters, in the order of their numbers.
    let parameters: [SQLParameter]
    var isUpdate: Bool { name == .updatePassword }
}

/// The values of the parameters of one call: text that is never a part of a query's text.
struct SQLValues: Sendable {
    private let values: [SQLParameter: String]

    /// Throws for a value with a NUL byte, where databases would cut it.
    init(user: String? = nil, passwordHash: String? = nil, oldHash: String? = nil) throws(ServerFault) {
        let values = [SQLParameter.user: user, .passwordHash: passwordHash, .oldHash: oldHash].compactMapValues(\.self)
        guard !values.values.contains(where: { $0.utf8.contains(0) }) else {
            throw ServerFault(.failed, "a value contains NUL")
        }
        self.values = values
    }

    /// Returns the values of a query's parameters, in their order.
    func list(for query: SQLQuery) throws(ServerFault) -> [String] {
        let list = query.parameters.compactMap { values[$0] }
        guard list.count == query.parameters.count else {
            throw ServerFault(.failed, "\(query.name.rawValue): a value is missing")
        }
        return list
    }
}

/// The rows of an answer, as text.
struct SQLRows: Sendable {
    /// The names of the columns, as the database spells them.
    let names: [String]
    /// The names of the columns, in lower case and with underscores for hyphens.
    let columns: [String]
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

    init(names: [String] = [], problem: String? = nil) {
        (self.names, self.problem) = (names, problem)
        columns = names.map { $0.lowercased().replacing("-", with: "_") }
    }

    /// Records a value of the next row that cannot be read.
    mutating func addUnreadable(_ column: Int, query: String) {
        unreadable[rows.count, default: []].insert(column)
        problem = "\(query): a value is not UTF-8"
    }

    func checkReadable() throws(ServerFault) {
        if let problem { throw ServerFault(.failed, problem) }
    }
}
