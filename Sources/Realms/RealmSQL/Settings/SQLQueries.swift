// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

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
    /// Replaces a hash.
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
            throw BadRealm(
                "must be set, or user-table, user-name-column and password-column",
                setting: "password-query"
            )
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
            do throws(BadQuery) {
                return try QueryScanner.translate(
                    source,
                    name: name,
                    dialect: dialect,
                    allowed: requires,
                    required: requires
                )
            } catch {
                throw BadRealm(error.description, setting: name.rawValue)
            }
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
                properties.has("group-table-user-name-column")
                ? try name("group-table-user-name-column").quoted : user
            groups = "SELECT t.\(group) FROM \(groupTable) AS t WHERE t.\(member) = :user"
        }
    }
}
