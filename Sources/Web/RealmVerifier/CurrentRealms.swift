// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Throttle

/// The configuration that a verifier uses, and what decides by it.
///
/// It is a class, so that a check does not copy the configuration.
final class CurrentRealms: Sendable {
    let configuration: Configuration
    let accessController: AccessController
    /// The realms of a check that names none.
    let realms: [String]
    /// True if no module of ``realms`` can wait or ask for anything.
    private let realmsAreImmediate: Bool
    let whenUnavailable: WhenUnavailable

    init(
        _ configuration: Configuration,
        throttle: FailureThrottle,
        sessions: SessionTable,
        metrics: LoginMetrics?,
        clock: any LoginClock
    ) throws(ConfigurationErrors) {
        self.configuration = configuration
        do throws(OpenSSLError) {
            let log = configuration.services[RealmLog.self] ?? RealmLog { _, _ in }
            let acceptedLogins = try AcceptedLogins(clock: clock, log: log)
            let authenticator = configuration.authenticator.throttled(by: throttle).caching(by: acceptedLogins)
            metrics?.begin(configuration.realms.map(\.name))
            accessController = AccessController(
                rules: ProtectionRules([]),
                authenticator: metrics.map { authenticator.observed(by: $0) } ?? authenticator,
                sessions: sessions,
                credentialCache: try CredentialCache(lifetime: configuration.server.credentialCache.nanoseconds),
                acceptedLogins: acceptedLogins,
                clock: clock,
                wallClock: .system
            )
        } catch {
            throw configuration.server.stateFolder.errors("no random bytes can be generated: \(error)")
        }
        let signIn = configuration.server.signIn
        realms = signIn.realms.isEmpty ? configuration.defaultRealm.map { [$0] } ?? [] : signIn.realms
        realmsAreImmediate = accessController.isImmediate(realms)
        whenUnavailable = signIn.whenUnavailable ?? .stop
    }

    /// Returns whether a check waits for nothing but the throttle; nil for the realms of a check that names none.
    func isImmediate(_ realms: [String]?) -> Bool {
        if let realms { accessController.isImmediate(realms) } else { realmsAreImmediate }
    }

    /// Returns the mistake of the program in a check, for the log; nil if there is none.
    func fault(of realms: [String]?, service: String) -> String? {
        if (realms ?? self.realms).isEmpty { return "no realm is named, and there is no default-realm" }
        let known = accessController.authenticator.realms.keys
        // Those of the configuration are all known.
        if let realms, let unknown = realms.first(where: { !known.contains($0) }) {
            return "there is no realm \(unknown)"
        }
        return LoginRequest.isService(service) ? nil : "the service is not 1 to 64 letters, digits, - _ and ."
    }
}
