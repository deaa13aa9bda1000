// SPDX-License-Identifier: Apache-2.0

/// A login that keeps the logins which its modules make in other realms.
protocol NestingLogin: OngoingLogin {
    /// Adds a login in another realm, unless the call has ended.
    ///
    /// - Returns: False if the call has ended.
    func addNested(_ login: HeldLogin, module: Int, round: Int) -> Bool

    /// True until the engine has received the answer to the call.
    func isOpen(round: Int) -> Bool

    /// The logins of a module in other realms, in order.
    func nestedLogins(of module: Int) -> [HeldLogin]
}
