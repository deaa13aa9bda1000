// SPDX-License-Identifier: Apache-2.0

/// The result of an attempt in one realm.
public struct RealmAttempt: Sendable {
    /// The account in the realm.
    public let account: Account
    /// The result of the login.
    public let report: LoginReport
    /// The fingerprint of the secrets that the realm received; nil if the realm received no secret, or if the login was
    /// for one realm only.
    public let guess: PasswordFingerprint?

    /// Creates the result of an attempt in one realm.
    ///
    /// - Parameters:
    ///   - account: The account in the realm.
    ///   - report: The result of the login.
    ///   - guess: The fingerprint of the secrets that the realm received.
    public init(_ account: Account, report: LoginReport, guess: PasswordFingerprint? = nil) {
        self.account = account
        self.report = report
        self.guess = guess
    }
}
