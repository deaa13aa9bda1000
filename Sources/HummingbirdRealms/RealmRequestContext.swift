// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Gatehouse
public import Hummingbird
public import RealmKit
public import Sessions

/// A request context in which ``RealmAuthenticator`` and ``ProtectedByRules`` say who a request is from.
///
/// A context of one's own keeps a ``RealmIdentity``, made of the source it is made of; ``BasicRealmRequestContext`` is one
/// that has nothing else.
public protocol RealmRequestContext: RequestContext {
    /// Who the request is from, and where it came from.
    var identity: RealmIdentity { get set }
}

extension RealmRequestContext {
    /// Who is signed in; nil for nobody, and where nobody was looked for.
    public var user: SignedInUser? { identity.visitor?.user }

    /// The session; nil for nobody, and for credentials that come with each request.
    public var session: Session? { identity.visitor?.session }

    /// What a form or a script sends along so that no other site can send the request; nil where there is no session.
    ///
    /// It is what the session API calls `csrf`, and the same as long as the session lasts.
    public var formProof: String? { identity.visitor?.formProof }

    /// Whether a text that came with a request is ``formProof``.
    ///
    /// - Parameter text: The text; nil if none came.
    /// - Returns: True if it is; the time it takes tells nothing.
    public func isFormProof(_ text: String?) -> Bool { identity.visitor?.isFormProof(text) ?? false }

    /// Who is signed in.
    ///
    /// - Returns: The user.
    /// - Throws: What is answered by 401 or the way to the sign-in page, or by 503 where a realm could not be asked; 500
    ///   where nobody was looked for.
    public func requireUser() throws -> SignedInUser {
        switch identity.finding {
        case .visitor(let visitor, _): return visitor.user
        case .nobody(let refusal): throw RefusedVisitor(refusal: refusal)
        case .unasked: throw RealmIdentity.unasked
        }
    }
}

/// A request context with nothing but who a request is from.
public struct BasicRealmRequestContext: RealmRequestContext {
    /// What every context has.
    public var coreContext: CoreRequestContextStorage
    /// Who the request is from, and where it came from.
    public var identity: RealmIdentity

    /// The context of a request.
    ///
    /// - Parameter source: What the server knows of the request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        identity = RealmIdentity(source: source)
    }
}
