// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes
internal import NIOCore
internal import RealmConfiguration
internal import RealmKit

/// What a request is answered with, before it is a response.
enum Content: Sendable {
    case index
    case health
    case stylesheet
    case welcome(AuthenticatedIdentity)
    case forbidden(AuthenticatedIdentity)
    case unauthorized(realm: String, wasRefused: Bool)
    case misdirected
    case doubtfulPath
    case malformed(String)
    case notFound
    case methodNotAllowed
    case unavailable
}

/// Makes responses, and keeps those that are the same for everybody.
struct PageShelf: Sendable {
    private let rules: [ProtectRule]
    private let security: SecurityHeaders
    // Made in init for both forms, and read only afterwards.
    private var common: [Key: PreparedResponse] = [:]

    private enum Key: Hashable {
        case index(Bool)
        case health(Bool)
        case stylesheet
        case unauthorized(realm: String, wasRefused: Bool, Bool)
        case misdirected(Bool)
        case doubtfulPath(Bool)
        case notFound(Bool)
        case methodNotAllowed(Bool)
        case unavailable(Bool)
    }

    init(_ rules: [ProtectRule], _ security: SecurityHeaders) {
        self.rules = rules
        self.security = security
        let contents =
            [.index, .health, .stylesheet, .misdirected, .doubtfulPath, .notFound, .methodNotAllowed, .unavailable]
            + Set(rules.map(\.realm)).flatMap { realm in
                [true, false].map { Content.unauthorized(realm: realm, wasRefused: $0) }
            }
        for content in contents {
            for asHTML in [true, false] {
                guard let key = Self.key(content, asHTML) else { continue }
                let (head, body) = rendered(content, asHTML: asHTML)
                common[key] = PreparedResponse(head, body: body)
            }
        }
    }

    /// The response, out of the shelf or the entry if it is there.
    func prepared(_ content: Content, asHTML: Bool, _ known: Gate.Known?) -> PreparedResponse {
        if let known, let key = Self.pageKey(content, asHTML) {
            return known.entry.response(key) { made(content, asHTML) }
        }
        if let key = Self.key(content, asHTML), let response = common[key] { return response }
        return made(content, asHTML)
    }

    /// The response to what is no proper request.
    func prepared(_ fault: RequestFault) -> PreparedResponse {
        let (head, body) = Page.fault(fault).rendered(asHTML: false, security)
        return PreparedResponse(head, body: body)
    }

    /// The response, made anew.
    func rendered(_ content: Content, asHTML: Bool) -> (head: HTTPResponse, body: ByteBuffer) {
        page(content).map { $0.rendered(asHTML: asHTML, security) } ?? stylesheet
    }

    private func made(_ content: Content, _ asHTML: Bool) -> PreparedResponse {
        let (head, body) = rendered(content, asHTML: asHTML)
        return PreparedResponse(head, body: body)
    }

    private static func key(_ content: Content, _ asHTML: Bool) -> Key? {
        switch content {
        case .index: .index(asHTML)
        case .health: .health(asHTML)
        case .stylesheet: .stylesheet
        case .unauthorized(let realm, let wasRefused): .unauthorized(realm: realm, wasRefused: wasRefused, asHTML)
        case .misdirected: .misdirected(asHTML)
        case .doubtfulPath: .doubtfulPath(asHTML)
        case .notFound: .notFound(asHTML)
        case .methodNotAllowed: .methodNotAllowed(asHTML)
        case .unavailable: .unavailable(asHTML)
        case .welcome, .forbidden, .malformed: nil
        }
    }

    private static func pageKey(_ content: Content, _ asHTML: Bool) -> VerifiedCredentials.PageKey? {
        switch content {
        case .welcome: .welcome(asHTML: asHTML)
        case .forbidden: .forbidden(asHTML: asHTML)
        case .index, .health, .stylesheet, .unauthorized, .misdirected, .doubtfulPath, .malformed, .notFound,
            .methodNotAllowed,
            .unavailable:
            nil
        }
    }

    private func page(_ content: Content) -> Page? {
        switch content {
        case .index: .index(rules)
        case .health: .health
        case .stylesheet: nil
        case .welcome(let identity): .welcome(identity)
        case .forbidden(let identity): .forbidden(identity)
        case .unauthorized(let realm, let wasRefused): .unauthorized(realm: realm, wasRefused: wasRefused)
        case .misdirected: .misdirected
        case .doubtfulPath: .badRequest("the path is doubtful")
        case .malformed(let reason): .badRequest(reason)
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .unavailable: .unavailable
        }
    }

    private var stylesheet: (head: HTTPResponse, body: ByteBuffer) {
        var headers: HTTPFields = [
            .contentType: "text/css; charset=utf-8",
            .cacheControl: "max-age=3600",
        ]
        security.add(to: &headers)
        return (HTTPResponse(status: .ok, headerFields: headers), ByteBuffer(string: PageTemplate.stylesheet))
    }
}
