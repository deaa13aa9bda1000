// SPDX-License-Identifier: Apache-2.0

public import AccessControl
internal import Glibc
public import HTTPLimits
package import LoginConf
public import OpenSSLKit
public import RealmKit
public import Sessions
public import Throttle

/// The settings of the `server` block of realms.conf.
public struct ServerSettings: Sendable {
    /// An address to listen on.
    public struct Address: Sendable, Hashable, CustomStringConvertible {
        /// A host name or an address; `0.0.0.0` or `::` for all addresses of the machine.
        public let host: String
        /// A port from 0 to 65535; with 0 the system chooses a port.
        public let port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// The address as realms.conf spells it, such as `127.0.0.1:8443` or `[::1]:8443`.
        public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// The addresses to listen on; the default is `127.0.0.1:8443`.
    public var listen: [Located<Address>]
    /// The folder for the server's state; the default is `var` in the folder of realms.conf.
    public var stateFolder: Located<String>
    /// The settings of the `tls` block.
    public var tls = TLSSettings()
    /// The number of event loops; nil for one event loop per processor.
    public var threads: Int?
    /// True if all requests are logged.
    public var hasAccessLog = true
    /// True if HTTP/2 is offered.
    public var hasHTTP2 = true
    /// The time for which accepted credentials are cached, by default 30 seconds; if it is zero, every request is checked.
    public var credentialCache = Duration.seconds(30)
    /// The limits for clients: the size and the duration of requests, and the number of connections.
    public var limits = HTTPLimits()
    /// The settings of the throttle, which limits failed logins.
    public var throttle = ThrottleSettings()
    /// The limits of sessions: their lifetime and their number.
    public var sessions = SessionSettings()
    /// The settings of the sign-in pages.
    public var signIn = SignInSettings()
    /// The keys of identity tokens, signed statements for applications about the user of a request; by default none.
    ///
    /// The first key signs. The other keys are published, so that applications accept tokens of an earlier key or know
    /// the next key.
    public var identityTokenKeys: [SigningKey] = []
    /// The settings of the realm API; nil if it is disabled, as by default.
    public var realmAPI: RealmAPISettings?
    /// The addresses on which metrics and the state of the server are served over plain HTTP; by default none.
    public var metricsAddresses: [Located<Address>] = []
    /// The proxies whose forwarded headers are trusted; by default no proxy is trusted.
    public var trustedProxies: [CIDRBlock] = []
    /// True if the host of a request is read from the X-Forwarded-Host of a trusted proxy.
    ///
    /// The default is false, because some proxies forward an X-Forwarded-Host that the client has sent.
    public var trustsForwardedHost = false
    /// The hosts of applications behind a proxy whose CORS preflights are allowed without a login; by default none.
    public var preflightHosts: [ProtectRule.Host] = []
}

extension Located<ServerSettings.Address> {
    /// Returns the error of an address that cannot be bound, for the `errno` of bind(2); nil for a code without a hint.
    package func bindErrors(_ code: CInt) -> ConfigurationErrors? {
        let (reason, hint): (String, String)
        switch code {
        case EADDRINUSE:
            (reason, hint) = ("the address is in use", "stop the program that uses the port, or choose another port")
        case EACCES: (reason, hint) = ("not permitted", "ports below 1024 need root or CAP_NET_BIND_SERVICE")
        case EADDRNOTAVAIL:
            reason = "the address does not belong to this machine"
            hint = "HOST must be a name or an address of this machine"
        case _: return nil
        }
        return errors("cannot listen on \(value): \(reason)", hint: hint)
    }
}
