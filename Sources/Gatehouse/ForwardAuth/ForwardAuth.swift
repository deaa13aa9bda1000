// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes
internal import NIOCore
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// Answers proxies that ask whether a request may pass.
///
/// Each is told in what it understands: of nginx every status but 2xx, 401 and 403 is an error, of Envoy a 5xx may be let
/// pass, so neither is ever sent one. Whatever is in doubt is a no.
struct ForwardAuth: Sendable {
    /// What else is known of the original request.
    struct Asked: Sendable {
        let flavour: ForwardAuthFlavour
        let original: OriginalRequest
        /// Who asked the proxy.
        let asker: Asker
    }

    private let frame: Page.Frame

    init(_ frame: Page.Frame) { self.frame = frame }

    /// The answer to a decision.
    ///
    /// - Parameters:
    ///   - decision: What becomes of the original request.
    ///   - asked: The original request.
    ///   - known: Who is known from before, which keeps the answer ready.
    /// - Returns: The answer.
    func response(_ decision: Gate.Decision, _ asked: Asked, _ known: Gate.Known?) -> PreparedResponse {
        func made() -> PreparedResponse {
            let (head, body) = rendered(decision, asked, known)
            return PreparedResponse(head, body: body)
        }
        guard case .allowed = decision, let known else { return made() }
        let key = asked.flavour == .envoy ? VerifiedCredentials.PageKey.envoyIdentity : .identity
        switch known {
        case .credentials(let entry): return entry.response(key, made)
        case .session(let session, _): return session.cached(frame.key(key), made)
        }
    }

    /// The answer to a proxy that may not ask, or asks in a way that is in doubt.
    func refusal(_ reason: String) -> PreparedResponse {
        let (head, body) = answer(.forbidden, [:], reason)
        return PreparedResponse(head, body: body)
    }

    /// The answer to a decision, made anew.
    func rendered(
        _ decision: Gate.Decision,
        _ asked: Asked,
        _ known: Gate.Known?
    ) -> (head: HTTPResponse, body: ByteBuffer) {
        switch decision {
        case .allowed(let user):
            // Nothing else than a session lets in without credentials.
            if case .session = known { return allowed(user, asked.flavour, hadCredentials: false) }
            return allowed(user, asked.flavour, hadCredentials: true)
        case .open: return allowed(nil, asked.flavour, hadCredentials: false)
        case .challenge(let challenge, _): return unknown(challenge, asked)
        case .forbidden: return answer(.forbidden, [:], "forbidden")
        case .unruled: return answer(.forbidden, [:], "no rule is about it")
        case .methodNotAllowed(let allowed):
            guard asked.flavour.takesEveryStatus else { return answer(.forbidden, [:], "the method is not allowed") }
            return answer(.methodNotAllowed, [.allow: allowed.joined(separator: ", ")], "the method is not allowed")
        case .malformed: return answer(.forbidden, [:], "the request is in doubt")
        case .unavailable:
            guard asked.flavour.takesEveryStatus else { return answer(.forbidden, [:], "try again later") }
            return answer(.serviceUnavailable, [.retryAfter: "5"], "try again later")
        }
    }

    /// Yes, and who it is; fields that say nothing are sent too, so that what the client has sent in their place is
    /// overwritten (CVE-2026-30851).
    private func allowed(
        _ user: SignedInUser?,
        _ flavour: ForwardAuthFlavour,
        hadCredentials: Bool
    ) -> (HTTPResponse, ByteBuffer) {
        let identity = IdentityHeaders(user)
        var headers: HTTPFields = [.cacheControl: "no-store"]
        headers[.remoteUser] = identity.user
        headers[.remoteGroups] = identity.groups
        headers[.remoteRealm] = identity.realm
        if flavour == .envoy {
            // Envoy leaves out what is empty. A password that was checked here is nobody else's business.
            let empty = zip(IdentityHeaders.names, identity.values).filter { $1.isEmpty }.map { $0.0.description }
            let removed = empty + (hadCredentials ? ["authorization"] : [])
            if !removed.isEmpty { headers[.envoyRemoved] = removed.joined(separator: ",") }
        }
        return (HTTPResponse(status: .ok, headerFields: headers), ByteBuffer())
    }

    /// To the sign-in page of the host that was asked for, or 401.
    private func unknown(_ challenge: Challenge, _ asked: Asked) -> (HTTPResponse, ByteBuffer) {
        var headers = HTTPFields()
        let original = asked.original
        let canSignIn = asked.asker == .person && challenge.schemes.first == .form
        if canSignIn {
            // Behind the proxy the pages are on the host of the application.
            headers[.location] = "https://\(original.host.text)" + frame.places.signIn(returningTo: original.target)
        }
        guard canSignIn, asked.flavour.takesEveryStatus || asked.flavour == .envoy else {
            let challenge = asked.asker == .script ? challenge.forScripts : challenge
            challenge.add(to: &headers, frame.places, isFirstOnly: asked.flavour == .nginx)
            return answer(.unauthorized, headers, "not signed in")
        }
        let isSafe = original.method == "GET" || original.method == "HEAD"
        return answer(isSafe ? .found : .seeOther, headers, "not signed in")
    }

    private func answer(
        _ status: HTTPResponse.Status,
        _ fields: HTTPFields,
        _ text: String
    ) -> (HTTPResponse, ByteBuffer) {
        var headers = fields
        headers[.contentType] = "text/plain; charset=utf-8"
        headers[.cacheControl] = "no-store"
        headers[.vary] = "Accept, Authorization, Cookie"
        frame.security.add(to: &headers)
        return (HTTPResponse(status: status, headerFields: headers), ByteBuffer(string: text + "\n"))
    }
}

extension ForwardAuthFlavour {
    /// Whether the question's own path holds that of the request.
    var takesPath: Bool { self == .envoy }

    /// Whether the proxy hands every answer to the client as it is.
    var takesEveryStatus: Bool {
        switch self {
        case .caddy, .traefik, .haproxy: true
        case .nginx, .envoy: false
        }
    }
}

extension HTTPField.Name {
    static let envoyRemoved = known("x-envoy-auth-headers-to-remove")
}
