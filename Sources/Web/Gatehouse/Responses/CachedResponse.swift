// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import SignIn

/// An encoded response in a ``ResponseCache``.
final class CachedResponse: Sendable {
    let response: PreparedResponse

    init(_ response: PreparedResponse) { self.response = response }
}

extension PreparedResponse {
    /// Encodes a rendered response.
    init(_ rendered: RenderedResponse) { self.init(rendered.head, body: rendered.body) }
}
