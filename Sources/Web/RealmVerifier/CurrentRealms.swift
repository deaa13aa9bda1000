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

/// The client of a check, as servers write it.
///
/// Its port changes with every connection, so it is no part of what is counted and cached.
enum Peer {
    case address(NetworkAddress)
    /// A Unix socket, a client in the same process, or a program that names none.
    case local

    static let fault = "the peer is not an IPv4 or IPv6 address, with or without a port"

    /// Reads an address with or without a port, or the remote peer of a gRPC server; nil if it is neither.
    init?(_ text: String?) {
        guard let text else {
            self = .local
            return
        }
        if let address = NetworkAddress(withOrWithoutPort: text[...]) {
            self = .address(address)
            return
        }
        func rest(after prefix: String) -> Substring? {
            text.utf8.starts(with: prefix.utf8) ? Substring(text.utf8.dropFirst(prefix.utf8.count)) : nil
        }
        let address: NetworkAddress?
        if let version4 = rest(after: "ipv4:") {
            // With one colon, it can only be an IPv4 address with a port.
            guard version4.utf8.count(where: { $0 == ASCII.colon }) == 1 else { return nil }
            address = NetworkAddress(withOrWithoutPort: version4)
        } else if let version6 = rest(after: "ipv6:") {
            guard version6.utf8.first == UInt8(ascii: "["), version6.utf8.last != UInt8(ascii: "]") else { return nil }
            address = NetworkAddress(withOrWithoutPort: version6)
        } else if rest(after: "unix:") != nil || rest(after: "in-process:") != nil || text.hasBytes(of: "in-process") {
            self = .local
            return
        } else {
            // The zone of an address without a port is ignored.
            address = NetworkAddress(text[...])
        }
        guard let address else { return nil }
        self = .address(address)
    }

    /// The canonical text of the address.
    var address: String? { if case .address(let address) = self { address.description } else { nil } }
}
