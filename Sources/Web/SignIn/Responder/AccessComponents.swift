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
    package let accessController: AccessController
    package let signIn: SignInResponder
    /// The realm API; nil if it is disabled.
    package let realmAPI: RealmAPI?
    /// Renders all other responses.
    package let renderer: ResponseRenderer
}

extension SignInService {
    /// Returns the components of a configuration, whose realms are checked for changed users from now on.
    ///
    /// A reload is counted next, by ``countReload(to:)``.
    package func components(
        for configuration: Configuration,
        isCertificateTrusted: Bool,
        isReload: Bool = false
    ) throws(OpenSSLError) -> AccessComponents {
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
            wallClock: wallClock
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
            // A request may be received before a reload and begin its login after it, so the login is not counted by
            // the time at which it begins.
            generation: state.generation + (isReload ? 1 : 0)
        )
        return AccessComponents(
            accessController: accessController,
            signIn: SignInResponder(site: site),
            realmAPI: settings.realmAPI.map { realmAPI in
                RealmAPI(
                    site: site,
                    programs: Programs(realmAPI.clients, throttle: throttle),
                    log: ProgramLog(logger)
                )
            },
            renderer: ResponseRenderer(rules: configuration.rules, context: context)
        )
    }

}

extension PageContext {
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
