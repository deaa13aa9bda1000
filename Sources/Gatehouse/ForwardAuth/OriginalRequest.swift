// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes

/// The original request: the one that a proxy wants to pass on, and describes in a forward-auth request.
///
/// It is as trustworthy as the proxy: read it only in requests of trusted proxies (CVE-2026-40575).
struct OriginalRequest: Sendable, Hashable {
    /// The parts of a proxy's request that describe the original request.
    struct Description {
        /// Returns all values of a field in order, by its name in lower case.
        let values: (StaticString) -> [UTF8Text]
        /// The method of the proxy's request.
        let method: String
        /// The target of the proxy's request.
        let target: String
        /// The host of the proxy's request.
        let host: String?
        /// The beginning of the path, for proxies that append the path of the original request.
        var prefix = "/auth/envoy"
    }

    /// The result of reading a description.
    enum Outcome: Sendable, Hashable {
        /// The original request.
        case request(OriginalRequest)
        /// The description is ambiguous; the reason is for the log.
        case rejected(String)
    }

    /// The method: A to Z and `-`.
    let method: String
    /// The scheme with which the client sent it to the proxy.
    let scheme: RequestURL.Scheme
    /// The host it was sent to.
    let host: RequestHost
    /// Its path.
    let path: RequestPath
    /// Its path and query as they were sent, to which the client returns after sign-in.
    let target: String

    /// The whole URL.
    var url: String { "\(scheme.rawValue)://\(host.text)\(target)" }

    /// The longest target; a path within it may be no longer than ``RequestPath`` allows.
    static let maximumTarget = 16_384

    /// Reads a description.
    ///
    /// The query of the proxy's own request is ignored where the original target is in a field: Caddy appends the query of
    /// the original request.
    ///
    /// - Parameters:
    ///   - description: The description.
    ///   - proxy: The proxy that sent it.
    /// - Returns: The request, or the reason for which it is ambiguous.
    static func read(_ description: Description, from proxy: ForwardAuthProxy) -> Outcome {
        do throws(Ambiguity) {
            switch proxy {
            case .nginx:
                let text = try description.one("x-original-url").string
                guard let url = RequestURL(text) else {
                    throw Ambiguity("x-original-url is not a URL of http or https")
                }
                let method = try description.one("x-original-method").string
                return .request(try Self(method, scheme: url.scheme, host: url.authority, target: url.target))
            case .caddy, .traefik, .haproxy:
                let method = try description.one("x-forwarded-method").string
                let scheme = try description.scheme()
                let host = try description.one("x-forwarded-host").string
                let target = try description.one("x-forwarded-uri").string
                return .request(try Self(method, scheme: scheme, host: host, target: target))
            case .envoy:
                guard description.target.utf8.starts(with: description.prefix.utf8) else {
                    throw Ambiguity("the path does not begin with \(description.prefix)")
                }
                guard let host = description.host else { throw Ambiguity("host is missing") }
                let target = String(description.target.utf8.dropFirst(description.prefix.utf8.count)) ?? ""
                return .request(
                    try Self(description.method, scheme: try description.scheme(), host: host, target: target)
                )
            }
        } catch {
            return .rejected(error.reason)
        }
    }

    private init(_ method: String, scheme: RequestURL.Scheme, host: String, target: String) throws(Ambiguity) {
        let isToken = method.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }
        guard isToken, (1...32).contains(method.utf8.count) else {
            throw Ambiguity("the method contains characters other than A to Z and -, or more than 32")
        }
        // Proxies do not use forward authentication for requests in a tunnel.
        guard !method.hasBytes(of: "CONNECT") else { throw Ambiguity("the method is CONNECT") }
        guard let host = RequestHost(host) else { throw Ambiguity("the host is neither a name nor an address") }
        guard target.utf8.first == UInt8(ascii: "/") else { throw Ambiguity("the target does not begin with /") }
        guard target.utf8.count <= Self.maximumTarget else {
            throw Ambiguity("the target is longer than \(Self.maximumTarget) bytes")
        }
        // The query too: the target becomes part of a redirect.
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Ambiguity("the target contains characters other than visible ASCII")
        }
        do throws(AmbiguousPath) {
            path = try RequestPath(reading: target.utf8Span.span)
        } catch {
            throw Ambiguity("the path is ambiguous: \(error)")
        }
        self.method = method
        self.scheme = scheme
        self.host = host
        self.target = target
    }

    /// The reason for which a description is ambiguous.
    fileprivate struct Ambiguity: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }
}

extension OriginalRequest.Description {
    /// Returns the value of a field that occurs exactly once.
    ///
    /// If there are two, the proxy may have added one, and the client the other.
    fileprivate func one(_ name: StaticString) throws(OriginalRequest.Ambiguity) -> UTF8Text {
        let values = values(name)
        guard let value = values.first else { throw OriginalRequest.Ambiguity("\(name) is missing") }
        guard values.count == 1 else { throw OriginalRequest.Ambiguity("\(name) occurs more than once") }
        guard !value.isEmpty else { throw OriginalRequest.Ambiguity("\(name) is empty") }
        return value
    }

    fileprivate func scheme() throws(OriginalRequest.Ambiguity) -> RequestURL.Scheme {
        switch try one("x-forwarded-proto") {
        // Traefik sends the scheme of the WebSocket URL for a request that opens a WebSocket.
        case "http", "ws": return .http
        case "https", "wss": return .https
        default: throw OriginalRequest.Ambiguity("x-forwarded-proto is neither http nor https")
        }
    }
}
