// SPDX-License-Identifier: Apache-2.0

/// The weight of a module in its stack, with the names that JAAS and PAM use.
///
/// For every stack of up to four modules with these flags, OpenJDK's LoginContext and Linux-PAM agree: they give the
/// same result and call the same modules in the same order. The ``ActionTable`` of a flag defines its effect on each
/// outcome.
///
/// Source: `javax.security.auth.login.Configuration` (OpenJDK 17), pam.conf(5).
public enum ControlFlag: String, Sendable, Hashable, CaseIterable {
    /// The module must succeed; the following modules are called even if it fails.
    case required
    /// The module must succeed; a failure ends the evaluation at once.
    case requisite
    /// The module need not succeed; a success ends the evaluation at once, unless a required module has failed before.
    case sufficient
    /// The module need not succeed; the evaluation continues in either case.
    case optional
}
