// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes
package import HummingbirdCore
package import Logging
package import RealmConfiguration
package import RealmKit
package import Sessions

/// Decides who a request of an application is from, and whether it may pass.
package struct Door: Sendable {
    /// What is found.
    package enum Finding: Sendable {
        /// Somebody is there who may pass.
        case visitor(Visitor)
        /// Everybody may pass; nobody was asked for.
        case everybody
        /// No rule is about the request.
        case unruled
        /// The request must not go on, whatever it is for.
        case stopped(Response)
        /// Nobody is there who may pass.
        case refused(Refusal)
    }

    /// Somebody who is signed in.
    package struct Visitor: Sendable {
        /// Who it is.
        package let user: SignedInUser
        let known: Gate.Known?

        /// The session; nil for credentials that come with each request.
        package var session: Session? {
            guard case .session(let session, _) = known else { return nil }
            return session
        }

        /// What a form holds so that no other site can send it; nil where there is no session.
        package var formProof: String? {
            guard case .session(_, let token) = known else { return nil }
            return FormProof.text(token)
        }

        /// Whether a text is ``formProof``; the time it takes tells nothing.
        package func isFormProof(_ text: String?) -> Bool {
            guard case .session(_, let token) = known else { return false }
            return FormProof.isRight(text, token)
        }
    }

    /// Why somebody may not pass.
    package struct Refusal: Sendable {
        let desk: FrontDesk
        let decision: Gate.Decision
        let known: Gate.Known?

        /// The answer to a request that is refused.
        ///
        /// - Parameter request: The request.
        /// - Returns: The answer.
        package func response(to request: Request) -> Response {
            desk.refusal(decision, request, known) ?? desk.response(.forbidden(nil), request, known)
        }
    }

    let desk: FrontDesk
    let gate: Gate
    let isByPath: Bool
    let challenge: Challenge?

    /// Decides about a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - peer: The address at the other end of the connection.
    ///   - isActivity: Whether the session's idle time begins anew.
    ///   - logger: Where is said how a login went.
    /// - Returns: What is found.
    package func look(_ request: Request, peer: String?, isActivity: Bool, logger: Logger) async -> Finding {
        guard let path = RequestPath(target: isByPath ? FrontDesk.target(request) : "/") else {
            return .stopped(desk.response(.doubtfulPath, request))
        }
        let address: String?
        switch desk.address(request, peer) {
        case .address(let found): address = found
        case .unreadable(let reason): return .stopped(desk.response(.malformed(reason), request))
        }
        guard !isByPath || isOfOneHost(request) else {
            return .stopped(desk.response(.malformed("the host is doubtful"), request))
        }
        let asked = Gate.Asked(
            host: .text(desk.authority(request, peer)),
            path: path,
            method: request.method.rawValue,
            address: address,
            session: FrontDesk.cookies(request).session,
            isActivity: isActivity
        )
        switch gate.begin(asked, { BasicScheme.read(request.headers[values: .authorization]) }) {
        case .decided(let decision, let known): return finding(decision, known, request, path, peer)
        case .login(let login):
            let (decision, report) = await gate.decide(login)
            if let report { FrontDesk.note(report, logger) }
            return finding(decision, nil, request, path, peer)
        }
    }

    /// What somebody is told who meets no requirement, or is nobody.
    ///
    /// - Parameter visitor: Who it is; nil for nobody.
    /// - Returns: 403 for somebody, a challenge for nobody.
    package func refusal(_ visitor: Visitor?) -> Refusal {
        let decision: Gate.Decision =
            if let visitor {
                .forbidden(visitor.user)
            } else if let challenge {
                .challenge(challenge, wasRefused: false)
            } else {
                .forbidden(nil)
            }
        return Refusal(desk: desk, decision: decision, known: visitor?.known)
    }

    private func finding(
        _ decision: Gate.Decision,
        _ known: Gate.Known?,
        _ request: Request,
        _ path: RequestPath,
        _ peer: String?
    ) -> Finding {
        switch decision {
        case .allowed(let user):
            guard !desk.isForged(request, at: path, peer: peer) else { return .stopped(desk.forged(request)) }
            return .visitor(Visitor(user: user, known: known))
        case .open: return .everybody
        case .unruled: return .unruled
        case .malformed: return .stopped(desk.refusal(decision, request, known) ?? desk.response(.notFound, request))
        case .challenge, .forbidden, .methodNotAllowed, .unavailable:
            return .refused(Refusal(desk: desk, decision: decision, known: known))
        }
    }

    /// Whether a request line that names a host names that of the request: a rule might be about the one, and the
    /// application look at the other.
    private func isOfOneHost(_ request: Request) -> Bool {
        guard let url = RequestURL(FrontDesk.target(request)) else { return true }
        return url.authority.lowercased().utf8.elementsEqual((request.head.authority ?? "").lowercased().utf8)
    }
}

extension Door.Visitor {
    /// Whether the user meets one of some requirements, as a rule of realms.conf would have it.
    ///
    /// - Parameter requirements: The requirements.
    /// - Returns: True if one is met.
    package func meets(_ requirements: [ProtectRule.Requirement]) -> Bool {
        ProtectRule(path: "/", realms: [user.realm], schemes: [], requirements: requirements).allows(user)
    }
}
