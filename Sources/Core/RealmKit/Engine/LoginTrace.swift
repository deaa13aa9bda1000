// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The steps and the result of a login or a logout.
struct LoginTrace: Sendable {
    var steps: [LoginStep] = []
    /// The number of steps of the login phase, whose modules are later committed, aborted or logged out in their order.
    var reachedCount = 0
    /// True if the login was granted; only the end of the commit phase sets it.
    var isGranted = false
    var refusal: Refusal?
    /// The entry at which the login phase was cancelled; nil if it was not cancelled.
    var cancelledAt: Int?
    var outage: Outage?
    /// True if an outage of a locked login counts as wrong credentials, because a secret had been presented.
    var hidesOutage = false

    /// The steps of the login phase, one for each module reached.
    var reached: ArraySlice<LoginStep> { steps.prefix(reachedCount) }

    /// Returns whether a contribution is from a module that succeeded in the login phase.
    func succeeded(_ contribution: Contribution) -> Bool {
        guard contribution.round < steps.count else { return false }
        return steps[contribution.round].phase == .login && steps[contribution.round].outcome == .success
    }

    /// Returns whether the login was granted, the contributing call succeeded, and the module has committed.
    func counts(_ contribution: Contribution) -> Bool {
        guard isGranted, contribution.round < steps.count, steps[contribution.round].outcome == .success else {
            return false
        }
        switch steps[contribution.round].phase {
        case .commit: return true
        case .abort, .logout: return false
        // The commit phase may have skipped the module.
        case .login:
            return steps[reachedCount...].contains {
                $0.index == contribution.module && $0.phase == .commit && $0.outcome == .success
            }
        }
    }
}

/// The principals and attributes that one call of one module adds to a subject, if the call counts.
struct Contribution: Sendable {
    /// The module's place in its stack, from 0.
    let module: Int
    /// The number of the call in its login; see ``LoginRecord``.
    let round: Int
    /// True if the contribution belongs to a success of the login phase.
    let isSuccess: Bool
    /// The user that the module names; nil for none.
    let user: Username?
    var groups: [String] = []
    var others: [Principal] = []
    let attributes: [UserAttribute]

    var principals: [Principal] {
        (user.map { [.user($0.text)] } ?? []) + groups.map(Principal.group) + others
    }

    func isMember(of group: String) -> Bool {
        groups.contains { $0.hasBytes(of: group) } || others.contains(.group(group))
    }
}
