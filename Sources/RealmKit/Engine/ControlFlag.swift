// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// How much a module counts in its stack, as JAAS and PAM name it.
///
/// Over every stack of up to four of these, OpenJDK's LoginContext and Linux-PAM give the same verdict and call the
/// same modules in the same order. What each flag does with an outcome is its ``ActionTable``.
///
/// Source: `javax.security.auth.login.Configuration` (OpenJDK 17), pam.conf(5).
public enum ControlFlag: String, Sendable, Hashable, CaseIterable {
    /// Must succeed; whether it does or not, the modules after it are asked too.
    case required
    /// Must succeed; a failure ends the walk at once.
    case requisite
    /// Need not succeed; a success ends the walk at once, unless a required module has failed before.
    case sufficient
    /// Need not succeed; the walk goes on either way.
    case optional
}
