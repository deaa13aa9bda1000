// SPDX-License-Identifier: Apache-2.0

import RealmTesting

@testable import RealmKit

/// Returns answers as text.
func text(of answers: [Answer]) -> String {
    answers.map { answer in
        switch answer {
        case .name(let name): "name \(name)"
        case .secret(let secret): "secret \(secret.text)"
        case .certificate: "certificate"
        case .none: "none"
        }
    }.joined(separator: ", ")
}

extension Secret {
    /// The bytes as text.
    var text: String { withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) } }
}

extension InteractiveLogin.Step {
    /// The callbacks of the questions; nil at the end.
    var callbacks: [Callback]? {
        if case .questions(let callbacks, _) = self { callbacks } else { nil }
    }

    /// The number of the question; 0 at the end.
    var number: Int {
        if case .questions(_, let number) = self { number } else { 0 }
    }

    /// The report; nil before the end.
    var report: LoginReport? {
        if case .finished(.rejected(let report)) = self { report } else { nil }
    }

    /// The text with which the login ended; nil before the end.
    var outcome: String? { report?.realm }
}

extension MultiRealmLoginReport.Outcome {
    /// The outcome of a login that ends with a text: a report of a realm with this name.
    static func text(_ text: String) async -> Self {
        guard let zed = try? Username("zed") else { return .rejected(nil) }
        let conversation = InteractiveConversation(name: "zed", password: nil, numbers: QuestionNumbers())
        return .rejected(
            await LoginStack(name: "empty", [], clock: ManualClock())
                .login(LoginRequest(realm: text, username: zed), asking: conversation)
        )
    }
}

extension InteractiveLogin {
    /// A login that ends with a text.
    convenience init(
        _ name: String = "zed",
        password: String?,
        login: @escaping @Sendable (any Conversation) async -> String
    ) {
        self.init(name: name, password: password.map { Secret(utf8: $0) }, numbers: QuestionNumbers()) {
            await .text(await login($0))
        }
    }

    /// A login that requests batches of callbacks in order.
    ///
    /// Its outcome is the text of the answers or the fault.
    convenience init(password: String?, asking batches: [[Callback]]) {
        self.init(password: password) { conversation in
            var received: [String] = []
            do throws(LoginFault) {
                for batch in batches { received.append(text(of: try await conversation.answer(batch))) }
            } catch {
                received.append(error.kind.code)
            }
            return received.joined(separator: "; ")
        }
    }

    /// Returns a login that has a password and waits for a one-time code.
    static func waiting() -> InteractiveLogin {
        InteractiveLogin(password: "p", asking: [[.password(prompt: "P")], [.oneTimeCode(prompt: "C")]])
    }
}
