// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmConfiguration
internal import RealmKit

extension Gate.Decision {
    /// Who may pass, and what everybody else is told: the same for the server's own paths and for those of applications.
    ///
    /// - Parameters:
    ///   - places: Where the sign-in page is; nil if there is none.
    ///   - isSafe: Whether the request is one that changes nothing.
    ///   - asker: Who asks.
    ///   - target: Where somebody wants to go.
    ///   - refused: Takes what somebody is told.
    ///   - passed: Takes the user, if the rule asks for one, and whether there is a rule.
    /// - Returns: What `refused` or `passed` has made of it.
    func answered<Answer>(
        signIn places: Places?,
        isSafe: Bool,
        asker: @autoclosure () -> Asker,
        target: @autoclosure () -> String,
        refused: (Content) -> Answer,
        passed: (_ user: SignedInUser?, _ isRuled: Bool) -> Answer
    ) -> Answer {
        switch self {
        case .challenge(let challenge, let wasRefused):
            // The first scheme is the one that is meant for people.
            let asker = asker()
            guard let places, challenge.schemes.first == .form, !wasRefused, asker == .person else {
                let challenge = asker == .script ? challenge.forScripts : challenge
                return refused(.unauthorized(challenge, wasRefused: wasRefused))
            }
            return refused(.redirect(places.signIn(returningTo: target()), isSafe: isSafe))
        case .forbidden(let user): return refused(.forbidden(user))
        case .malformed(let reason): return refused(.malformed(reason))
        case .unavailable: return refused(.unavailable)
        case .methodNotAllowed(let allowed): return refused(.methodNotAllowed(allowed))
        case .allowed(let user): return passed(user, true)
        case .open: return passed(nil, true)
        case .unruled: return passed(nil, false)
        }
    }
}
