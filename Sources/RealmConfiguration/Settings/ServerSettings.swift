// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit
public import Sessions
public import Throttle

/// What the `server` block of realms.conf says.
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

    /// Where to listen.
    ///
    /// The default is `127.0.0.1:8443`.
    public var listen: [Placed<Address>]
    /// The folder for what the server keeps.
    ///
    /// The default is `var` beside realms.conf.
    public var stateFolder: Placed<String>
    /// What the `tls` block says.
    public var tls = TLSSettings()
    /// How many event loops serve; nil for one per processor.
    public var threads: Int?
    /// Whether a line is written for every request.
    public var hasAccessLog = true
    /// Whether HTTP/2 is spoken to clients that choose it.
    public var hasHTTP2 = true
    /// For how long credentials that a realm has accepted are not checked again; zero for checking every time.
    ///
    /// The default is 30 seconds.
    public var credentialCache = Duration.seconds(30)
    /// How much clients may send, how long they may take, and how many may be there.
    public var limits = Limits()
    /// How many failed logins there may be, and what follows from them.
    public var throttle = ThrottleSettings()
    /// How long sessions live and how many there may be.
    public var sessions = SessionSettings()
    /// What people sign in with.
    public var signIn = SignInSettings()
    /// The proxies whose word is taken for where a request came from; none, unless they are named.
    public var trustedProxies: [AddressBlock] = []

    /// The defaults.
    ///
    /// - Parameters:
    ///   - listen: Where to listen.
    ///   - stateFolder: The folder for what the server keeps.
    public init(listen: [Placed<Address>], stateFolder: Placed<String>) {
        self.listen = listen
        self.stateFolder = stateFolder
    }
}
