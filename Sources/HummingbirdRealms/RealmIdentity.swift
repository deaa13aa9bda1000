// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Gatehouse
internal import HTTPTypes
public import Hummingbird
internal import NIOCore

/// Who a request is from, as far as middleware has looked, and where it came from.
public struct RealmIdentity: Sendable {
    enum Finding: Sendable {
        /// Nobody has looked.
        case unasked
        /// Nobody is there; what they are told where somebody is needed.
        case nobody(Door.Refusal)
        case visitor(Door.Visitor, Door)
    }

    var finding = Finding.unasked
    /// The address at the other end of the connection; nil if it is not known.
    public let peer: String?

    var visitor: Door.Visitor? {
        guard case .visitor(let visitor, _) = finding else { return nil }
        return visitor
    }

    /// Nobody, at the other end of a connection.
    ///
    /// - Parameter source: What the server knows of the request.
    public init(source: ApplicationRequestContextSource) {
        self.init(peer: source.channel.remoteAddress?.ipAddress)
    }

    /// Nobody, at an address: for contexts with a source of their own.
    ///
    /// - Parameter peer: The address at the other end of the connection; nil if it is not known.
    public init(peer: String?) {
        self.peer = peer
    }

    /// Fails closed: a route that needs somebody must not be open because middleware was forgotten.
    static let unasked = HTTPError(.internalServerError)
}

/// What a handler throws for somebody who may not go on.
struct RefusedVisitor: HTTPResponseError {
    let refusal: Door.Refusal

    var status: HTTPResponse.Status { .unauthorized }

    func response(from request: Request, context: some RequestContext) -> Response {
        refusal.response(to: request)
    }
}
