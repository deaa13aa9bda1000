// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

/// The dialog for a new password, from a module whose users' passwords have expired.
struct NewPasswordTests {
    private static func answers(_ texts: String...) -> RecordingConversation.Reply {
        .answers([.none] + texts.map { .secret(Secret(utf8: $0)) })
    }

    /// Asks for a new password in place of `old`, and accepts texts that begin with `n`.
    private func outcome(
        _ replies: [RecordingConversation.Reply]
    ) async throws -> (password: String?, messages: [String], note: String?) {
        let conversation = RecordingConversation(replies)
        let result = CapturedValue<String>()
        let module = ScriptedModule(
            .run { attempt throws(LoginFault) in
                let new = try await attempt.newPassword(instead: Secret(utf8: "old")) { new in
                    new.withBytes { $0[0] == UInt8(ascii: "n") } ? nil : "It begins with n."
                }
                guard let new else { return .failed(.credentialExpired) }
                result.set(new.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) })
                return attempt.commit()
            }
        )
        let report = await stack(.required(module)).login(try request(), asking: conversation)
        #expect((report.identity != nil) == (result.value != nil))
        let messages = conversation.questions.compactMap { callbacks -> String? in
            let prompts = ["New password", "New password again"].map { Callback.password(prompt: $0) }
            #expect(Array(callbacks.dropFirst()) == prompts)
            guard case .message(let text) = callbacks[0] else { return nil }
            return text
        }
        return (result.value, messages, report.notes.last?.text)
    }

    private static let first = "The password must be changed."

    @Test func `a new password is taken if both answers are the same and it is not refused`() async throws {
        let found = try await outcome([Self.answers("new", "new")])
        #expect(found.password == "new" && found.messages == [Self.first] && found.note == nil)
    }

    @Test func `a mistake is said, and the user is asked at most three times`() async throws {
        let replies = [Self.answers("new", "now"), Self.answers("x", "x"), Self.answers("", "")]
        let found = try await outcome(replies + [Self.answers("new", "new")])
        #expect(found.password == nil)
        #expect(found.messages == [Self.first, "The two new passwords differ.", "It begins with n."])
        let empty = try await outcome([Self.answers("", ""), Self.answers("new", "new")])
        #expect(empty.password == "new" && empty.messages == [Self.first, "The new password is empty."])
        #expect(found.note == "the user has given no new password that is accepted")
        #expect(try await outcome(Array(replies.prefix(2)) + [Self.answers("new", "new")]).password == "new")
    }

    @Test(arguments: ["new\tword", "new\n", "n\0", "n\u{7F}", "n\u{85}"])
    func `a new password with a control character is refused, because HTTP Basic cannot carry it`(
        bad: String
    ) async throws {
        let found = try await outcome([Self.answers(bad, bad), Self.answers("né\u{A0}w", "né\u{A0}w")])
        #expect(found.password == "né\u{A0}w")
        #expect(found.messages == [Self.first, "The new password has a control character."])
    }

    @Test func `a client that has only the old password is asked once`() async throws {
        let found = try await outcome([Self.answers("old", "old")])
        #expect(found.password == nil && found.messages == [Self.first])
        #expect(found.note == "the new password is the old one")
    }

    @Test func `a client without answers is asked once`() async throws {
        for reply in [
            RecordingConversation.Reply.answers([.none, .none, .none]),
            .answers([.none, .secret(Secret(utf8: "new")), .none]),
        ] {
            let found = try await outcome([reply])
            #expect(found.password == nil && found.messages == [Self.first])
            #expect(found.note == "the user has not answered the prompts for a new password")
        }
    }
}
