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
struct CurrentRealms: Sendable {
    let configuration: Configuration
    let accessController: AccessController
    /// The realms of a check that names none.
    let realms: [String]
    let whenUnavailable: WhenUnavailable

    init(
        _ configuration: Configuration,
        throttle: FailureThrottle,
        sessions: SessionTable,
        clock: any LoginClock
    ) throws(ConfigurationErrors) {
        self.configuration = configuration
        do throws(OpenSSLError) {
            let log = configuration.services[RealmLog.self] ?? RealmLog { _, _ in }
            let acceptedLogins = try AcceptedLogins(clock: clock, log: log)
            accessController = AccessController(
                rules: ProtectionRules([]),
                authenticator: configuration.authenticator.throttled(by: throttle).caching(by: acceptedLogins),
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
        let only = configuration.realms.count == 1 ? configuration.realms.first?.name : nil
        let standard = configuration.defaultRealm ?? only
        realms = signIn.realms.isEmpty ? standard.map { [$0] } ?? [] : signIn.realms
        whenUnavailable = signIn.whenUnavailable ?? .stop
    }

    /// Returns the mistake of the program in a check, for the log; nil if there is none.
    func fault(of realms: [String], service: String, isAddress: Bool) -> String? {
        if realms.isEmpty { return "no realm is named, and there is no default-realm" }
        if let unknown = realms.first(where: { accessController.authenticator.realms[$0] == nil }) {
            return "there is no realm \(unknown)"
        }
        if !LoginRequest.isService(service) { return "the service is not 1 to 64 letters, digits, - _ and ." }
        return isAddress ? nil : "the address of the client is not an IPv4 or IPv6 address without a port"
    }
}
