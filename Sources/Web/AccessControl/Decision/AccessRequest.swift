// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// The parts of a request that the access rules use.
///
/// The server, forward authentication and the middleware create this value from a ``RequestClient``.
package struct AccessRequest {
    /// The host that the request is for.
    package enum Host {
        /// The host is not read, because no rule or session needs the host.
        case notNeeded
        /// The host and port as text.
        ///
        /// The text is parsed if a rule or a session needs the host.
        case text(String)
        /// The parsed host.
        case parsed(RequestHost)

        /// The host that a session of the request must belong to; nil if the host cannot be parsed.
        var sessionHost: SessionHost? {
            switch self {
            case .notNeeded: nil
            case .text(let text): RequestHost(text)?.sessionHost
            case .parsed(let host): host.sessionHost
            }
        }
    }

    let host: Host
    let path: PathReadings
    let method: String
    /// The method of the request that a CORS preflight announces; nil if the request is no preflight.
    let preflightMethod: String?
    /// The client's address; nil if it is not known.
    let address: String?
    /// The session cookie of the request.
    let session: OurCookies.Found
    /// The client certificate of the connection.
    let certificate: ClientCertificate?
    /// True if the request counts as a use of its session.
    let isActivity: Bool

    /// A request.
    ///
    /// - Parameters:
    ///   - method: The method, in its original spelling.
    ///   - path: The path, which may have several readings.
    ///   - host: The host.
    ///   - client: The client's address, certificate and cookies.
    ///   - isActivity: True if the request counts as a use of its session.
    ///   - preflightMethod: The method of the request that a CORS preflight announces; nil for any other request.
    package init(
        method: String,
        path: PathReadings,
        host: Host,
        client: RequestClient,
        isActivity: Bool = true,
        preflightMethod: String? = nil
    ) {
        self.method = method
        self.preflightMethod = preflightMethod
        self.path = path
        self.host = host
        address = client.address
        session = client.cookies.session
        certificate = client.certificate
        self.isActivity = isActivity
    }

    /// A request whose host is read only if a rule or a session needs it.
    ///
    /// - Parameters:
    ///   - method: The method, in its original spelling.
    ///   - path: The path, which is not ambiguous.
    ///   - fields: The header fields.
    ///   - client: The client's address, certificate and cookies.
    ///   - rules: The rules that decide.
    ///   - isActivity: True if the request counts as a use of its session.
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
            path: PathReadings(path),
            host: needsHost ? .text(client.authority(fields)) : .notNeeded,
            client: client,
            isActivity: isActivity
        )
    }
}
