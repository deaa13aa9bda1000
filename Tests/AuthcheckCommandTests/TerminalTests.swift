// SPDX-License-Identifier: Apache-2.0

import Glibc
import RealmKit
import RealmTesting
import Testing

@testable import AuthcheckCommand
@testable import CommandSupport

struct TerminalTests {
    @Test func `the terminal conversation answers callbacks that need no input`() async throws {
        let name = try Username("ann")
        // These callbacks do not read standard input.
        let conversation = TerminalConversation(name, input: 0)
        let answers = try await conversation.answer([.name(prompt: "Name"), .certificate, .message("")])
        #expect(answers.count == 3)
        guard case .name("ann") = answers[0], case .none = answers[1], case .none = answers[2] else {
            Issue.record("\(answers)")
            return
        }
    }

    @Test func `a conversation whose input gives no line ends when it is cancelled`() async throws {
        let name = try Username("ann")
        var ends: [Int32] = [-1, -1]
        #expect(unsafe pipe(&ends) == 0)
        let input = ends[0]
        defer { for end in ends { close(end) } }
        // A line without its end is no answer either.
        #expect(unsafe write(ends[1], "lil", 3) == 3)
        let conformance = ConversationConformance(makeWaiting: { TerminalConversation(name, input: input) }) {
            TerminalConversation(name, certificate: [1], input: -1)
        }
        #expect(await conformance.violations() == [])
    }

    /// Returns the text in a line buffer.
    private func text(_ line: borrowing LineBuffer) -> String {
        line.secret().withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    /// Returns a line buffer with the beginning of a text that fits into it.
    private func line(_ text: String, capacity: Int = 16) -> LineBuffer {
        var line = LineBuffer(capacity: capacity)
        for byte in text.utf8 where !line.append(byte) { break }
        return line
    }

    @Test func `removing the last character removes all its bytes`() {
        var line = line("aé€")
        line.removeLastCharacter()
        line.removeLastCharacter()
        #expect(text(line) == "a")
        line.removeLastCharacter()
        line.removeLastCharacter()
        #expect(text(line) == "")
    }

    @Test func `a line buffer takes no more bytes than its capacity`() {
        var line = line("abc", capacity: 2)
        #expect(text(line) == "ab")
        let fits = line.append(0x63)
        #expect(!fits)
        line.clear()
        #expect(text(line) == "")
    }

    @Test func `only a carriage return at the end is removed`() {
        var line = line("a\rb\r")
        line.removeCarriageReturn()
        #expect(text(line) == "a\rb")
        line.removeCarriageReturn()
        #expect(text(line) == "a\rb")
    }
}
