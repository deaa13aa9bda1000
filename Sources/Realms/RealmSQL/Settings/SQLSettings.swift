// SPDX-License-Identifier: Apache-2.0

internal import Bytes
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
    /// The encoding of passwords before they are hashed to a digest.
    let charset: Charset
    /// True if the returned name must have the bytes of the name that was typed.
    let isCaseSensitive: Bool
    /// True if a weak hash is replaced at a login.
    let rehashes: Bool
    /// The options for reading hashes.
    let formatOptions: FormatOptions
    /// True if users may change an expired password in the login dialog.
    let mayChangePassword: Bool
    /// True if the queries are checked when the configuration is loaded.
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
        guard charset == .utf8 || digests != nil else {
            throw BadRealm("needs digest-algorithm", setting: "charset")
        }
        isCaseSensitive = try properties.boolean("case-sensitive")
        rehashes = try properties.boolean("rehash")
        var formatOptions = FormatOptions()
        formatOptions.acceptsTruncated = try properties.boolean("truncated-passwords")
        guard !formatOptions.acceptsTruncated || rehashes && queries.updatePassword != nil else {
            throw BadRealm(
                "needs update-password-query and rehash true, so that such a hash is replaced",
                setting: "truncated-passwords"
            )
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
        let encoding = properties.has("encoding") ? try properties.string("encoding") : "Hex"
        let algorithm = try properties.string("digest-algorithm")
        do throws(BadHash) {
            let column = try DigestColumn(algorithm: algorithm, encoding: .init(rawValue: encoding) ?? .hexadecimal)
            guard !column.isClearText || !properties.has("encoding") else {
                throw BadHash("none has no encoding")
            }
            return column
        } catch {
            throw BadRealm(error.description, setting: "digest-algorithm")
        }
    }

    private static func decoy(_ properties: RealmProperties) throws(BadRealm) -> HashPolicy? {
        guard properties.has("decoy") else { return nil }
        let words = try properties.string("decoy").split(separator: " ").map(String.init)
        do throws(BadValue) {
            return try HashPolicy(words: words)
        } catch {
            throw BadRealm(error.description, setting: "decoy")
        }
    }
}
