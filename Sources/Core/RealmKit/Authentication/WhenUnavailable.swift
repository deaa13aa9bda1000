// SPDX-License-Identifier: Apache-2.0

/// The reaction to a realm that is unavailable in a login that may use several realms.
public enum WhenUnavailable: String, Sendable, Hashable, CaseIterable {
    /// The next realm is used. It may accept another person of the same name.
    case `continue`
    /// No further realm is used, and the login fails as if the realm were the last one. A web client gets 503.
    case stop
}
