// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What the `sign-in` block of the `server` block says: the pages a person meets.
public struct SignInSettings: Sendable, Hashable {
    /// An origin that may be gone back to after a sign-in or sign-out: scheme `https`, host, port.
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

    /// The first segments, behind the prefix, of all paths that pages and the session API are at; no rule decides about them.
    public static let pages = [
        "sign-in", "sign-out", "account", "session", "sessions", "style.css", "session.js",
    ]

    /// What all paths of the pages begin with: empty, or as in `/gatehouse`.
    public var prefix = ""
    /// The realms that are asked where the place somebody wants to go to does not say; empty for the default realm.
    public var realms: [String] = []
    /// How long a person may take for a page.
    ///
    /// The default is 10 minutes.
    public var time = Duration.seconds(600)
    /// How many sign-ins may wait for a second answer; one more ends the oldest.
    ///
    /// The default is 1,000.
    public var waiting = 1000
    /// The other origins that may be gone back to.
    public var returnTo: [Origin] = []

    /// The defaults.
    public init() {}
}
