// SPDX-License-Identifier: Apache-2.0

/// The reason for the refusal of a login.
public enum Refusal: Sendable, Hashable {
    /// A module failed.
    ///
    /// It is the first module whose failure counted. If no failure counted and no module succeeded, it is the first
    /// module that failed.
    case module(index: Int, phase: LoginPhase, failure: LoginFailure)
    /// No module failed, and no module succeeded.
    case allIgnored
    /// The stack has no modules.
    case emptyStack
    /// The modules that named the user could not commit, but other modules could, so the user's name is not known.
    case noUserEstablished
    /// The throttle has locked the account or the client's address, whatever the modules decided.
    case locked

    /// The kind of failure; `permissionDenied` if neither a module nor the throttle caused the refusal.
    public var failure: LoginFailure {
        switch self {
        case .module(_, _, let failure): failure
        case .locked: .locked
        case .allIgnored, .emptyStack, .noUserEstablished: .permissionDenied
        }
    }
}
