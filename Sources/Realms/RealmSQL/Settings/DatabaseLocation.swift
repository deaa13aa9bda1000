// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import ServerConnections

/// The database that the property `database` names.
enum DatabaseLocation: Sendable {
    /// An SQLite file.
    case sqlite(path: String)
    /// A connection URI or a list of `name=value` of libpq.
    case postgreSQL(String)

    /// Reads the property.
    init(_ properties: RealmProperties) throws(BadRealm) {
        guard properties.has("database") else {
            guard !properties.has("datasource-jndi") else {
                throw BadRealm(
                    "names a resource of the application server, which Gatehouse does not have; set database to the "
                        + "database itself, such as sqlite:users.db or postgresql://db.example.org/app",
                    setting: "datasource-jndi"
                )
            }
            throw BadRealm(
                "must be set, such as sqlite:users.db or postgresql://db.example.org/app",
                setting: "database"
            )
        }
        guard !properties.has("datasource-jndi") else {
            throw BadRealm("must not be set together with database", setting: "datasource-jndi")
        }
        let text = try properties.string("database")
        if text.utf8.starts(with: "sqlite:".utf8) {
            let path = String(text.dropFirst("sqlite:".count))
            guard !path.isEmpty else { throw BadRealm("has no path after sqlite:", setting: "database") }
            self = .sqlite(path: path)
        } else if text.utf8.starts(with: "postgresql:".utf8) || text.utf8.starts(with: "postgres:".utf8)
            || text.utf8.contains(UInt8(ascii: "="))
        {
            self = .postgreSQL(text)
        } else {
            // The text may contain a password.
            throw BadRealm(
                "is sqlite:PATH, a URI such as postgresql://db.example.org/app, or a list such as host=db dbname=app",
                setting: "database"
            )
        }
    }

    /// The kind of SQL.
    var dialect: SQLDialect {
        switch self {
        case .sqlite: .sqlite
        case .postgreSQL: .postgreSQL
        }
    }

    /// Returns the servers of the database; no connection is opened.
    ///
    /// - Parameters:
    ///   - properties: The properties of the realm.
    ///   - limits: The time limits.
    /// - Returns: The servers.
    /// - Throws: ``BadRealm`` if a property of the connection cannot be used, or the program was built without the
    ///   trait PostgreSQL.
    func servers(_ properties: RealmProperties, limits: SQLLimits) throws(BadRealm) -> SQLServers {
        switch self {
        case .sqlite(let path):
            for name in Self.postgreSQLProperties where properties.has(name) {
                throw BadRealm("is for databases of PostgreSQL", setting: name)
            }
            func servers(isReadOnly: Bool) -> Servers<SQLConnection> {
                Servers(["sqlite:\(path)"]) { (_: Int, _: ServerCall) throws(ServerFault) -> SQLConnection in
                    SQLConnection(
                        try SQLiteConnection(path, isReadOnly: isReadOnly, queryTimeout: limits.query),
                        server: "sqlite:\(path)"
                    )
                }
            }
            return SQLServers(readers: servers(isReadOnly: true), writers: servers(isReadOnly: false))
        case .postgreSQL(let text):
            #if PostgreSQL
            return try PostgreSQLSettings(text, properties: properties, limits: limits).servers
            #else
            throw BadRealm(
                "names a database of PostgreSQL, and this program was built without it; install libpq-dev, and build "
                    + "with: swift build --traits default,PostgreSQL",
                setting: "database"
            )
            #endif
        }
    }

    /// The properties that only a database of PostgreSQL has.
    private static let postgreSQLProperties = [
        "db-user", "db-password", "password", "ca-file", "client-certificate", "client-key",
    ]
}
