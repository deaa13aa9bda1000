// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The request that a proxy asks about, as far as rules need it.
///
/// It is as trustworthy as whoever asks: read it only where the question comes from a trusted proxy (CVE-2026-40575).
struct OriginalRequest: Sendable, Hashable {
    /// A proxy's question: what of it may say which request is meant.
    struct Question {
        /// All values of a field, by its name in lower case, in order.
        let values: (StaticString) -> [String]
        /// The question's own method.
        let method: String
        /// The question's own target.
        let target: String
        /// The question's own host.
        let host: String?
        /// What the question's path begins with, for proxies that put the request's path behind it.
        var prefix = "/auth/envoy"
    }

    /// What comes of reading a question.
    enum Outcome: Sendable, Hashable {
        /// The request.
        case request(OriginalRequest)
        /// It does not say without doubt which request is meant, which is for the log: 400, or whatever the proxy takes for no.
        case refused(String)
    }

    /// The method: A to Z and `-`.
    let method: String
    /// How it came to the proxy.
    let scheme: RequestURL.Scheme
    /// The host it was sent to.
    let host: RequestHost
    /// Its path.
    let path: RequestPath
    /// Its path and query as they were sent, to come back to.
    let target: String

    /// The whole URL.
    var url: String { "\(scheme.rawValue)://\(host.text)\(target)" }

    /// The longest target; a path within it may be no longer than ``RequestPath`` allows.
    static let maximumTarget = 16_384

    /// Reads a question.
    ///
    /// Its own query is passed over where the request's is elsewhere: Caddy appends the one of the request.
    ///
    /// - Parameters:
    ///   - flavour: The proxy that asks.
    ///   - question: What it says.
    /// - Returns: The request, or why it is in doubt.
    static func read(_ flavour: ForwardAuthFlavour, _ question: Question) -> Outcome {
        do throws(Doubt) {
            switch flavour {
            case .nginx:
                let text = try question.one("x-original-url")
                guard let url = RequestURL(text) else { throw Doubt("x-original-url is not a URL of http or https") }
                let method = try question.one("x-original-method")
                return .request(try Self(method, url.scheme, host: url.authority, target: url.target))
            case .caddy, .traefik, .haproxy:
                let method = try question.one("x-forwarded-method")
                let scheme = try question.scheme()
                let host = try question.one("x-forwarded-host")
                return .request(try Self(method, scheme, host: host, target: try question.one("x-forwarded-uri")))
            case .envoy:
                guard question.target.utf8.starts(with: question.prefix.utf8) else {
                    throw Doubt("the path does not begin with \(question.prefix)")
                }
                guard let host = question.host else { throw Doubt("host is missing") }
                let target = String(question.target.utf8.dropFirst(question.prefix.utf8.count)) ?? ""
                return .request(try Self(question.method, try question.scheme(), host: host, target: target))
            }
        } catch {
            return .refused(error.reason)
        }
    }

    private init(_ method: String, _ scheme: RequestURL.Scheme, host: String, target: String) throws(Doubt) {
        let isToken = method.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }
        guard isToken, (1...32).contains(method.utf8.count) else {
            throw Doubt("the method is not one of A to Z and -, up to 32 of them")
        }
        guard let host = RequestHost(host) else { throw Doubt("the host is no name or address of one") }
        guard target.utf8.first == UInt8(ascii: "/") else { throw Doubt("the target does not begin with /") }
        guard target.utf8.count <= Self.maximumTarget else {
            throw Doubt("the target is longer than \(Self.maximumTarget) bytes")
        }
        // The query too: the target becomes part of a redirect.
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Doubt("the target holds what is not visible ASCII")
        }
        do throws(DoubtfulPath) {
            path = try RequestPath(reading: target.utf8Span.span)
        } catch {
            throw Doubt("the path is in doubt: \(error)")
        }
        self.method = method
        self.scheme = scheme
        self.host = host
        self.target = target
    }

    /// Why it is not known without doubt which request is meant.
    fileprivate struct Doubt: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }
}

extension OriginalRequest.Question {
    /// The value of a field that there is exactly once: of two, the proxy may have added one, and the client the other.
    fileprivate func one(_ name: StaticString) throws(OriginalRequest.Doubt) -> String {
        let values = values(name)
        guard let value = values.first else { throw OriginalRequest.Doubt("\(name) is missing") }
        guard values.count == 1 else { throw OriginalRequest.Doubt("\(name) stands more than once") }
        guard !value.isEmpty else { throw OriginalRequest.Doubt("\(name) is empty") }
        return value
    }

    fileprivate func scheme() throws(OriginalRequest.Doubt) -> RequestURL.Scheme {
        switch try one("x-forwarded-proto") {
        // Traefik calls a request that asks for a WebSocket by the scheme of its URL.
        case "http", "ws": return .http
        case "https", "wss": return .https
        default: throw OriginalRequest.Doubt("x-forwarded-proto is neither http nor https")
        }
    }
}
