// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// The settings of the sign-in pages: the `sign-in` block of the `server` block.
public struct SignInSettings: Sendable, Hashable {
    /// An origin with the scheme `https`, to which a browser may return after a sign-in or sign-out.
    public struct Origin: Sendable, Hashable, CustomStringConvertible {
        /// The host, in lower case and without a final dot.
        public let host: String
        /// The port; the default is 443.
        public let port: Int

        /// Creates an origin.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// The origin as text, such as `https://app.example.com` or `https://app.example.com:8443`.
        public var description: String { port == 443 ? "https://\(host)" : "https://\(host):\(port)" }
    }

    /// The origin of the sign-in host, which signs users in for all hosts; nil if each host has its own sign-in page.
    ///
    /// After a sign-in, the session is handed over to the host that the user came from. That host must be named by a
    /// rule with the scheme `form`.
    public var host: Origin?
    /// The prefix of the paths of all pages, such as `/gatehouse`; empty by default.
    public var prefix = ""
    /// The realms for users who open the sign-in page directly, without a rule that requires it; empty for the default
    /// realm.
    public var realms: [String] = []
    /// The reaction to a realm of ``realms`` that is unavailable; nil if it is not set, which means `continue`.
    public var whenUnavailable: WhenUnavailable?
    /// The time that a login waits for the answer to a question, such as a one-time code; the default is 10 minutes.
    public var time = Duration.seconds(600)
    /// The maximum number of sign-ins that wait for their second step, by default 1,000; a further one ends the oldest.
    public var waiting = 1000
    /// The other origins to which a browser may return after a sign-in or sign-out.
    public var returnTo: [Origin] = []
    /// The name, texts and logo of the organization, which the pages show.
    public var brand = SignInBrand()
    /// The translations of the pages: English, German, French, and those of translation files.
    package var translations = Translations()

    /// Creates the default settings.
    public init() {}
}
