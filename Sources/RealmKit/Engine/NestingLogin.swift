// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A login that keeps the logins which its modules make in other realms.
protocol NestingLogin: OngoingLogin {
    /// Adds the report of a login in another realm, unless the call has ended.
    ///
    /// - Returns: False if the call has ended.
    func addNested(_ report: LoginReport, module: Int, round: Int) -> Bool

    /// The identities that other realms have accepted in logins of a module.
    func nestedIdentities(of module: Int) -> [AuthenticatedIdentity]
}
