// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import Files
public import RealmKit
internal import ServerConnections

/// A realm whose users are in a directory, such as OpenLDAP or Active Directory.
///
/// The entry of a user is found by a search, and the password is checked by a bind as the user. A directory that cannot
/// be reached, does not answer in time, or answers with an error is unavailable; this is never a wrong password.
///
/// Properties: see docs/ldap.md. It may be used from any thread. The model is `LDAPRealm` of GlassFish, with the names of
/// its properties.
public struct LDAPRealm: UserListingRealm, TestableRealm {
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
    let directory: Directory

    /// The filters and the user name that depend on attributes that users can write in many directories.
    public let warnings: [RealmWarning]

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
        directory = try Directory(properties)
        warnings = directory.settings.warningsAboutWritableAttributes(properties)
    }

    /// Returns the groups of a user.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] { try await find(user).groups }

    /// Returns the attributes of a user.
    public func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] {
        try await find(user).attributes
    }

    /// Returns the case-folded name without its domain, or that of the user who was last found under this name.
    ///
    /// A user who may sign in by a mail address has no further guesses under it, except the first one.
    public func accountKey(of user: Username) -> String {
        guard let typed = typedName(user) else { return user.caseFolded }
        return directory.aliases.account(of: typed)
    }

    /// Returns all users of the directory, without their groups.
    public func users() async throws(RealmError) -> [UserRecord] { try await directory.users() }

    /// Returns a user with the groups.
    public func user(_ name: Username) async throws(RealmError) -> UserRecord? {
        guard let typed = typedName(name) else { return nil }
        return try await directory.user(typed)
    }

    /// Connects to each server, binds for searches there, and looks the user up; nothing is sent with a user's password.
    public func testBackEnd(user: Username?, report: @escaping @Sendable (BackEndStep) -> Void) async {
        guard let user else {
            await directory.test(nil, report: report)
            return
        }
        guard let typed = typedName(user) else {
            report(BackEndStep("\(user): the domain is none of the realm's domains", isFailure: true))
            return
        }
        await directory.test(typed, report: report)
    }

    private func find(_ user: Username) async throws(RealmError) -> UserRecord {
        guard let found = try await self.user(user) else { throw .noSuchUser(user) }
        return found
    }

    /// Returns the name without its domain; nil if the domain is not one of the realm's.
    func typedName(_ user: Username) -> TypedName? {
        directory.settings.domains.withoutDomain(user.text).map { TypedName(user: $0, full: user.text) }
    }
}

extension LDAPRealm: GroupLookupRealm {
    /// Returns the canonical form of a distinguished name if `group-names` is `dn`, and otherwise the name.
    public func groupName(_ name: String) throws(BadValue) -> String {
        guard directory.settings.groups.usesDistinguishedNames else { return name }
        guard let key = DistinguishedName(name)?.key, GroupName.isUsable(key) else {
            throw BadValue("is no distinguished name such as cn=staff,ou=groups,dc=example,dc=org (group-names dn)")
        }
        return key
    }

    /// Returns the groups that the directory finds for names of groups.
    public func existingGroups(_ names: [String]) async throws(RealmError) -> [String] {
        try await directory.existingGroups(names)
    }
}
#endif
