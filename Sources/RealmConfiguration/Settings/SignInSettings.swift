// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The settings of the `sign-in` block in the `server` block: the pages of the sign-in.
public struct SignInSettings: Sendable, Hashable {
    /// An origin to which a browser may return after a sign-in or sign-out: scheme `https`, host, port.
    public struct Origin: Sendable, Hashable, CustomStringConvertible {
        /// The host, in lower case and without a dot at its end.
        public let host: String
        /// The port; 443 where none is named.
        public let port: Int

        /// An origin.
        ///
        /// - Parameters:
        ///   - host: The host, in lower case.
        ///   - port: The port.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// As in `https://app.example.com` or `https://app.example.com:8443`.
        public var description: String { port == 443 ? "https://\(host)" : "https://\(host):\(port)" }
    }

    /// The first segments, after the prefix, of the paths of the pages and the session API; rules do not apply to them.
    package enum Segment: String, Sendable, CaseIterable {
        case signIn = "sign-in"
        case signOut = "sign-out"
        case account
        case session
        case sessions
        case style = "style.css"
        case script = "session.js"
    }

    /// The prefix of the paths of all pages: empty, or as in `/gatehouse`.
    public var prefix = ""
    /// The realms of a sign-in for a page without a rule; empty for the default realm.
    public var realms: [String] = []
    /// The time that a user has for a page.
    ///
    /// The default is 10 minutes.
    public var time = Duration.seconds(600)
    /// The most sign-ins that may wait for a second step; one more ends the oldest.
    ///
    /// The default is 1,000.
    public var waiting = 1000
    /// The other origins to which a browser may return.
    public var returnTo: [Origin] = []

    /// The defaults.
    public init() {}
}
