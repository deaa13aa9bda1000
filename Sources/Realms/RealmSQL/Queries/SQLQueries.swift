// SPDX-License-Identifier: Apache-2.0

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

    /// The queries of a login, in order: every login runs all of them.
    var ofLogin: [SQLQuery] { [password, state, groups, attributes].compactMap(\.self) }

    private static let tableProperties = [
        "user-table", "user-name-column", "password-column", "group-table", "group-name-column",
        "group-table-user-name-column",
    ]

    init(_ properties: RealmProperties, dialect: SQLDialect) throws(BadRealm) {
        maximumGroups = try properties.integer("maximum-groups")
        let hasTables = properties.has("user-table")
        let hasQuery = properties.has(SQLQuery.Name.password.rawValue)
        guard hasTables || hasQuery else {
            let problem = "must be set, or user-table, user-name-column and password-column"
            throw BadRealm(problem, setting: "password-query")
        }
        guard !hasTables || !hasQuery else {
            throw BadRealm("must not be set together with user-table", setting: "password-query")
        }
        if hasQuery {
            for name in Self.tableProperties where properties.has(name) {
                throw BadRealm("must not be set together with password-query", setting: name)
            }
        }
        let tables = hasTables ? try Tables(properties) : nil
        func query(
            _ name: SQLQuery.Name,
            requires: [SQLParameter] = [.user],
            or text: String? = nil
        ) throws(BadRealm) -> SQLQuery? {
            guard properties.has(name.rawValue) || text != nil else { return nil }
            if properties.has(name.rawValue), text != nil {
                throw BadRealm("must not be set together with the names of tables", setting: name.rawValue)
            }
            let source = if let text { text } else { try properties.string(name.rawValue) }
            return try Result { () throws(BadQuery) in
                try QueryScanner.translate(source, name: name, dialect: dialect, allowed: requires, required: requires)
            }.mapError { BadRealm($0.description, setting: name.rawValue) }.get()
        }
        guard let password = try query(.password, or: tables?.password) else {
            throw BadRealm("must be set", setting: "password-query")
        }
        self.password = password
        state = try query(.state)
        groups = try query(.groups, or: tables?.groups)
        attributes = try query(.attributes)
        updatePassword = try query(.updatePassword, requires: [.user, .passwordHash, .oldHash])
        list = try query(.list, requires: [], or: properties.has("list-query") ? nil : tables?.list)
        sample = tables.map { SQLQuery(name: .list, text: $0.sample, parameters: []) }
    }

    /// The tables and columns that GlassFish's property names describe.
    private struct Tables {
        let password: String
        let groups: String?
        let list: String
        let sample: String

        init(_ properties: RealmProperties) throws(BadRealm) {
            func name(_ setting: String, isTable: Bool = false) throws(BadRealm) -> SQLIdentifier {
                guard properties.has(setting) else { throw BadRealm("must be set", setting: setting) }
                return try SQLIdentifier(try properties.string(setting), isTable: isTable, setting: setting)
            }
            let table = try name("user-table", isTable: true).quoted
            let user = try name("user-name-column").quoted
            let hash = try name("password-column").quoted
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
            let groupTable = try name("group-table", isTable: true).quoted
            let group = try name("group-name-column").quoted
            let member =
                properties.has("group-table-user-name-column") ? try name("group-table-user-name-column").quoted : user
            groups = "SELECT t.\(group) FROM \(groupTable) AS t WHERE t.\(member) = :user"
        }
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

/// The values of the parameters of one call.
///
/// Values are text, and never a part of a query's text. A value with a NUL byte cannot be made: databases would cut it.
struct SQLValues: Sendable {
    private var values: [SQLParameter: String] = [:]

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

    init(problem: String) { (names, self.problem) = ([], problem) }
    init(names: [String]) { self.names = names }

    func checkReadable() throws(ServerFault) {
        if let problem { throw ServerFault(.failed, problem) }
    }
}

/// The name of a table or a column, quoted, because PostgreSQL would convert a name without quotes to lower case.
struct SQLIdentifier: Sendable, Hashable {
    /// PostgreSQL cuts longer names without an error.
    static let maximumBytes = 63

    /// The name in double quotes; for a table in a schema, both names.
    let quoted: String
    let text: String

    /// Checks the name of a column, or of a table with an optional schema: `accounts.users`.
    init(_ text: String, isTable: Bool, setting: String) throws(BadRealm) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isValid =
            parts.count <= (isTable ? 3 : 1)
            && parts.allSatisfy { (1...Self.maximumBytes).contains($0.count) && $0.allSatisfy(Self.isNameByte) }
            && parts.allSatisfy { part in part.first.map { !(0x30...0x39).contains($0) && $0 != 0x24 } ?? false }
        guard isValid else {
            throw BadRealm(
                "is the name of \(isTable ? "a table, such as users or accounts.users" : "a column"): letters, digits, "
                    + "_ and $, at most \(Self.maximumBytes) bytes; use the -query properties for other names",
                setting: setting
            )
        }
        self.text = text
        quoted = parts.map { "\"\(String(decoding: $0, as: UTF8.self))\"" }.joined(separator: ".")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        // Letters that are not ASCII have bytes from 0x80; the property is UTF-8 already.
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte >= 0x80 || "_$".utf8.contains(byte)
    }
}
