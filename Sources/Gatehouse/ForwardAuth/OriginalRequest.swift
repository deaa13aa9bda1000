// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes

/// The original request: the client's request to a proxy, which the proxy describes in a forward-auth request.
///
/// A description can claim any method, host and path. Read descriptions only from trusted proxies (CVE-2026-40575).
struct OriginalRequest: Sendable, Hashable {
    /// The parts of a forward-auth request that describe the original request.
    struct Description {
        /// Returns all values of a header field, in order.
        ///
        /// The name of the field is in lower case.
        let values: (StaticString) -> [UTF8Text]
        /// The method of the forward-auth request, for Envoy.
        var method = ""
        /// The target of the forward-auth request, for Envoy.
        var target = ""
        /// The host of the forward-auth request, for Envoy.
        var host: String?
        /// The path to which Envoy appends the target of the original request.
        var prefix = "/auth/envoy"
    }

    /// The result of reading a description.
    enum Outcome: Sendable, Hashable {
        /// The original request.
        case request(OriginalRequest)
        /// The description is incomplete, invalid or ambiguous. The value is the reason, for the log.
        case rejected(String)
    }

    /// The method.
    ///
    /// It contains only the characters A to Z and `-`.
    let method: String
    /// The scheme of the request from the client to the proxy.
    let scheme: RequestURL.Scheme
    /// The host of the request.
    let host: RequestHost
    /// The path of the request.
    let path: RequestPath
    /// The path and query as the client sent them.
    ///
    /// After the sign-in, the client is redirected to this target.
    let target: String

    /// The complete URL.
    var url: String { "\(scheme.rawValue)://\(host.text)\(target)" }

    /// The maximum length of a target in bytes.
    ///
    /// ``RequestPath`` has a separate limit for the path.
    static let maximumTarget = 16_384

    /// Reads the description of an original request.
    ///
    /// Only Envoy sends the original target in the target of the forward-auth request. For the other proxies, the query
    /// of the forward-auth request is ignored, because Caddy copies the query of the original request there.
    ///
    /// - Parameters:
    ///   - description: The description.
    ///   - proxy: The proxy that sent the forward-auth request.
    /// - Returns: The original request, or the reason why the description is rejected.
    static func read(_ description: Description, from proxy: ForwardAuthProxy) -> Outcome {
        do throws(Ambiguity) {
            switch proxy {
            case .nginx:
                let text = try description.singleValue(of: "x-original-url").string
                guard let url = RequestURL(text) else {
                    throw Ambiguity("x-original-url is not a URL of http or https")
                }
                let method = try description.singleValue(of: "x-original-method").string
                return .request(try Self(method, scheme: url.scheme, host: url.authority, target: url.target))
            case .caddy, .traefik, .haproxy:
                let method = try description.singleValue(of: "x-forwarded-method").string
                let scheme = try description.scheme()
                let host = try description.singleValue(of: "x-forwarded-host").string
                let target = try description.singleValue(of: "x-forwarded-uri").string
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
            throw Ambiguity("the method must be 1 to 32 characters from A to Z and -")
        }
        // CONNECT opens a tunnel. A proxy does not see the requests in a tunnel, so they would not be authorized.
        guard !method.hasBytes(of: "CONNECT") else { throw Ambiguity("the method is CONNECT") }
        guard let host = RequestHost(host) else { throw Ambiguity("the host is neither a name nor an address") }
        guard target.utf8.first == UInt8(ascii: "/") else { throw Ambiguity("the target does not begin with /") }
        guard target.utf8.count <= Self.maximumTarget else {
            throw Ambiguity("the target is longer than \(Self.maximumTarget) bytes")
        }
        // The path and the query are checked, because the target becomes part of a redirect.
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

    /// The error for a description that is incomplete, invalid or ambiguous.
    fileprivate struct Ambiguity: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }
}

extension OriginalRequest.Description {
    /// Returns the value of a header field that must occur exactly once.
    ///
    /// If a field occurs twice, the client may have sent one of the values.
    fileprivate func singleValue(of name: StaticString) throws(OriginalRequest.Ambiguity) -> UTF8Text {
        let values = values(name)
        guard let value = values.first else { throw OriginalRequest.Ambiguity("\(name) is missing") }
        guard values.count == 1 else { throw OriginalRequest.Ambiguity("\(name) occurs more than once") }
        guard !value.isEmpty else { throw OriginalRequest.Ambiguity("\(name) is empty") }
        return value
    }

    fileprivate func scheme() throws(OriginalRequest.Ambiguity) -> RequestURL.Scheme {
        switch try singleValue(of: "x-forwarded-proto") {
        // If a request opens a WebSocket, Traefik sends the scheme of the WebSocket URL.
        case "http", "ws": return .http
        case "https", "wss": return .https
        default: throw OriginalRequest.Ambiguity("x-forwarded-proto is neither http nor https")
        }
    }
}
