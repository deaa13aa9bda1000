// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPServer
internal import HTTPTypes
internal import RealmConfiguration
internal import Sessions
internal import SignIn

/// Rendered and encoded responses that are used more than once.
///
/// A response that is the same for all clients is made once. A response for a user is cached with the user's
/// authentication.
struct PreparedResponses: Sendable {
    let signIn: SignIn
    // After the initializer, this dictionary does not change.
    private var common: [Key: PreparedResponse] = [:]

    private struct Key: Hashable {
        let response: StandardResponse
        let representation: Representation
    }

    /// Prepares the responses that are the same for all clients.
    init(_ signIn: SignIn) {
        self.signIn = signIn
        for response in signIn.commonResponses {
            for language in signIn.context.translations.all.indices {
                for isHTML in [true, false] {
                    let key = Key(
                        response: response,
                        representation: Representation(isHTML: isHTML, language: language)
                    )
                    common[key] = PreparedResponse(signIn.render(response, as: key.representation, for: nil))
                }
            }
        }
    }

    /// Returns the rendered and encoded form of a response; `authentication` is nil for a request without one.
    func prepared(
        _ response: StandardResponse,
        as representation: Representation,
        for authentication: ExistingAuthentication?
    ) -> PreparedResponse {
        if let authentication, let personal = Self.personal(response, isHTML: representation.isHTML) {
            let key = signIn.context.key(of: personal, in: representation.language)
            return authentication.responses.response(for: key) {
                PreparedResponse(signIn.render(response, as: representation, for: authentication))
            }
        }
        if Self.isCommon(response), let made = common[Key(response: response, representation: representation)] {
            return made
        }
        return PreparedResponse(signIn.render(response, as: representation, for: authentication))
    }

    func prepared(_ fault: RequestFault) -> PreparedResponse {
        let page = Page.fault(fault)
        // The header fields may be unknown. Only browsers are known to send so many bytes.
        let isBrowser = page.status == .uriTooLong || page.status == .requestHeaderFieldsTooLarge
        return PreparedResponse(page.rendered(as: Representation(isHTML: isBrowser), in: signIn.context))
    }

    /// Returns whether a response is the same for all clients; any other has data of the user or the request.
    private static func isCommon(_ response: StandardResponse) -> Bool {
        switch response {
        case .index, .health, .asset, .certificateNeeded, .crossOrigin, .unauthorized, .misdirected, .ambiguousPath,
            .notFound, .methodNotAllowed, .unavailable:
            true
        case .welcome, .forbidden, .signIn, .malformed: false
        }
    }

    private static func personal(_ response: StandardResponse, isHTML: Bool) -> PersonalResponse? {
        switch response {
        case .welcome: isHTML ? .welcomeHTML : .welcomeText
        // The page for a browser contains the target of the request.
        case .forbidden: isHTML ? nil : .forbiddenText
        case .index, .health, .asset, .certificateNeeded, .crossOrigin, .unauthorized, .signIn, .misdirected,
            .ambiguousPath, .malformed, .notFound, .methodNotAllowed, .unavailable:
            nil
        }
    }
}

extension PreparedResponse {
    convenience init(_ rendered: RenderedResponse) { self.init(rendered.head, body: rendered.body) }
}

extension Page {
    /// Returns the response to a request that is not valid HTTP.
    static func fault(_ fault: RequestFault) -> Page {
        let known: [HTTPResponse.Status] = [
            .badRequest, .requestTimeout, .contentTooLarge, .uriTooLong, .expectationFailed,
            .requestHeaderFieldsTooLarge, .httpVersionNotSupported,
        ]
        let status = known.first { $0.code == fault.status } ?? HTTPResponse.Status(code: fault.status)
        let lines: [Message] = [.verbatim("Rejected: \(fault.reason).")]
        return switch status {
        case .uriTooLong:
            Page(status: status, title: Message(.addressTooLong), lines: lines + [Message(.shortenAddress)])
        case .requestHeaderFieldsTooLarge:
            Page(status: status, title: Message(.fieldsTooLarge), lines: lines + [Message(.deleteCookies)])
        default:
            Page(
                status: status,
                title: status.reasonPhrase.isEmpty ? Message(.badRequest) : .verbatim(status.reasonPhrase),
                lines: lines
            )
        }
    }
}
