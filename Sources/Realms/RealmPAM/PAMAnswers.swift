// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HelperProcesses
internal import PAMMessages
internal import RealmKit
internal import Synchronization

/// The answers of one user to the prompts of PAM, of which one conversation runs at a time.
final class PAMAnswers: Sendable {
    private let password: Secret
    private let isPasswordUsed = Atomic(false)
    private let hasUnanswered = Atomic(false)

    /// True if a prompt had no answer.
    var isUnanswered: Bool { hasUnanswered.load(ordering: .relaxed) }

    /// The maximum length of an answer, in bytes: PAM_MAX_RESP_SIZE without its NUL.
    static let maximumSecret = 511

    init(_ password: Secret) { self.password = password }

    /// Returns whether a secret can be passed to PAM, whose texts end with NUL.
    static func isUsable(_ secret: Secret) -> Bool {
        secret.count <= maximumSecret && secret.withBytes { !$0.containsNUL }
    }

    /// Answers prompts, for which there may be no answer: the first one with hidden input by the password, all others
    /// by the user.
    ///
    /// The texts of the modules are shown with the prompts.
    func answer(
        _ prompts: [PAMPrompt],
        stage: PAMStage,
        texts: [String],
        attempt: LoginAttempt
    ) async throws(LoginFault) -> [Secret?] {
        var secrets = [Secret?](repeating: nil, count: prompts.count)
        var callbacks: [Callback] = texts.map { .message($0) }
        var places: [Int] = []
        for (place, prompt) in prompts.enumerated() {
            if takesPassword(prompt, stage: stage) {
                isPasswordUsed.store(true, ordering: .relaxed)
                secrets[place] = password
                continue
            }
            let text = Self.text(prompt)
            // The input of a new password is hidden, that of a code need not be.
            callbacks.append(stage == .changePassword ? .password(prompt: text) : .oneTimeCode(prompt: text))
            places.append(place)
        }
        if places.isEmpty { return secrets }
        let answers = try await attempt.ask(callbacks).dropFirst(texts.count)
        for (place, answer) in zip(places, answers) {
            // HTTP Basic gives the same password again, which is no new password.
            if case .secret(let secret) = answer, Self.isUsable(secret),
                stage != .changePassword || !secret.isEqual(to: password)
            {
                secrets[place] = secret
            } else {
                hasUnanswered.store(true, ordering: .relaxed)
            }
        }
        return secrets
    }

    private func takesPassword(_ prompt: PAMPrompt, stage: PAMStage) -> Bool {
        guard !prompt.isShown else { return false }
        guard stage == .changePassword else { return !isPasswordUsed.load(ordering: .relaxed) }
        // The prompts of libpam and of common modules for the password that has just been checked.
        let start = prompt.text.drop { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: " ") }.prefix(7)
        let lowered = start.map(ASCII.lowercased)
        return lowered.elementsEqual("current".utf8) || lowered.starts(with: "old".utf8)
    }

    /// Returns the label of a prompt, without the colon and blanks at its end.
    private static func text(_ prompt: PAMPrompt) -> String {
        var bytes = prompt.text[...]
        while let last = bytes.last, ASCII.isBlank(last) || last == UInt8(ascii: ":") || last == UInt8(ascii: "\n") {
            bytes.removeLast()
        }
        return bytes.isEmpty ? "Answer" : HelperText.escaped(bytes)
    }
}
