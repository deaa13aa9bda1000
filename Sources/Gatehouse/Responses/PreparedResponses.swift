// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import HTTPServer
internal import Sessions
internal import SignIn

/// Rendered and encoded responses that are used more than once.
///
/// A response that is the same for all clients is made once. A response for a user is cached with the user's
/// authentication.
struct PreparedResponses: Sendable {
    let renderer: ResponseRenderer
    // After the initializer, this dictionary does not change.
    private var common: [Key: PreparedResponse] = [:]

    private struct Key: Hashable {
        let response: StandardResponse
        let asHTML: Bool
    }

    /// Prepares the responses that are the same for all clients.
    ///
    /// - Parameter renderer: Renders the responses.
    init(_ renderer: ResponseRenderer) {
        self.renderer = renderer
        for response in renderer.commonResponses {
            for asHTML in [true, false] {
                common[Key(response: response, asHTML: asHTML)] = make(response, asHTML: asHTML, for: nil)
            }
        }
    }

    /// Returns the rendered and encoded form of a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - asHTML: True for HTML.
    ///   - authentication: The authentication of the request; nil if the request is not authenticated.
    /// - Returns: The encoded response.
    func prepared(
        _ response: StandardResponse,
        asHTML: Bool,
        for authentication: ExistingAuthentication?
    ) -> PreparedResponse {
        if let authentication, let personal = Self.personal(response, asHTML: asHTML) {
            let cached = authentication.responses.response(for: renderer.context.key(of: personal)) {
                CachedResponse(make(response, asHTML: asHTML, for: authentication))
            }
            return cached.response
        }
        if Self.isCommon(response), let made = common[Key(response: response, asHTML: asHTML)] { return made }
        return make(response, asHTML: asHTML, for: authentication)
    }

    /// Returns the response to a request that is not valid HTTP.
    func prepared(_ fault: RequestFault) -> PreparedResponse {
        PreparedResponse(Page.fault(fault).rendered(asHTML: false, in: renderer.context))
    }

    private func make(
        _ response: StandardResponse,
        asHTML: Bool,
        for authentication: ExistingAuthentication?
    ) -> PreparedResponse {
        PreparedResponse(renderer.render(response, asHTML: asHTML, for: authentication))
    }

    /// Returns whether a response is the same for all clients.
    ///
    /// Any other response contains data of the user or request.
    private static func isCommon(_ response: StandardResponse) -> Bool {
        switch response {
        case .index, .health, .asset, .certificateNeeded, .unauthorized, .misdirected, .ambiguousPath,
            .notFound, .methodNotAllowed, .unavailable:
            true
        case .welcome, .forbidden, .signIn, .malformed: false
        }
    }

    private static func personal(_ response: StandardResponse, asHTML: Bool) -> PersonalResponse? {
        switch response {
        case .welcome: asHTML ? .welcomeHTML : .welcomeText
        // The page for a browser contains the target of the request.
        case .forbidden: asHTML ? nil : .forbiddenText
        case .index, .health, .asset, .certificateNeeded, .unauthorized, .signIn, .misdirected,
            .ambiguousPath, .malformed, .notFound, .methodNotAllowed, .unavailable:
            nil
        }
    }
}
