// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import Files
public import RealmKit
internal import ServerConnections
internal import Workers

/// A realm whose users are in a directory, such as OpenLDAP or Active Directory.
///
/// The entry of a user is found by a search, and the password is checked by a bind as the user. A directory that cannot
/// be reached, does not answer in time, or answers with an error is unavailable; this is never a wrong password.
///
/// Properties: see docs/ldap.md. It may be used from any thread. The model is `LDAPRealm` of GlassFish, with the names of
/// its properties.
public final class LDAPRealm: Realm {
    /// `LDAPRealm` and the names of GlassFish's realm, older and newer.
    public static let classNames = [
        "LDAPRealm", "com.sun.enterprise.security.auth.realm.ldap.LDAPRealm",
        "com.sun.enterprise.security.ee.auth.realm.ldap.LDAPRealm",
    ]

    /// True, because the realm asks a directory.
    public static let dependsOnOtherSystems = true

    /// The properties that are listed in docs/ldap.md.
    public static let properties: PropertySchema =
        [
            .jaasContext(default: "ldapRealm"),
            .required("directory", .list),
            .optional("base-dn"),
            .optional("search-filter"),
            Property("search-scope", .choice(["subtree", "one-level"]), default: "subtree"),
            .optional("search-bind-dn"),
            .optional("search-bind-password", .secret),
            Property("search-bind-mechanism", .choice(["simple", "external"]), default: "simple"),
            .optional("user-dn-pattern"),
            .optional("user-name-attribute"),
            Property("mode", .choice(["find-bind"]), default: "find-bind"),
            Property("active-directory", .boolean, default: "false"),
            .optional("domains", .list),
            Property("attributes", .list, default: "mail displayName"),
            .optional("group-source", .choice(["search", "member-of", "none"])),
            .optional("group-base-dn"),
            .optional("group-search-filter"),
            .string("group-target", default: "cn"),
            Property("group-names", .choice(["target", "dn"]), default: "target"),
            Property("nested-groups", .boolean, default: "false"),
            .optional("nested-group-search-filter"),
            Property("maximum-group-depth", .integer(1...100), default: "10"),
            Property("maximum-groups", .integer(1...maximumGroups), default: "5000"),
            Property("group-cache-time", .duration, default: "60s"),
            .optional("primary-group", .boolean),
            .optional("dynamic-group-search-filter"),
            .string("dynamic-group-target", default: "ismemberof"),
            Property("start-tls", .boolean, default: "false"),
            Property("allow-unencrypted", .boolean, default: "false"),
            .optional("ca-file", .path).naming(.certificates),
            .optional("client-certificate", .path).naming(.certificates),
            .optional("client-key", .path).naming(.privateKey),
            Property("change-expired-password", .boolean, default: "true"),
            Property("pool-size", .integer(1...256), default: "8"),
            Property("connect-timeout", .duration, default: "3s"),
            Property("bind-timeout", .duration, default: "5s"),
            Property("search-timeout", .duration, default: "5s"),
        ] + ServerPoolSettings.properties

    /// The largest value of `maximum-groups`.
    static let maximumGroups = 100_000

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String
    /// The filters and the user name that depend on attributes that users can write in many directories.
    public let warnings: [RealmWarning]
    let settings: LDAPSettings
    let pool: ServerPool<LDAPConnection>
    let cache: GroupCache
    let bindTimes = BindTimes()
    let aliases = AccountAliases()

    /// The authentication type `ldap`.
    public var authType: String { "ldap" }

    /// Creates the realm; no connection is opened.
    ///
    /// - Parameter properties: The properties of the schema. If the services contain a `RealmLog`, it receives the causes
    ///   of outages.
    /// - Throws: ``BadRealm`` for a property that cannot be used, such as a filter that is not valid, or a URL by which
    ///   passwords would be sent without encryption.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        let settings = try LDAPSettings(properties)
        self.settings = settings
        warnings = settings.writableAttributes(properties)
        // What a user can read after a direct bind, another one may not.
        cache = GroupCache(settings.searchesAsUser ? .zero : settings.groups.cacheTime)
        let servers = Servers(settings.servers.map(\.text)) { number, call throws(ServerFault) in
            try LDAPConnection(settings.servers[number], settings: settings, call: call)
        }
        pool = ServerPool(
            servers,
            settings: try ServerPoolSettings(properties, connections: "pool-size"),
            log: properties.services[RealmLog.self],
            realmName: properties.realmName
        )
    }

    /// Returns the case-folded name without its domain, or that of the user who was last found under this name.
    ///
    /// A user who may sign in by a mail address has no further guesses under it, except the first one.
    public func accountKey(of user: Username) -> String {
        guard let typed = typedName(user) else { return user.caseFolded }
        return aliases.account(of: typed)
    }

    /// Returns the name without its domain; nil if the domain is not one of the realm's.
    func typedName(_ user: Username) -> TypedName? {
        settings.domains.withoutDomain(user.text).map { TypedName(user: $0, full: user.text) }
    }

    /// Runs a login, or another call without an attempt, on a thread that may block.
    func run<Value: Sendable>(
        for typed: TypedName?,
        _ attempt: LoginAttempt? = nil,
        isRepeatable: Bool = true,
        _ body: @escaping @Sendable (DirectoryLogin) throws(ServerFault) -> Value
    ) async throws(LoginFault) -> Value {
        do throws(ServerFault) {
            let account = typed.map { aliases.account(of: $0) }
            let owner = JobOwner(source: ClientNetwork.source(attempt?.peer), account: account)
            let note: @Sendable (String) -> Void = { attempt?.note($0) }
            return try await pool.run(for: owner, isRepeatable: isRepeatable, note: note) {
                [self] connection, call throws(ServerFault) in
                connection.begin(call)
                return try body(DirectoryLogin(realm: self, connection: connection, cache: cache, note: note))
            }
        } catch {
            throw error.loginFault
        }
    }
}
#endif
