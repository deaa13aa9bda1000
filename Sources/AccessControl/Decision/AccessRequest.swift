// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Sessions

/// A request as the access rules see it.
///
/// The server's own pages, forward authentication and the middleware all create it from a ``RequestClient``.
package struct AccessRequest {
    /// The host that the request is for.
    package enum Host {
        /// No rule and no session needs the host, so it is not read.
        case notNeeded
        /// Host and port as text; it is parsed where a rule or a session needs it.
        case text(String)
        /// The parsed host.
        case parsed(RequestHost)

        /// The host that a session must have been created at; nil for a host that cannot be parsed.
        var ofSessions: SessionHost? {
            switch self {
            case .notNeeded: nil
            case .text(let text): RequestHost(text)?.ofSessions
            case .parsed(let host): host.ofSessions
            }
        }
    }

    let host: Host
    let path: RequestPath
    let method: String
    /// The client's address; nil if it is not known.
    let address: String?
    /// The session cookie of the request.
    let session: OurCookies.Found
    /// True if the request extends the idle time of its session.
    let isActivity: Bool

    /// A request.
    ///
    /// - Parameters:
    ///   - method: The method, in its original spelling.
    ///   - path: The path.
    ///   - host: The host.
    ///   - client: The client's address and cookies.
    ///   - isActivity: True if the request extends the idle time of its session.
    package init(
        method: String,
        path: RequestPath,
        host: Host,
        client: RequestClient,
        isActivity: Bool = true
    ) {
        self.method = method
        self.path = path
        self.host = host
        address = client.address
        session = client.cookies.session
        self.isActivity = isActivity
    }

    /// A request whose host is read only where a rule or a session needs it.
    ///
    /// - Parameters:
    ///   - method: The method, in its original spelling.
    ///   - path: The path.
    ///   - fields: The header fields.
    ///   - client: The client's address and cookies.
    ///   - rules: The rules that decide.
    ///   - isActivity: True if the request extends the idle time of its session.
    package init(
        method: String,
        path: RequestPath,
        fields: borrowing some RequestFields,
        client: RequestClient,
        rules: ProtectionRules,
        isActivity: Bool = true
    ) {
        let needsHost = rules.hasHosts || client.cookies.session.isToken
        self.init(
            method: method,
            path: path,
            host: needsHost ? .text(client.authority(fields)) : .notNeeded,
            client: client,
            isActivity: isActivity
        )
    }
}
