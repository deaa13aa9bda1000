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
        ///
        /// - Parameters:
        ///   - host: The host, in lower case.
        ///   - port: The port.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// The origin as text, such as `https://app.example.com` or `https://app.example.com:8443`.
        public var description: String { port == 443 ? "https://\(host)" : "https://\(host):\(port)" }
    }

    /// The first path segment after the prefix of each sign-in page and of the session API.
    ///
    /// Rules do not apply to these paths.
    package enum Segment: String, Sendable, CaseIterable {
        case signIn = "sign-in"
        case enter
        case signOut = "sign-out"
        case account
        case session
        case sessions
        case style = "style.css"
        case script = "session.js"
        /// The logo of the brand; the path exists only if there is one.
        case logo
        /// The keys of identity tokens; the path exists only if applications get tokens.
        case identityKeys = "jwks.json"
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
    /// The time that a login waits for the answer to a question, such as a one-time code.
    ///
    /// The default is 10 minutes.
    public var time = Duration.seconds(600)
    /// The maximum number of sign-ins that wait for their second step; a further sign-in ends the oldest of them.
    ///
    /// The default is 1,000.
    public var waiting = 1000
    /// The other origins to which a browser may return after a sign-in or sign-out.
    public var returnTo: [Origin] = []
    /// The name, texts and logo of the organization, which the pages show.
    public var brand = SignInBrand()
    /// The translations of the pages: English, German, French, and those of translation files.
    package var translations = Translations()

    /// The segments of the pages that exist with these settings.
    package var segments: [Segment] {
        Segment.allCases.filter { $0 != .identityKeys && ($0 != .logo || brand.logo != nil) }
    }

    /// Creates the default settings.
    public init() {}
}
