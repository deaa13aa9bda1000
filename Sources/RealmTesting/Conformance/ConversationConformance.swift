// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Checks a kind of conversation against the contract of `Conversation`.
///
/// Checked: as many answers as callbacks, in their order, each of the kind that was asked for or `none`; `none` for what
/// is not there; a message needs no answer; an answer in which somebody would have to be waited for ends when the task is
/// cancelled.
public struct ConversationConformance: Sendable {
    private let make: @Sendable () -> any Conversation
    private let missing: [Callback]
    private let makeWaiting: (@Sendable () -> any Conversation)?
    private let patience: Duration

    /// A check of one kind of conversation.
    ///
    /// - Parameters:
    ///   - missing: Callbacks that it has no answer to.
    ///   - patience: How long an answer may take, in real time.
    ///   - makeWaiting: Makes one whose other end never says anything, if its kind has to wait for one.
    ///   - make: Makes one; called for every check.
    public init(
        missing: [Callback] = [],
        patience: Duration = .seconds(10),
        makeWaiting: (@Sendable () -> any Conversation)? = nil,
        _ make: @escaping @Sendable () -> any Conversation
    ) {
        self.make = make
        self.missing = missing
        self.makeWaiting = makeWaiting
        self.patience = patience
    }

    private static let everything: [Callback] = [
        .name(prompt: "Name"), .password(prompt: "Password"), .oneTimeCode(prompt: "Code"), .certificate,
        .message("Hello"),
    ]

    /// Checks everything.
    ///
    /// - Returns: What is wrong, a sentence each; empty if nothing is.
    public func violations() async -> [String] {
        let all = Self.everything
        var violations: [String] = []
        for callbacks in [[], all, all.reversed()] + all.map({ [$0] }) + all.map({ [$0, $0] }) {
            violations += await Self.violations(of: make(), asking: callbacks)
        }
        violations += await gaps()
        if let makeWaiting { violations += await cancellation(makeWaiting()) }
        return violations
    }

    private static func violations(of conversation: any Conversation, asking callbacks: [Callback]) async -> [String] {
        let question = "\(callbacks.map(word))"
        do throws(LoginFault) {
            let answers = try await conversation.answer(callbacks)
            guard answers.count == callbacks.count else { return ["\(answers.count) answers to \(question)"] }
            return zip(callbacks, answers).compactMap { callback, answer in
                fits(answer, callback) ? nil : "in answer to \(question), \(word(callback)) got another kind of answer"
            }
        } catch {
            return ["asked for \(question) it throws: \(error)"]
        }
    }

    private func gaps() async -> [String] {
        var violations: [String] = []
        for callback in missing {
            do throws(LoginFault) {
                guard case .none? = try await make().answer([callback]).first else {
                    violations.append("it has an answer to \(Self.word(callback)), which should be missing")
                    continue
                }
            } catch {
                violations.append("asked for \(Self.word(callback)), which it does not have, it throws: \(error)")
            }
        }
        return violations
    }

    private func cancellation(_ conversation: any Conversation) async -> [String] {
        let ended = Journal<Bool>()
        let task = Task {
            do throws(LoginFault) {
                _ = try await conversation.answer([.password(prompt: "Password")])
                ended.add(false)
            } catch {
                ended.add(true)
            }
        }
        task.cancel()
        guard await Patience(patience).wait(until: { !ended.entries.isEmpty }) else {
            return ["it goes on waiting after a cancellation"]
        }
        return ended.entries == [true] ? [] : ["after a cancellation it answers instead of throwing"]
    }

    private static func fits(_ answer: Answer, _ callback: Callback) -> Bool {
        switch (answer, callback) {
        case (.none, _), (.name, .name), (.secret, .password), (.secret, .oneTimeCode), (.certificate, .certificate):
            true
        case (.name, _), (.secret, _), (.certificate, _): false
        }
    }

    private static func word(_ callback: Callback) -> String {
        switch callback {
        case .name: "name"
        case .password: "password"
        case .oneTimeCode: "one-time code"
        case .certificate: "certificate"
        case .message: "message"
        }
    }
}
