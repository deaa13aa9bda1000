// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit
public import RealmKit

/// A realm whose users are the owners of TLS client certificates.
///
/// TLS has verified the certificate. The realm takes the user name and the groups from it. Properties: `jaas-context`
/// (`certificateRealm`), `name-from` (`subject`), `mapping-file`, `groups-from`, `issuers`, `issuer-domains`,
/// `require-extended-key-usage` (`clientAuth`), and GlassFish's `common-name-as-principal-name` and
/// `dn-parts-used-for-groups`. It may be used from any thread. The model is `CertificateRealm` of GlassFish.
public struct CertificateRealm: Realm {
    /// `CertificateRealm` and the name of GlassFish's realm.
    public static let classNames = [
        "CertificateRealm", "com.sun.enterprise.security.auth.realm.certificate.CertificateRealm",
    ]

    /// The properties that are listed above.
    public static let properties = [.jaasContext(default: "certificateRealm")] + CertificateSettings.properties

    /// True, as in GlassFish: without an entry in login.conf, ``CertificateLoginModule`` decides alone.
    public static let isUsableWithoutContext = true

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String
    let reader: CertificateReader
    /// The names of `issuers` and `issuer-domains` that no certificate has.
    public let warnings: [RealmWarning]

    /// The authentication type `certificate`.
    public var authType: String { "certificate" }

    /// Reads the properties and the mapping file; throws if they contradict each other or the file cannot be used.
    ///
    /// The services must contain a `WallClock`. If they contain a `RealmLog`, it receives the errors of later versions of the
    /// mapping file.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        reader = try CertificateReader(properties)
        let issuers = reader.settings.issuers
        warnings =
            Self.warnings("issuers", issuers.accepted ?? [])
            + Self.warnings("issuer-domains", issuers.domains?.map(\.issuer) ?? [])
    }

    private static func warnings(_ setting: String, _ issuers: [String]) -> [RealmWarning] {
        issuers.enumerated().compactMap { word, issuer in
            SubjectForm.problem(of: issuer).map { problem in
                RealmWarning("no certificate has the issuer \(issuer): \(problem)", setting: setting, word: word)
            }
        }
    }

    /// Returns the groups of a user of the mapping file, from all entries of the user.
    ///
    /// Without a mapping file the groups are known only at a login.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        guard let mapping = reader.mapping else {
            throw .invalidOperation("the groups of a certificate are known only at login")
        }
        let groups = await mapping.current().groups(of: user)
        guard !groups.isEmpty else { throw .noSuchUser(user) }
        return groups.flatMap(\.self).uniqued
    }
}

extension CertificateRealm: RefreshingRealm {
    /// Reports all users as changed after a change of the mapping file.
    public func refresh() async -> ChangedUsers {
        guard let mapping = reader.mapping else { return .none }
        _ = await mapping.current()
        return mapping.takeChange() ? .all : .none
    }

    /// Returns whether the mapping file has an entry for a user, with a stamp of the groups.
    ///
    /// Without a mapping file the state is unknown.
    public func state(of user: Username) async -> UserState {
        guard let mapping = reader.mapping else { return .unknown }
        let groups = await mapping.current().groups(of: user)
        guard !groups.isEmpty else { return .gone }
        // The count of each entry's groups keeps the entries apart.
        return UserState(fields: ["CertificateRealm"] + groups.flatMap { ["\($0.count)"] + $0 })
    }
}

extension UserState {
    /// The state of a user who may sign in, with a stamp of texts; unknown if OpenSSL fails.
    init(fields: [String], expiry: Int? = nil) {
        self =
            (try? Digest.sha256(fields: fields)).map { .present(SecurityStamp($0.bytes, expiry: expiry)) } ?? .unknown
    }
}

/// Accepts the user whom the client's certificate names.
///
/// The name in the certificate must be the name of the login, byte by byte. A certificate of one user and the password
/// of another user are therefore never one user with two factors. With the scheme `certificate` the login has the name
/// of the certificate from the beginning.
///
/// In a ``CertificateRealm`` the properties of the realm apply. In the stack of any other realm the module has the same
/// properties as options, so it can be combined with modules that check passwords.
public struct CertificateLoginModule: CertificateNamingModule {
    /// The properties of ``CertificateRealm``, without `jaas-context`.
    public static let options = CertificateSettings.options

    private let reader: CertificateReader

    /// Creates the module for any realm; in a ``CertificateRealm`` no option may be set.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        guard let realm = realm as? CertificateRealm else {
            reader = try CertificateReader(options)
            return
        }
        for option in Self.options.properties where options.has(option.name) {
            throw BadModule("is a property of the realm: set it there", setting: option.name)
        }
        reader = realm.reader
    }

    /// Returns the name of a certificate that this module accepts.
    public func username(ofCertificate certificate: [UInt8]) async throws(LoginFault) -> Username {
        try await reader.user(of: certificate).username
    }

    /// Succeeds if the client's certificate names the user of the login.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        guard case .certificate(let der) = try await attempt.ask([.certificate])[0] else {
            throw LoginFault(.missingCredential, log: "the client sent no certificate")
        }
        let user = try await reader.user(of: der)
        guard user.username == attempt.username else {
            throw LoginFault(.wrongCredentials, log: "the certificate names another user: \(user.username)")
        }
        return attempt.commit(groups: user.groups, attributes: user.attributes)
    }
}
