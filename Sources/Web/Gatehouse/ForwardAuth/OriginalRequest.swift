// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes

/// The original request: the client's request to a proxy, which the proxy describes in a forward-auth request.
///
/// A description can claim any method, host and path. Read descriptions only from trusted proxies (CVE-2026-40575).
struct OriginalRequest: Sendable, Hashable {
    /// The parts of a forward-auth request that describe the original request.
    struct Description {
        /// Returns all values of a header field, in order; the name is in lower case.
        let values: (StaticString) -> [UTF8Text]
        // The method, the target and the host of the forward-auth request, for Envoy.
        var method = ""
        var target = ""
        var host: String?
        /// The path to which Envoy appends the target of the original request.
        var prefix = "/auth/envoy"
        /// True if a path that programs may read differently is read, and not rejected.
        var allowsAmbiguousPath = false
    }

    enum Outcome: Sendable, Hashable {
        case request(OriginalRequest)
        /// The description is incomplete, invalid or ambiguous. The value is the reason, for the log.
        case rejected(String)
    }

    /// The method, of the characters A to Z and `-`.
    let method: String
    /// The scheme of the request from the client to the proxy.
    let scheme: RequestURL.Scheme
    let host: RequestHost
    /// The path of the request, which may have several readings.
    let path: PathReadings
    /// The path and query as the client sent them; after the sign-in, the client is redirected there.
    let target: String
    /// The method of the request that a CORS preflight announces; nil if the request is no preflight.
    let preflightMethod: String?

    var url: String { "\(scheme.rawValue)://\(host.text)\(target)" }

    /// The maximum length of a target in bytes; ``RequestPath`` has a separate limit for the path.
    static let maximumTarget = 16_384

    /// Reads the description of an original request.
    ///
    /// Only Envoy sends the original target in the target of the forward-auth request. For the other proxies, the query
    /// of the forward-auth request is ignored, because Caddy copies the query of the original request there.
    static func read(_ description: Description, from proxy: ForwardAuthProxy) -> Outcome {
        do throws(Ambiguity) {
            return .request(try Self(description, from: proxy))
        } catch {
            return .rejected(error.reason)
        }
    }

    private init(_ description: Description, from proxy: ForwardAuthProxy) throws(Ambiguity) {
        switch proxy {
        case .nginx:
            let text = try description.singleValue(of: "x-original-url").string
            guard let url = RequestURL(text) else {
                throw Ambiguity("x-original-url is not a URL of http or https")
            }
            let method = try description.singleValue(of: "x-original-method").string
            try self.init(description, method, scheme: url.scheme, host: url.authority, target: url.target)
        case .caddy, .traefik, .haproxy:
            let method = try description.singleValue(of: "x-forwarded-method").string
            let scheme = try description.scheme()
            let host = try description.singleValue(of: "x-forwarded-host").string
            let target = try description.singleValue(of: "x-forwarded-uri").string
            try self.init(description, method, scheme: scheme, host: host, target: target)
        case .envoy:
            guard description.target.utf8.starts(with: description.prefix.utf8) else {
                throw Ambiguity("the path does not begin with \(description.prefix)")
            }
            guard let host = description.host else { throw Ambiguity("host is missing") }
            let target = String(description.target.utf8.dropFirst(description.prefix.utf8.count)) ?? ""
            let scheme = try description.scheme()
            try self.init(description, description.method, scheme: scheme, host: host, target: target)
        }
    }

    private init(
        _ description: Description,
        _ method: String,
        scheme: RequestURL.Scheme,
        host: String,
        target: String
    ) throws(Ambiguity) {
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
            let bytes = target.utf8Span.span
            path =
                description.allowsAmbiguousPath
                ? try PathReadings(reading: bytes) : PathReadings(try RequestPath(reading: bytes))
        } catch {
            throw Ambiguity("the path is ambiguous: \(error)")
        }
        self.method = method
        self.scheme = scheme
        self.host = host
        self.target = target
        preflightMethod = method.hasBytes(of: "OPTIONS") ? description.preflightMethod : nil
    }

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

    /// The value of `Access-Control-Request-Method`, if the fields of a CORS preflight are there.
    ///
    /// Some proxies join a field that occurs twice, so a value with a comma or a blank is none.
    ///
    /// Source: Fetch Standard, CORS-preflight request: `OPTIONS` with `Origin` and `Access-Control-Request-Method`.
    fileprivate var preflightMethod: String? {
        let (origins, methods) = (values("origin"), values("access-control-request-method"))
        guard origins.count == 1, methods.count == 1, let origin = origins.first, !origin.isEmpty,
            !origin.string.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: ",") }),
            let method = methods.first, (1...32).contains(method.count),
            method.string.utf8.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "-") })
        else { return nil }
        return method.string
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

// MARK: Rejected descriptions

extension OriginalRequest.Description {
    /// The host and the path as a description states them, for the log and the page of a rejected request.
    ///
    /// They are not checked, so nothing may be decided by them. They have no user name, no query, at most 512 bytes and
    /// no characters other than visible ASCII.
    struct Claim: Sendable, Hashable {
        let method: String
        /// The host and the path, such as `app.example.com/a%2fb`.
        let place: String

        /// The method, the host and the path, as the log has them for other requests.
        var text: String { "\(method) \(place)" }
    }

    /// Returns what the description states, also if it is not valid; nil if it states no host and no path.
    func claim(from proxy: ForwardAuthProxy) -> Claim? {
        func first(_ name: StaticString) -> String { values(name).first?.string ?? "" }
        let (claimed, host): (String, String)
        var target: String
        switch proxy {
        case .nginx:
            let text = first("x-original-url")
            let url = RequestURL(text)
            (claimed, host, target) = (first("x-original-method"), url?.authority ?? "", url?.target ?? text)
        case .caddy, .traefik, .haproxy:
            claimed = first("x-forwarded-method")
            (host, target) = (first("x-forwarded-host"), first("x-forwarded-uri"))
        case .envoy:
            (claimed, host) = (method, self.host ?? "")
            target = String(self.target.utf8.dropFirst(prefix.utf8.count)) ?? ""
        }
        // The text before an @ may be a password, also in a URL that was not split.
        if target.utf8.first != UInt8(ascii: "/"), target.utf8.contains(UInt8(ascii: "@")) { target = "" }
        let parts = host.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        let name = parts.last ?? host.utf8[...]
        let place = Self.printable(name, maximum: 256) + Self.printable(target.utf8[...], maximum: 256)
        guard !place.isEmpty else { return nil }
        let method = Self.printable(claimed.utf8[...], maximum: 32)
        return Claim(method: method.isEmpty ? "-" : method, place: place)
    }

    /// Returns a text up to its query, cut to a length, with `_` for each byte that is not visible ASCII.
    private static func printable(_ text: Substring.UTF8View, maximum: Int) -> String {
        let path = text.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let bytes = path.prefix(maximum).map { ASCII.isVisible($0) ? $0 : UInt8(ascii: "_") }
        return String(decoding: bytes, as: UTF8.self) + (path.count > maximum ? "..." : "")
    }
}
