// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
package import Bytes
internal import OpenSSLKit
package import Sessions
internal import Synchronization

/// The browser and the host that a login is bound to, in all its requests.
struct BrowserBinding {
    let digest: Digest
    /// The cookie that the response must set; empty if the request already has the cookie.
    let cookies: [String]

    /// The binding of a request; if it has no cookie, a new one is created.
    init(_ request: WebRequest) throws(OpenSSLError) {
        if case .token(let token) = request.cookies.signIn {
            digest = try Self.digest(token, request)
            cookies = []
        } else {
            let token = try OpaqueToken()
            digest = try Self.digest(token, request)
            cookies = SetCookie.signIn(token, replacing: request.cookies.signIn)
        }
    }

    /// Nil if the request does not have the cookie of the sign-in page.
    init?(known request: WebRequest) {
        guard request.cookies.signIn.isToken, let binding = try? Self(request) else { return nil }
        self = binding
    }

    /// The digest contains the host, so a login can be completed only at the host where it began.
    private static func digest(_ token: OpaqueToken, _ request: WebRequest) throws(OpenSSLError) -> Digest {
        try Digest.sha256(fields: [request.host?.name ?? "", try token.digest().hex])
    }
}

/// A cache with one value for each browser, such as a rejected user name; if it is full, the oldest value is evicted.
final class PerBrowserCache<Value: Sendable>: Sendable {
    private struct State {
        var values: [Digest: Value] = [:]
        var order: [Digest] = []
    }

    private static var capacity: Int { 1000 }

    private let state = Mutex(State())

    @discardableResult
    func put(_ value: Value, for browser: Digest) -> Value? {
        state.withLock { state in
            let replaced = state.values.updateValue(value, forKey: browser)
            if replaced == nil { state.order.append(browser) }
            if state.order.count > Self.capacity { state.values[state.order.removeFirst()] = nil }
            return replaced
        }
    }

    func of(_ browser: Digest) -> Value? { state.withLock { $0.values[browser] } }

    func take(_ browser: Digest) -> Value? {
        state.withLock { state in
            guard let value = state.values.removeValue(forKey: browser) else { return nil }
            state.order.removeAll { $0 == browser }
            return value
        }
    }
}

/// The CSRF token of a session, for forms and the session API.
///
/// It is derived from the session cookie, so another site cannot compute it.
package enum CSRFToken {
    private static let purpose: StaticString = "gatehouse form"

    /// Nil if it cannot be computed: then the page has no form, and the server rejects requests that change something.
    package static func text(_ token: OpaqueToken) -> String? { try? token.proof(for: purpose).hex }

    /// Compares in constant time.
    package static func isValid(_ text: UTF8Text?, for token: OpaqueToken) -> Bool {
        guard let text, let expected = self.text(token) else { return false }
        return constantTimeEqual(text.string.utf8Span.span, expected.utf8Span.span)
    }
}
