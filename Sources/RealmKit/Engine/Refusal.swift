// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The reason for which a login was refused.
public enum Refusal: Sendable, Hashable {
    /// A module failed: the first whose failure counted, or the first of all if none counted and no module succeeded.
    case module(index: Int, phase: LoginPhase, failure: LoginFailure)
    /// No module failed, and none succeeded.
    case allIgnored
    /// The stack has no modules.
    case emptyStack
    /// The module that named the user could not commit, though others could: the user is not established.
    case noUserEstablished
    /// The throttle has locked the account or the client's address, whatever the modules decided.
    case locked

    /// The kind of failure; `permissionDenied` if it is neither a module's nor the throttle's.
    public var failure: LoginFailure {
        switch self {
        case .module(_, _, let failure): failure
        case .locked: .locked
        case .allIgnored, .emptyStack, .noUserEstablished: .permissionDenied
        }
    }
}
