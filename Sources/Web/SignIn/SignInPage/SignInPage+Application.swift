// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import RealmConfiguration

/// The name of the application that a user signs in to.
extension SignInPage {
    /// Returns the name of the application of a target; nil if the page has no name for it.
    ///
    /// Without a name in the rule, it is the host of a target at another origin. The target is allowed, so an attacker
    /// cannot choose the name.
    ///
    /// - Parameters:
    ///   - target: The target to return to; nil for the default.
    ///   - rule: The rule of the target; nil if there is none.
    /// - Returns: The name.
    func applicationName(_ target: ReturnTarget?, rule: ProtectRule?) -> Message? {
        guard let target else { return nil }
        if let application = rule?.application { return .localized(application) }
        return target.origin.map { .verbatim($0.port == 443 ? $0.host : "\($0.host):\($0.port)") }
    }

    /// Returns the title of the page with user name and password.
    static func title(signingInTo application: Message?) -> Message {
        application.map { Message(.signInTo, ["application": $0]) } ?? .key(.signIn)
    }
}
