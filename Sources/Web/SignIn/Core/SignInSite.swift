// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import RealmConfiguration
internal import RealmKit
internal import Throttle

/// The settings, rules and state that all parts of the sign-in use.
struct SignInSite: Sendable {
    let settings: SignInSettings
    let rules: ProtectionRules
    let authenticator: Authenticator
    let state: SignInState
    let context: PageContext
    let refresher: RealmRefresher
    /// The number of reloads that led to this configuration.
    ///
    /// After a further reload, a login that this site began creates a session only if the realm is unchanged.
    let generation: Int
    /// The names of the realms in which users log in if no rule names other realms.
    let realms: [String]
    /// Whether the next of these realms is used if a realm is unavailable.
    let whenUnavailable: WhenUnavailable
    /// The time for which failed logins lock an account, in minutes; nil if they lock none.
    let lockMinutes: Int?

    /// The site of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - rules: The rules.
    ///   - authenticator: The authenticator that logs users in.
    ///   - state: Sessions and pending logins.
    ///   - refresher: The service that checks the realms for changed users.
    ///   - context: The context of the pages.
    ///   - generation: The number of reloads that led to the configuration.
    init(
        _ configuration: Configuration,
        rules: ProtectionRules,
        authenticator: Authenticator,
        state: SignInState,
        refresher: RealmRefresher,
        context: PageContext,
        generation: Int
    ) {
        settings = configuration.server.signIn
        self.rules = rules
        self.authenticator = authenticator
        self.state = state
        self.refresher = refresher
        self.context = context
        self.generation = generation
        let throttle = configuration.server.throttle
        lockMinutes = throttle.failures > 0 ? Int((throttle.lock / .seconds(60)).rounded(.up)) : nil
        let rule = configuration.rules.first { $0.schemes.contains(.form) }
        if !settings.realms.isEmpty {
            realms = settings.realms
            whenUnavailable = settings.whenUnavailable ?? .continue
        } else if let realm = configuration.defaultRealm {
            realms = [realm]
            whenUnavailable = settings.whenUnavailable ?? .continue
        } else {
            realms = rule?.realms ?? []
            whenUnavailable = settings.whenUnavailable ?? rule?.whenUnavailable ?? .continue
        }
    }
}
