// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// The parts of a request that the access rules use.
package struct AccessRequest {
    /// The host that the request is for.
    package enum Host {
        /// No rule or session needs the host.
        case notNeeded
        /// The host and port, parsed only if a rule or a session needs the host.
        case text(String)
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
    let session: OurCookies.Found
    let certificate: ClientCertificate?
    /// True if the request counts as a use of its session.
    let isActivity: Bool

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
