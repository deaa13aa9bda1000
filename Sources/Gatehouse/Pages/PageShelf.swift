// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes
internal import NIOCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// What a request is answered with, before it is a response.
enum Content: Sendable {
    case index
    case health
    case stylesheet
    case script
    case welcome(SignedInUser)
    case forbidden(SignedInUser?)
    case unauthorized(Challenge, wasRefused: Bool)
    case redirect(String, isSafe: Bool)
    case misdirected
    case doubtfulPath
    case malformed(String)
    case notFound
    case methodNotAllowed([String])
    case unavailable
}

/// Makes responses, and keeps those that are the same for everybody.
struct PageShelf: Sendable {
    /// What is the same around all pages.
    let frame: Page.Frame
    private let rules: [ProtectRule]
    // Made in init for both forms, and read only afterwards.
    private var common: [Key: PreparedResponse] = [:]

    private enum Key: Hashable {
        case index(Bool)
        case health(Bool)
        case stylesheet
        case script
        case unauthorized(Challenge, wasRefused: Bool, Bool)
        case misdirected(Bool)
        case doubtfulPath(Bool)
        case notFound(Bool)
        case methodNotAllowed([String], Bool)
        case unavailable(Bool)
    }

    init(_ rules: [ProtectRule], _ frame: Page.Frame) {
        self.rules = rules
        self.frame = frame
        let contents =
            [
                .index, .health, .stylesheet, .script, .misdirected, .doubtfulPath, .notFound,
                .methodNotAllowed(Content.readingMethods), .unavailable,
            ]
            + Set(rules.filter { $0.access == .users }.map(Challenge.init).flatMap { [$0, $0.forScripts] }).flatMap {
                challenge in
                [true, false].map { Content.unauthorized(challenge, wasRefused: $0) }
            }
        for content in contents {
            for asHTML in [true, false] {
                guard let key = Self.key(content, asHTML) else { continue }
                common[key] = made(content, asHTML, nil)
            }
        }
    }

    /// The response, out of the shelf or the entry if it is there.
    func prepared(_ content: Content, asHTML: Bool, _ known: Gate.Known?) -> PreparedResponse {
        if let known, let key = Self.pageKey(content, asHTML) {
            switch known {
            case .credentials(let entry): return entry.response(key) { made(content, asHTML, known) }
            case .session(let session, _): return session.cached(frame.key(key)) { made(content, asHTML, known) }
            }
        }
        if let key = Self.key(content, asHTML), let response = common[key] { return response }
        return made(content, asHTML, known)
    }

    /// The response to what is no proper request.
    func prepared(_ fault: RequestFault) -> PreparedResponse {
        let (head, body) = Page.fault(fault).rendered(asHTML: false, frame)
        return PreparedResponse(head, body: body)
    }

    /// The response, made anew.
    func rendered(_ content: Content, asHTML: Bool, _ known: Gate.Known?) -> (head: HTTPResponse, body: ByteBuffer) {
        switch content {
        case .stylesheet: asset(Stylesheet.text, "text/css; charset=utf-8")
        case .script: asset(SessionScript.text, "text/javascript; charset=utf-8")
        case .index, .health, .welcome, .forbidden, .unauthorized, .redirect, .misdirected, .doubtfulPath, .malformed,
            .notFound, .methodNotAllowed, .unavailable:
            page(content, known).rendered(asHTML: asHTML, frame)
        }
    }

    private func made(_ content: Content, _ asHTML: Bool, _ known: Gate.Known?) -> PreparedResponse {
        let (head, body) = rendered(content, asHTML: asHTML, known)
        return PreparedResponse(head, body: body)
    }

    private static func key(_ content: Content, _ asHTML: Bool) -> Key? {
        switch content {
        case .index: .index(asHTML)
        case .health: .health(asHTML)
        case .stylesheet: .stylesheet
        case .script: .script
        case .unauthorized(let challenge, let wasRefused): .unauthorized(challenge, wasRefused: wasRefused, asHTML)
        case .misdirected: .misdirected(asHTML)
        case .doubtfulPath: .doubtfulPath(asHTML)
        case .notFound: .notFound(asHTML)
        case .methodNotAllowed(let allowed): .methodNotAllowed(allowed, asHTML)
        case .unavailable: .unavailable(asHTML)
        case .welcome, .forbidden, .malformed, .redirect: nil
        }
    }

    private static func pageKey(_ content: Content, _ asHTML: Bool) -> VerifiedCredentials.PageKey? {
        switch content {
        case .welcome: asHTML ? .welcomeHTML : .welcomeText
        case .forbidden: asHTML ? .forbiddenHTML : .forbiddenText
        case .index, .health, .stylesheet, .script, .unauthorized, .redirect, .misdirected, .doubtfulPath, .malformed,
            .notFound, .methodNotAllowed, .unavailable:
            nil
        }
    }

    private func page(_ content: Content, _ known: Gate.Known?) -> Page {
        switch content {
        case .index: .index(rules)
        case .health: .health
        case .welcome(let user): .welcome(user, exit(known))
        case .forbidden(let user): .forbidden(user, user == nil ? nil : exit(known))
        case .unauthorized(let challenge, let wasRefused):
            .unauthorized(challenge, wasRefused: wasRefused, frame.places)
        case .redirect(let location, let isSafe): .redirect(to: location, isSafe: isSafe)
        case .misdirected: .misdirected
        case .doubtfulPath: .badRequest("the path is doubtful")
        case .malformed(let reason): .badRequest(reason)
        case .notFound, .stylesheet, .script: .notFound
        case .methodNotAllowed(let allowed): .methodNotAllowed(allowed)
        case .unavailable: .unavailable
        }
    }

    /// The way out of a session.
    private func exit(_ known: Gate.Known?) -> Page.Part? {
        guard case .session(_, let token) = known else { return nil }
        return .exit(token, frame.places)
    }

    private func asset(_ text: String, _ type: String) -> (head: HTTPResponse, body: ByteBuffer) {
        var headers: HTTPFields = [.contentType: type, .cacheControl: "max-age=3600"]
        frame.security.add(to: &headers)
        return (HTTPResponse(status: .ok, headerFields: headers), ByteBuffer(string: text))
    }
}

extension Content {
    /// What pages that are only looked at take.
    static let readingMethods = ["GET", "HEAD"]
}

extension Page.Part {
    /// The way to the account and out; nil where no proof against forged requests can be made.
    static func exit(_ token: OpaqueToken, _ places: Places, hasAccount: Bool = true) -> Page.Part? {
        guard let proof = FormProof.text(token) else { return nil }
        return Page.Part(
            PageTemplate.signOut,
            ["action": places.signOut, "csrf": proof, "account": hasAccount ? [places.account] : []]
        )
    }
}
