// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit
internal import ServerConnections

/// The properties of a realm, checked.
struct LDAPSettings: Sendable {
    /// The bind of this program for its searches.
    enum ServiceBind: Sendable {
        case anonymous
        case simple(name: String, password: Secret)
        /// SASL EXTERNAL with the client certificate, or the user of this process at a local socket.
        case external
        /// There are no searches before the user has bound.
        case none

        /// The account, for messages.
        var name: String {
            switch self {
            case .anonymous: "anonymous"
            case .simple(let name, _): name
            case .external: "SASL EXTERNAL"
            case .none: "no bind: users bind directly"
            }
        }
    }

    /// The way to the entry of a user.
    enum UserLocation: Sendable {
        case search(FilterTemplate, scope: LDAPSearch.Scope)
        /// A bind as the user, and a search afterwards if the pattern is no distinguished name.
        case directBind(DNPattern, search: (filter: FilterTemplate, scope: LDAPSearch.Scope)?)

        /// The search for the entry; nil if the distinguished name is known without one.
        var search: (filter: FilterTemplate, scope: LDAPSearch.Scope)? {
            switch self {
            case .search(let filter, let scope): (filter, scope)
            case .directBind(_, let search): search
            }
        }

        /// The attributes whose value must be the user name.
        var nameAttributes: [FilterTemplate.NameAttribute] {
            if case .directBind(let pattern, _) = self, let attribute = pattern.nameAttribute { return [attribute] }
            return search?.filter.nameAttributes ?? []
        }
    }

    let servers: [LDAPServerURL]
    let transport: LDAPTransport
    let serviceBind: ServiceBind
    /// The account of ``serviceBind``; nil if it has no name.
    let serviceAccount: ServiceAccount?
    let base: String
    let location: UserLocation
    let nameAttribute: FilterTemplate.NameAttribute
    let domains: DomainNames
    /// The attributes for the subject, with their names in the directory.
    let attributes: [(name: String, source: String)]
    let groups: GroupSettings
    let mayChangePassword: Bool
    /// The attributes that the search for the user requests.
    let userAttributes: [String]
    /// The same with the attributes of the account's state, for lists of users.
    let recordAttributes: [String]

    /// True if entries are read with the rights of the user who signs in.
    var searchesAsUser: Bool { if case .none = serviceBind { true } else { false } }

    /// The attribute of OpenLDAP that tells a disabled account from a locked one.
    static let lockTimeAttribute = "pwdaccountlockedtime"
    /// The other attributes of an account's state, in OpenLDAP and Active Directory.
    static let stateAttributes = ["pwdreset", "useraccountcontrol", "accountexpires", "pwdlastset"]

    init(_ properties: RealmProperties) throws(BadRealm) {
        servers = try Self.servers(properties)
        transport = try Self.transport(properties, servers: servers)
        let isActiveDirectory = try properties.boolean("active-directory")
        base = try Self.name(properties, "base-dn") ?? ""
        location = try Self.location(properties, isActiveDirectory: isActiveDirectory)
        serviceBind = try Self.serviceBind(properties, servers: servers, transport: transport, location: location)
        serviceAccount = if case .simple(let name, _) = serviceBind { ServiceAccount(name) } else { nil }
        nameAttribute = try Self.nameAttribute(properties, location: location)
        domains = DomainNames(try Self.domains(properties))
        attributes = try Self.attributes(properties)
        groups = try GroupSettings(properties, base: base, isActiveDirectory: isActiveDirectory)
        mayChangePassword = try properties.boolean("change-expired-password")
        if base.isEmpty, !properties.has("base-dn"), !Self.isSelfContained(location, groups: groups) {
            throw BadRealm("must be set", setting: "base-dn")
        }
        var requested = [nameAttribute.name, Self.lockTimeAttribute] + attributes.map(\.source) + groups.userAttributes
        requested += location.nameAttributes.map(\.name)
        var seen: Set<String> = []
        let names = requested.filter { seen.insert($0.lowercased()).inserted }
        userAttributes = names
        recordAttributes = names + Self.stateAttributes
    }

    /// Returns whether a realm needs no base.
    private static func isSelfContained(_ location: UserLocation, groups: GroupSettings) -> Bool {
        guard case .directBind(let pattern, _) = location, pattern.isDistinguishedName else { return false }
        return groups.source == .none
    }

    private static func servers(_ properties: RealmProperties) throws(BadRealm) -> [LDAPServerURL] {
        let texts = try properties.list("directory")
        guard (1...16).contains(texts.count) else { throw BadRealm("takes 1 to 16 URLs", setting: "directory") }
        var servers: [LDAPServerURL] = []
        for text in texts {
            let server = try properties.reading("directory") { () throws(BadValue) in try LDAPServerURL(text) }
            guard !servers.contains(server) else { throw BadRealm("names \(text) twice", setting: "directory") }
            servers.append(server)
        }
        return servers
    }

    private static func transport(
        _ properties: RealmProperties,
        servers: [LDAPServerURL]
    ) throws(BadRealm) -> LDAPTransport {
        let startsTLS = try properties.boolean("start-tls")
        let isUnencryptedAllowed = try properties.boolean("allow-unencrypted")
        for server in servers where server.scheme == .ldap && !startsTLS && !server.isLocal && !isUnencryptedAllowed {
            let problem = "would receive passwords without encryption; use ldaps, or set start-tls to true"
            throw BadRealm("\(server.text) \(problem)", setting: "directory")
        }
        guard !startsTLS || servers.contains(where: { $0.scheme == .ldap }) else {
            throw BadRealm("applies to ldap URLs only, and there is none", setting: "start-tls")
        }
        let usesTLS = startsTLS || servers.contains { $0.scheme == .ldaps }
        var transport = LDAPTransport(startsTLS: startsTLS, authorities: SettingsFile.systemAuthorities)
        if let file = try properties.optional("ca-file") {
            transport.authorities = file
            _ = try SettingsFile.certificates(file, setting: "ca-file")
        } else if usesTLS {
            // The system looks after the content of its own file, which has more than a hundred certificates.
            _ = try SettingsFile.read(transport.authorities, setting: "ca-file")
        }
        transport.certificate = try ClientCertificateFiles(properties)
        guard transport.certificate == nil || usesTLS else {
            throw BadRealm("needs ldaps or start-tls", setting: "client-certificate")
        }
        transport.connectTimeout = try ServerPoolSettings.time("connect-timeout", of: properties)
        transport.bindTimeout = try ServerPoolSettings.time("bind-timeout", of: properties)
        transport.searchTimeout = try ServerPoolSettings.time("search-timeout", of: properties)
        return transport
    }

    private static func serviceBind(
        _ properties: RealmProperties,
        servers: [LDAPServerURL],
        transport: LDAPTransport,
        location: UserLocation
    ) throws(BadRealm) -> ServiceBind {
        if try properties.string("search-bind-mechanism") == "external" {
            for name in ["search-bind-dn", "search-bind-password"] where properties.has(name) {
                throw BadRealm("must not be set if search-bind-mechanism is external", setting: name)
            }
            guard transport.certificate != nil || servers.allSatisfy({ $0.scheme == .ldapi }) else {
                let problem = "must be set if search-bind-mechanism is external, unless all URLs are ldapi"
                throw BadRealm(problem, setting: "client-certificate")
            }
            return .external
        }
        guard let name = try Self.name(properties, "search-bind-dn") else {
            guard !properties.has("search-bind-password") else {
                throw BadRealm("must be set together with search-bind-password", setting: "search-bind-dn")
            }
            if case .directBind = location { return .none }
            return .anonymous
        }
        guard properties.has("search-bind-password") else {
            throw BadRealm("must be set together with search-bind-dn", setting: "search-bind-password")
        }
        let password = try properties.secret("search-bind-password")
        guard !password.isEmpty else {
            let problem = "is empty, and a server would accept it as an anonymous bind"
            throw BadRealm(problem, setting: "search-bind-password")
        }
        return .simple(name: name, password: password)
    }

    /// Returns a distinguished name, or a name that Active Directory takes for a bind.
    private static func name(_ properties: RealmProperties, _ setting: String) throws(BadRealm) -> String? {
        guard let text = try properties.optional(setting) else { return nil }
        let isBindName = setting == "search-bind-dn" && !text.utf8.contains(UInt8(ascii: "=")) && !text.isEmpty
        guard DistinguishedName(text) != nil || isBindName else {
            throw BadRealm("is no distinguished name: \(text)", setting: setting)
        }
        return text
    }

    private static func domains(_ properties: RealmProperties) throws(BadRealm) -> [String] {
        guard properties.has("domains") else { return [] }
        let names = try properties.list("domains")
        for name in names where name.utf8.contains(UInt8(ascii: ",")) {
            throw BadRealm("takes names that are separated by blanks, not \(name)", setting: "domains")
        }
        return names
    }

    private static func location(
        _ properties: RealmProperties,
        isActiveDirectory: Bool
    ) throws(BadRealm) -> UserLocation {
        let standard =
            isActiveDirectory
            ? "(&(objectCategory=person)(objectClass=user)(|(sAMAccountName=%s)(userPrincipalName=%n)))" : "uid=%s"
        let text = try properties.optional("search-filter") ?? standard
        let filter = try properties.reading("search-filter") { () throws(BadValue) -> FilterTemplate in
            let filter = try FilterTemplate(text, allowing: [.name, .typedName])
            guard filter.nameAttributes.isEmpty else { return filter }
            throw BadValue(
                "compares no attribute with the user name for equality, as in uid=%s, so the name of the found user "
                    + "could not be checked"
            )
        }
        let scope: LDAPSearch.Scope = try properties.string("search-scope") == "one-level" ? .oneLevel : .subtree
        guard let name = try properties.optional("user-dn-pattern") else { return .search(filter, scope: scope) }
        let pattern = try properties.reading("user-dn-pattern") { () throws(BadValue) in try DNPattern(name) }
        guard pattern.isDistinguishedName else { return .directBind(pattern, search: (filter, scope)) }
        guard !properties.has("search-filter") else {
            let problem = "cannot be set together with search-filter: the pattern names the entry"
            throw BadRealm(problem, setting: "user-dn-pattern")
        }
        return .directBind(pattern, search: nil)
    }

    private static func nameAttribute(
        _ properties: RealmProperties,
        location: UserLocation
    ) throws(BadRealm) -> FilterTemplate.NameAttribute {
        let compared = location.nameAttributes
        guard properties.has("user-name-attribute") else { return compared.first ?? .init(name: "uid") }
        let name = try attribute(properties, "user-name-attribute")
        return compared.first { $0.name.hasBytes(of: name) } ?? .init(name: name)
    }

    /// Returns the name of an attribute, in lower case.
    static func attribute(_ properties: RealmProperties, _ setting: String) throws(BadRealm) -> String {
        let name = try properties.string(setting)
        guard UserAttribute.isValid(name: name) else {
            throw BadRealm("is no name of an attribute: \(name)", setting: setting)
        }
        return name.lowercased()
    }

    private static func attributes(_ properties: RealmProperties) throws(BadRealm) -> [(name: String, source: String)] {
        var attributes: [(name: String, source: String)] = []
        for word in try properties.list("attributes") {
            let parts = word.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count <= 2, parts.allSatisfy({ UserAttribute.isValid(name: $0) }), let name = parts.first,
                let source = parts.last
            else {
                throw BadRealm("takes attributes such as mail or displayName=cn, not \(word)", setting: "attributes")
            }
            attributes.append((name, source.lowercased()))
        }
        guard attributes.count <= 64 else { throw BadRealm("has more than 64 attributes", setting: "attributes") }
        return attributes
    }
}
#endif
