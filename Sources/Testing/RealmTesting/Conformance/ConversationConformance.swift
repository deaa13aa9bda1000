// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// The conformance test for a kind of conversation: it checks the contract of `Conversation`.
///
/// It checks: every callback has one answer, in order; each answer is `none` or of the requested kind; a callback
/// without an answer gets `none`; a message needs no answer; a conversation that waits for a user throws a fault when
/// the task is cancelled.
public struct ConversationConformance: Sendable {
    private let make: @Sendable () -> any Conversation
    private let missing: [Callback]
    private let makeWaiting: (@Sendable () -> any Conversation)?
    private let timeLimit: Duration

    /// Creates a test of one kind of conversation.
    ///
    /// - Parameters:
    ///   - missing: The callbacks that the conversation cannot answer.
    ///   - timeLimit: The time limit for an answer, in real time.
    ///   - makeWaiting: Creates a conversation whose user never answers; nil if the kind never waits for a user.
    ///   - make: Creates a conversation. It is called for every check.
    public init(
        missing: [Callback] = [],
        timeLimit: Duration = .seconds(10),
        makeWaiting: (@Sendable () -> any Conversation)? = nil,
        _ make: @escaping @Sendable () -> any Conversation
    ) {
        self.make = make
        self.missing = missing
        self.makeWaiting = makeWaiting
        self.timeLimit = timeLimit
    }

    private static let everything: [Callback] = [
        .name(prompt: "Name"), .password(prompt: "Password"), .oneTimeCode(prompt: "Code"), .certificate,
        .message("Hello"),
    ]

    /// Runs all checks.
    ///
    /// - Returns: The violations, one sentence each; empty if there are none.
    public func violations() async -> [String] {
        let all = Self.everything
        var violations: [String] = []
        for callbacks in [[], all, all.reversed()] + all.map({ [$0] }) + all.map({ [$0, $0] }) {
            violations += await Self.violations(of: make(), asking: callbacks)
        }
        violations += await unanswerableCallbacks()
        if let makeWaiting { violations += await cancellation(makeWaiting()) }
        return violations
    }

    private static func violations(of conversation: any Conversation, asking callbacks: [Callback]) async -> [String] {
        let requested = "\(callbacks.map(word))"
        do throws(LoginFault) {
            let answers = try await conversation.answer(callbacks)
            guard answers.count == callbacks.count else { return ["\(answers.count) answers to \(requested)"] }
            return zip(callbacks, answers).compactMap { callback, answer in
                fits(answer, to: callback) ? nil : "the answer to \(word(callback)) in \(requested) has the wrong kind"
            }
        } catch {
            return ["the conversation throws for \(requested): \(error)"]
        }
    }

    private func unanswerableCallbacks() async -> [String] {
        var violations: [String] = []
        for callback in missing {
            let asked = "the callback \(Self.word(callback)), which must have no answer"
            do throws(LoginFault) {
                if case .none? = try await make().answer([callback]).first { continue }
                violations.append("the conversation answers \(asked)")
            } catch {
                violations.append("the conversation throws for \(asked): \(error)")
            }
        }
        return violations
    }

    private func cancellation(_ conversation: any Conversation) async -> [String] {
        let ended = Journal<Bool>()
        let task = Task { ended.add((try? await conversation.answer([.password(prompt: "Password")])) == nil) }
        task.cancel()
        guard await RealTimeLimit(timeLimit).wait(until: { !ended.entries.isEmpty }) else {
            return ["the conversation does not return after a cancellation"]
        }
        return ended.entries == [true] ? [] : ["the conversation answers after a cancellation instead of throwing"]
    }

    private static func fits(_ answer: Answer, to callback: Callback) -> Bool {
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
