// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import HTTPLimits
public import RealmKit
public import Sessions
public import Throttle

/// The settings of the `server` block of realms.conf.
public struct ServerSettings: Sendable {
    /// An address to listen on.
    public struct Address: Sendable, Hashable, CustomStringConvertible {
        /// A host name or an address; `0.0.0.0` or `::` for all.
        public let host: String
        /// A port from 0 to 65535; 0 lets the system choose.
        public let port: Int

        /// An address.
        ///
        /// - Parameters:
        ///   - host: A host name or an address.
        ///   - port: A port from 0 to 65535.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// As realms.conf spells it: `127.0.0.1:8443`, `[::1]:8443`.
        public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// The addresses to listen on.
    ///
    /// The default is `127.0.0.1:8443`.
    public var listen: [Located<Address>]
    /// The folder for the server's state.
    ///
    /// The default is `var` beside realms.conf.
    public var stateFolder: Located<String>
    /// The settings of the `tls` block.
    public var tls = TLSSettings()
    /// The number of event loops; nil for one per processor.
    public var threads: Int?
    /// True if each request is logged.
    public var hasAccessLog = true
    /// True if HTTP/2 is offered.
    public var hasHTTP2 = true
    /// The time for which accepted credentials are cached; zero to check them with every request.
    ///
    /// The default is 30 seconds.
    public var credentialCache = Duration.seconds(30)
    /// The limits for clients: the size of requests, the time they may take, and the number of connections.
    public var limits = HTTPLimits()
    /// The limits of failed logins, and their consequences.
    public var throttle = ThrottleSettings()
    /// The life time of sessions, and how many there may be.
    public var sessions = SessionSettings()
    /// The settings of the sign-in pages.
    public var signIn = SignInSettings()
    /// The proxies whose forwarded headers are trusted; none by default.
    public var trustedProxies: [CIDRBlock] = []
    /// True if X-Forwarded-Host of a trusted proxy sets the host of a request.
    ///
    /// The default is false: a proxy that does not set the field passes on what the client has written.
    public var trustsForwardedHost = false

    /// The defaults.
    ///
    /// - Parameters:
    ///   - listen: The addresses to listen on.
    ///   - stateFolder: The folder for the server's state.
    public init(listen: [Located<Address>], stateFolder: Located<String>) {
        self.listen = listen
        self.stateFolder = stateFolder
    }
}
