// SPDX-License-Identifier: Apache-2.0

public import RealmKit

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

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: A ``CertificateRealm``, or any other realm.
    ///   - options: The options; in a ``CertificateRealm`` none may be set.
    /// - Throws: ``BadModule`` if the options contradict each other, or the mapping file cannot be used.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        if let realm = realm as? CertificateRealm {
            for option in Self.options.properties where options.has(option.name) {
                throw BadModule("is a property of the realm: set it there", setting: option.name)
            }
            reader = realm.reader
            return
        }
        guard let clock = options.services[WallClock.self] else {
            throw BadModule("this program has no clock that checks certificates")
        }
        let settings = try CertificateSettings(options)
        do throws(MappingFault) {
            reader = try CertificateReader(settings, clock: clock, log: options.services[RealmLog.self])
        } catch {
            throw BadModule(error.description, setting: "mapping-file")
        }
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
