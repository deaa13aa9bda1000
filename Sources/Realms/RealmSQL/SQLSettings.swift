// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Passwords
internal import RealmKit
internal import ServerConnections

/// The properties of a ``SQLRealm``, checked.
struct SQLSettings: Sendable {
    let location: DatabaseLocation
    let queries: SQLQueries
    let limits: SQLLimits
    let pool: ServerPoolSettings
    /// The column of digests; nil if the column contains hashes of all formats.
    let digests: DigestColumn?
    let charset: Charset
    /// True if a weak hash is replaced at a login.
    let rehashes: Bool
    let formatOptions: FormatOptions
    /// In the login dialog, if it has expired.
    let mayChangePassword: Bool
    let isCheckedAtLoad: Bool
    /// The configured cost of unknown users' checks; nil if the costs are those of the stored hashes.
    let decoy: HashPolicy?

    /// The encodings that passwords can have before they are hashed to a digest.
    enum Charset: String, Sendable, CaseIterable {
        case utf8 = "UTF-8"
        case latin1 = "ISO-8859-1"
        case ascii = "US-ASCII"
    }

    static let properties: PropertySchema =
        [
            .jaasContext(default: "jdbcRealm"),
            .optional("database", .location(fileScheme: "sqlite")).naming(.users),
            .optional("datasource-jndi"),
            .optional("db-user"),
            .optional("db-password", .secret),
            .optional("password", .secret),
            .optional("ca-file", .path).naming(.certificates),
            .optional("client-certificate", .path).naming(.certificates),
            .optional("client-key", .path).naming(.privateKey),
            .optional("user-table"),
            .optional("user-name-column"),
            .optional("password-column"),
            .optional("group-table"),
            .optional("group-name-column"),
            .optional("group-table-user-name-column"),
            .optional("digest-algorithm"),
            .optional("encoding", .choice(DigestColumn.Encoding.allCases.map(\.rawValue))),
            Property("charset", .choice(Charset.allCases.map(\.rawValue)), default: Charset.utf8.rawValue),
            .optional("password-query"),
            .optional("state-query"),
            .optional("groups-query"),
            .optional("attributes-query"),
            .optional("update-password-query"),
            .optional("list-query"),
            Property("maximum-groups", .integer(1...100_000), default: "5000"),
            Property("case-sensitive", .boolean, default: "true"),
            Property("rehash", .boolean, default: "true"),
            Property("truncated-passwords", .boolean, default: "false"),
            Property("change-expired-password", .boolean, default: "true"),
            .optional("decoy"),
            Property("check-at-load", .boolean, default: "true"),
            Property("connections", .integer(1...256), default: "8"),
            Property("connect-timeout", .duration, default: "3s"),
            Property("query-timeout", .duration, default: "5s"),
        ] + ServerPoolSettings.properties

    init(_ properties: RealmProperties) throws(BadRealm) {
        location = try DatabaseLocation(properties)
        queries = try SQLQueries(properties, dialect: location.dialect)
        limits = SQLLimits(
            connect: try ServerPoolSettings.time("connect-timeout", of: properties),
            query: try ServerPoolSettings.time("query-timeout", of: properties)
        )
        pool = try ServerPoolSettings(properties, connections: "connections")
        digests = try Self.digests(properties)
        charset = Charset(rawValue: try properties.string("charset")) ?? .utf8
        guard charset == .utf8 || digests != nil else { throw BadRealm("needs digest-algorithm", setting: "charset") }
        rehashes = try properties.boolean("rehash")
        var formatOptions = FormatOptions()
        formatOptions.acceptsTruncated = try properties.boolean("truncated-passwords")
        guard !formatOptions.acceptsTruncated || rehashes && queries.updatePassword != nil else {
            let problem = "needs update-password-query and rehash true, so that such a hash is replaced"
            throw BadRealm(problem, setting: "truncated-passwords")
        }
        self.formatOptions = formatOptions
        mayChangePassword = try properties.boolean("change-expired-password")
        isCheckedAtLoad = try properties.boolean("check-at-load")
        decoy = try Self.decoy(properties)
    }

    private static func digests(_ properties: RealmProperties) throws(BadRealm) -> DigestColumn? {
        guard properties.has("digest-algorithm") else {
            guard !properties.has("encoding") else { throw BadRealm("needs digest-algorithm", setting: "encoding") }
            return nil
        }
        let encoding = try properties.optional("encoding") ?? "Hex"
        let algorithm = try properties.string("digest-algorithm")
        let column = try Result { () throws(BadHash) in
            try DigestColumn(algorithm: algorithm, encoding: .init(rawValue: encoding) ?? .hexadecimal)
        }.mapError { BadRealm($0.description, setting: "digest-algorithm") }.get()
        guard !column.isClearText || !properties.has("encoding") else {
            throw BadRealm("none has no encoding", setting: "digest-algorithm")
        }
        return column
    }

    private static func decoy(_ properties: RealmProperties) throws(BadRealm) -> HashPolicy? {
        guard properties.has("decoy") else { return nil }
        let words = try properties.string("decoy").split(separator: " ").map(String.init)
        return try Result { () throws(BadValue) in try HashPolicy(words: words) }
            .mapError { BadRealm($0.description, setting: "decoy") }.get()
    }
}

/// The database that the property `database` names.
enum DatabaseLocation: Sendable {
    case sqlite(path: String)
    /// A connection URI or a list of `name=value` of libpq.
    case postgreSQL(String)

    init(_ properties: RealmProperties) throws(BadRealm) {
        guard properties.has("database") else {
            guard !properties.has("datasource-jndi") else {
                throw BadRealm(
                    "names a resource of the application server, which Gatehouse does not have; set database to the "
                        + "database itself, such as sqlite:users.db or postgresql://db.example.org/app",
                    setting: "datasource-jndi"
                )
            }
            let problem = "must be set, such as sqlite:users.db or postgresql://db.example.org/app"
            throw BadRealm(problem, setting: "database")
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

    var dialect: SQLDialect {
        if case .sqlite = self { .sqlite } else { .postgreSQL }
    }

    /// Returns the servers of the database; no connection is opened.
    func servers(_ properties: RealmProperties, limits: SQLLimits) throws(BadRealm) -> SQLServers {
        switch self {
        case .sqlite(let path):
            for name in Self.postgreSQLProperties where properties.has(name) {
                throw BadRealm("is for databases of PostgreSQL", setting: name)
            }
            func servers(isReadOnly: Bool) -> Servers<SQLConnection> {
                Servers(["sqlite:\(path)"]) { (_: Int, _: ServerCall) throws(ServerFault) -> SQLConnection in
                    let file = try SQLiteConnection(path, isReadOnly: isReadOnly, queryTimeout: limits.query)
                    return SQLConnection(file, server: "sqlite:\(path)")
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
