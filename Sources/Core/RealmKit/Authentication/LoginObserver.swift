// SPDX-License-Identifier: Apache-2.0

/// An observer of logins, for example for metrics.
///
/// It cannot change the result of a login.
public protocol LoginObserver: Sendable {
    /// Tells the observer that a login in a realm has ended.
    ///
    /// It is called after the throttle has counted the attempt, and before the caller of the login gets the result. So
    /// it must not wait. If a login used several realms, it is called once for each of them.
    ///
    /// - Parameter report: The result of the login. The user name and the address are data of the client, and must not
    ///   become labels of metrics.
    func loginEnded(_ report: LoginReport)
}
