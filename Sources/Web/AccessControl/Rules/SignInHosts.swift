// SPDX-License-Identifier: Apache-2.0

package import RealmConfiguration

/// The sign-in host, and the hosts to which its sessions are handed over.
///
/// The other hosts are those of the rules with the scheme `form`. Their ports are the port of the sign-in host, because
/// the rules name no ports and the services at other ports may not be trusted. A host at another port needs an entry in
/// `return-to`.
package struct SignInHosts: Sendable {
    /// The origin of the sign-in host.
    package let origin: SignInSettings.Origin
    private let hosts: [ProtectRule.Host]
    private let otherOrigins: [SignInSettings.Origin]

    /// The hosts of a configuration; nil if each host has its own sign-in page.
    ///
    /// - Parameters:
    ///   - settings: The settings of the sign-in pages.
    ///   - rules: The rules.
    package init?(_ settings: SignInSettings, rules: [ProtectRule]) {
        guard let origin = settings.host else { return nil }
        self.origin = origin
        hosts = Set(rules.filter { $0.schemes.contains(.form) && $0.host != .any }.map { HostRules.canonical($0.host) })
            .sorted { $0.description.utf8.lexicographicallyPrecedes($1.description.utf8) }
        otherOrigins = settings.returnTo
    }

    /// Returns whether a request is for the sign-in host.
    ///
    /// - Parameter authority: The host and port of the request, as text.
    /// - Returns: True if they are the sign-in host and its port.
    package func isSignInHost(_ authority: String) -> Bool {
        RequestHost(authority).map { SignInSettings.Origin($0) == origin } ?? false
    }

    /// Returns whether a session may be handed over to an origin.
    ///
    /// - Parameter origin: The origin, with the host in canonical form.
    /// - Returns: True if the origin is not the sign-in host, and a rule names its host.
    package func contains(_ origin: SignInSettings.Origin) -> Bool {
        guard origin != self.origin, hosts.contains(where: { $0.matches(origin.host) }) else { return false }
        return origin.port == self.origin.port || otherOrigins.contains(origin)
    }
}

extension SignInSettings.Origin {
    /// The origin of a host that is requested over https.
    ///
    /// - Parameter host: The host, with the port if it is not 443.
    package init(_ host: RequestHost) { self.init(host: host.name, port: host.port.map(Int.init) ?? 443) }
}
