// SPDX-License-Identifier: Apache-2.0

extension LoginAttempt {
    /// Requests a new password from the user, twice, in place of one that has expired or must be changed.
    ///
    /// Call it in ``LoginModule/commit(_:)``: a login that another module refuses, or that is locked, must neither show
    /// that the old password was right, nor store a new one. The user is asked at most three times. A client that has only
    /// the old password, as with HTTP Basic, is asked once.
    ///
    /// - Parameters:
    ///   - old: The password that the user has given.
    ///   - message: The text above the first prompts.
    ///   - refusal: Checks the new password, which is not empty and has no control characters, or changes it; returns the
    ///     reason for the user why it is refused, or nil if it is accepted.
    /// - Returns: The new password; nil if the user has given none that is accepted, which a note says.
    /// - Throws: ``LoginFault`` of the conversation or of `refusal`.
    public func newPassword(
        instead old: Secret,
        message: String = "The password must be changed.",
        refusal: (Secret) async throws(LoginFault) -> String?
    ) async throws(LoginFault) -> Secret? {
        var text = message
        for _ in 0..<Self.maximumNewPasswords {
            let answers = try await ask([
                .message(text), .password(prompt: "New password"), .password(prompt: "New password again"),
            ])
            guard case .secret(let new) = answers[1], case .secret(let again) = answers[2] else {
                note("the user has not answered the prompts for a new password")
                return nil
            }
            guard new.isEqual(to: again) else {
                text = "The two new passwords differ."
                continue
            }
            guard !new.isEmpty else {
                text = "The new password is empty."
                continue
            }
            guard !new.isEqual(to: old) else {
                note("the new password is the old one")
                return nil
            }
            guard !new.hasControlCharacter else {
                text = "The new password has a control character."
                continue
            }
            guard let reason = try await refusal(new) else { return new }
            text = reason
        }
        note("the user has given no new password that is accepted")
        return nil
    }

    private static let maximumNewPasswords = 3
}
