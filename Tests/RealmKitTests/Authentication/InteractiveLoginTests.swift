// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Testing

@testable import RealmKit

@Suite struct InteractiveLoginTests {
    @Test func `questions that the sign-in form has answered are not shown again`() async {
        let dialogue = InteractiveLogin(
            password: "secret1",
            asking: [[.name(prompt: "N"), .password(prompt: "P")], [.certificate], [.password(prompt: "P")], []]
        )
        #expect(await dialogue.next().outcome == "name zed, secret secret1; none; secret secret1; ")
        #expect(await dialogue.next().outcome == "name zed, secret secret1; none; secret secret1; ")
    }

    @Test func `a password with another prompt and each code are requested from the user`() async {
        let dialogue = InteractiveLogin(
            password: "one",
            asking: [
                [.password(prompt: "Old"), .password(prompt: "New")], [.oneTimeCode(prompt: "C")],
                [.oneTimeCode(prompt: "C")],
            ]
        )
        let first = await dialogue.next()
        #expect(first.callbacks == [.password(prompt: "New")])
        #expect(await dialogue.next().number == first.number)
        #expect(dialogue.answer([.secret(Secret(utf8: "two"))], to: first.number))
        let second = await dialogue.next()
        #expect(second.callbacks == [.oneTimeCode(prompt: "C")])
        #expect(dialogue.answer([.secret(Secret(utf8: "3"))], to: second.number))
        let third = await dialogue.next()
        #expect(third.callbacks == [.oneTimeCode(prompt: "C")])
        #expect(dialogue.answer([.secret(Secret(utf8: "4"))], to: third.number))
        #expect(await dialogue.next().outcome == "secret one, secret two; secret 3; secret 4")
    }

    @Test func `a password that is missing in the form is requested once`() async {
        let dialogue = InteractiveLogin(password: nil, asking: [[.password(prompt: "P")], [.password(prompt: "P")]])
        let step = await dialogue.next()
        #expect(step.callbacks == [.password(prompt: "P")])
        #expect(dialogue.answer([.secret(Secret(utf8: "typed"))], to: step.number))
        #expect(await dialogue.next().outcome == "secret typed; secret typed")
    }

    @Test func `messages without a question are kept and do not stop the login`() async {
        let dialogue = InteractiveLogin(
            password: "p",
            asking: [
                [.message("One")], [.message("Two")], [.message("Three"), .oneTimeCode(prompt: "C")],
                [.message("Four")],
            ]
        )
        let step = await dialogue.next()
        #expect(step.callbacks == [.message("Three"), .oneTimeCode(prompt: "C")])
        #expect(dialogue.messages == ["One", "Two"])
        #expect(dialogue.answer([.none, .secret(Secret(utf8: "1"))], to: step.number))
        #expect(await dialogue.next().outcome == "none; none; none, secret 1; none")
        #expect(dialogue.messages == ["Four"])
    }

    @Test func `only the open question accepts an answer, and only once`() async {
        let dialogue = InteractiveLogin(
            password: "p",
            asking: [[.oneTimeCode(prompt: "C")], [.oneTimeCode(prompt: "D")]]
        )
        let first = await dialogue.next().number
        let code = Answer.secret(Secret(utf8: "1"))
        #expect(!dialogue.answer([code], to: first + 1))
        #expect(!dialogue.answer([], to: first))
        #expect(!dialogue.answer([code, code], to: first))
        #expect(!dialogue.answer([.name("x")], to: first))
        #expect(dialogue.answer([code], to: first))
        #expect(!dialogue.answer([code], to: first))
        let second = await dialogue.next().number
        #expect(second != first)
        #expect(!dialogue.answer([code], to: first))
        #expect(dialogue.answer([code], to: second))
        #expect(await dialogue.next().outcome == "secret 1; secret 1")
        #expect(!dialogue.answer([code], to: second))
    }

    @Test func `only one of several concurrent answers is accepted`() async {
        for _ in 0..<50 {
            let dialogue = InteractiveLogin.waiting()
            let number = await dialogue.next().number
            let taken = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 { group.addTask { dialogue.answer([.secret(Secret(utf8: "1"))], to: number) } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(taken == 1)
        }
    }

    @Test func `an answer and a cancellation in any order resume all waiting tasks`() async {
        for round in 0..<200 {
            let dialogue = InteractiveLogin.waiting()
            let number = await dialogue.next().number
            let outcomes = await withTaskGroup(of: String?.self) { group in
                group.addTask {
                    if round % 3 > 0 { dialogue.cancel() }
                    return nil
                }
                group.addTask { dialogue.answer([.secret(Secret(utf8: "1"))], to: number) ? "taken" : nil }
                let parts = await group.reduce(into: []) { $0.append($1) }.compactMap { $0 }
                async let first = dialogue.next().outcome
                async let second = dialogue.next().outcome
                return await [parts.first, first, second]
            }
            let end = outcomes[0] == nil ? "secret p; wrong-credentials" : "secret p; secret 1"
            #expect(outcomes[1] == end && outcomes[2] == end)
        }
    }

    @Test func `a missing code is treated as an empty code`() async {
        let dialogue = InteractiveLogin.waiting()
        let number = await dialogue.next().number
        #expect(dialogue.answer([.none], to: number))
        #expect(await dialogue.next().outcome == "secret p; secret ")
    }

    @Test func `a login that is cancelled after the password was given counts as a wrong password`() async {
        let dialogue = InteractiveLogin.waiting()
        let number = await dialogue.next().number
        dialogue.cancel()
        #expect(await dialogue.next().outcome == "secret p; wrong-credentials")
        #expect(!dialogue.answer([.secret(Secret(utf8: "1"))], to: number))
    }

    @Test func `a login that is cancelled before a secret is given does not count as a guess`() async {
        let dialogue = InteractiveLogin(password: nil, asking: [[.name(prompt: "N")], [.password(prompt: "P")]])
        _ = await dialogue.next()
        dialogue.cancel()
        dialogue.cancel()
        #expect(await dialogue.next().outcome == "name zed; missing-credential")
    }

    @Test func `a cancelled login cancels its task`() async {
        let clock = ManualClock()
        let dialogue = InteractiveLogin(password: "p") { _ in
            do throws(CancellationError) {
                try await clock.sleep(until: 1)
                return "slept"
            } catch {
                return "cancelled"
            }
        }
        await clock.untilAsleep()
        dialogue.cancel()
        #expect(await dialogue.next().outcome == "cancelled")
    }

    @Test func `the end of the login resumes a task that waits for the next question`() async {
        let dialogue = InteractiveLogin.waiting()
        let number = await dialogue.next().number
        #expect(dialogue.answer([.secret(Secret(utf8: "1"))], to: number))
        async let first = dialogue.next().outcome
        async let second = dialogue.next().outcome
        #expect(await [first, second] == ["secret p; secret 1", "secret p; secret 1"])
    }

    @Test func `a released login is cancelled`() async {
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
            _ = InteractiveLogin(password: nil) { conversation in
                do throws(LoginFault) {
                    _ = try await conversation.answer([.password(prompt: "P")])
                    continuation.resume(returning: "answered")
                } catch {
                    continuation.resume(returning: error.kind.code)
                }
                return ""
            }
        }
        #expect(outcome == "missing-credential")
    }

    @Test func `two concurrent questions are shown one after the other`() async {
        let dialogue = InteractiveLogin(password: nil) { conversation in
            await withTaskGroup(of: String.self) { group in
                for prompt in ["A", "B"] {
                    group.addTask {
                        do throws(LoginFault) {
                            return prompt + text(of: try await conversation.answer([.oneTimeCode(prompt: prompt)]))
                        } catch {
                            return "\(error)"
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }.sorted().joined(separator: ", ")
            }
        }
        for _ in 0..<2 {
            let step = await dialogue.next()
            guard case .oneTimeCode(let prompt)? = step.callbacks?.first else { break }
            #expect(dialogue.answer([.secret(Secret(utf8: prompt.lowercased()))], to: step.number))
        }
        #expect(await dialogue.next().outcome == "Asecret a, Bsecret b")
    }

    @Test func `the interactive login passes the conformance tests of conversations`() async {
        let conformance = ConversationConformance(
            missing: [.certificate],
            makeWaiting: { InteractiveConversation(name: "zed", password: nil, numbers: QuestionNumbers()) },
            { Answering() }
        )
        #expect(await conformance.violations() == [])
    }
}

/// An interactive conversation whose questions are all answered by a task.
private final class Answering: Conversation {
    private let conversation = InteractiveConversation(
        name: "zed",
        password: Secret(utf8: "p"),
        numbers: QuestionNumbers()
    )

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let client = Task { [conversation] in
            while case .questions(let questions, let number) = await conversation.next() {
                let answers: [Answer] = questions.map { callback in
                    if case .message = callback { .none } else { .secret(Secret(utf8: "1")) }
                }
                _ = conversation.receive(answers, to: number)
            }
        }
        defer { client.cancel() }
        do throws(LoginFault) {
            let answers = try await conversation.answer(callbacks)
            conversation.finish(.rejected(nil))
            return answers
        } catch {
            conversation.finish(.rejected(nil))
            throw error
        }
    }
}
