// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
package import OpenSSLKit
internal import Passwords
package import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The components that decide about the requests of a server and answer them.
package struct AccessComponents: Sendable {
    /// Decides about requests.
    package let accessController: AccessController
    /// The sign-in pages, the session API and the account page.
    package let signIn: SignInResponder
    /// The realm API; nil if it is disabled.
    package let realmAPI: RealmAPI?
    /// Renders all other responses.
    package let renderer: ResponseRenderer
}

extension SignInService {
    /// Returns the components of a configuration.
    ///
    /// From now on, the realms of this configuration are checked for changed users.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - isCertificateTrusted: True if clients are expected to trust the certificate.
    ///   - isReload: True if the components are for a reload, which ``countReload(to:)`` counts next.
    /// - Returns: The components.
    /// - Throws: ``OpenSSLError`` when no random bytes can be generated for a key.
    package func components(
        for configuration: Configuration,
        isCertificateTrusted: Bool,
        isReload: Bool = false
    ) throws(OpenSSLError) -> AccessComponents {
        let clock = SystemClock()
        let settings = configuration.server
        let rules = ProtectionRules(configuration.rules, preflightHosts: settings.preflightHosts)
        let acceptedLogins = try AcceptedLogins(
            clock: clock,
            log: configuration.services[RealmLog.self] ?? RealmLog { _, _ in }
        )
        var authenticator = configuration.authenticator.throttled(by: throttle).caching(by: acceptedLogins)
        if let loginMetrics { authenticator = authenticator.observed(by: loginMetrics) }
        let context = try PageContext(configuration, isCertificateTrusted: isCertificateTrusted)
        let accessController = AccessController(
            rules: rules,
            authenticator: authenticator,
            sessions: state.sessions,
            credentialCache: try CredentialCache(lifetime: settings.credentialCache.nanoseconds),
            acceptedLogins: acceptedLogins,
            clock: clock,
            wallClock: WallClock.system
        )
        refresher.use(
            configuration.realms,
            accessController: accessController,
            pool: configuration.services[PasswordService.self]?.pool
        )
        let site = SignInSite(
            configuration,
            rules: rules,
            authenticator: authenticator,
            state: state,
            refresher: refresher,
            context: context,
            // A request may be received before a reload and begin its login after it, so the login is not counted by the
            // time at which it begins.
            generation: state.generation + (isReload ? 1 : 0)
        )
        return AccessComponents(
            accessController: accessController,
            signIn: SignInResponder(site: site),
            realmAPI: settings.realmAPI.map { realmAPI($0, at: site) },
            renderer: ResponseRenderer(rules: configuration.rules, context: context)
        )
    }

    /// Returns the realm API of a configuration.
    private func realmAPI(_ settings: RealmAPISettings, at site: SignInSite) -> RealmAPI {
        RealmAPI(
            site: site,
            programs: Programs(settings.clients, throttle: throttle),
            log: ProgramLog(logger)
        )
    }
}

extension PageContext {
    /// The context of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - isCertificateTrusted: True if clients are expected to trust the certificate.
    /// - Throws: ``OpenSSLError`` if OpenSSL fails.
    package init(_ configuration: Configuration, isCertificateTrusted: Bool) throws(OpenSSLError) {
        let settings = configuration.server.signIn
        let hosts = SignInHosts(settings, rules: configuration.rules)
        var keys: [IdentityKey] = []
        for key in configuration.server.identityToken?.keys ?? [] { keys.append(try IdentityKey(key)) }
        try self.init(
            security: SecurityHeaders(isCertificateTrusted: isCertificateTrusted),
            links: SignInLinks(
                routes: Routes(
                    prefix: settings.prefix,
                    hasRealmAPI: configuration.server.realmAPI != nil,
                    hasLogo: settings.brand.logo != nil,
                    hasIdentityKeys: !keys.isEmpty
                ),
                hosts: hosts
            ),
            brand: settings.brand,
            translations: settings.translations,
            identityKeys: keys.isEmpty ? nil : IdentityKeySet(keys)
        )
    }
}
