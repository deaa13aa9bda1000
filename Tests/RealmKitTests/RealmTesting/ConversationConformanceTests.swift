// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct ConversationConformanceTests {
    @Test func `the conversations of RealmKit and RealmTesting pass the conformance tests`() async {
        let prepared = ConversationConformance(missing: [.oneTimeCode(prompt: ""), .certificate]) {
            PreparedConversation(name: "ann", password: Secret(utf8: "lilac"))
        }
        #expect(await prepared.violations() == [])
        let full = ConversationConformance(
            missing: [.message("")],
            makeWaiting: { RecordingConversation([.never]) },
            { RecordingConversation(name: "ann", password: "lilac", code: "123", certificate: [1]) }
        )
        #expect(await full.violations() == [])
        let silent = ConversationConformance(missing: [.name(prompt: ""), .password(prompt: "")]) {
            PreparedConversation.silent
        }
        #expect(await silent.violations() == [])
    }

    @Test func `missing answers, wrong kinds, faults and ignored cancellations are reported`() async {
        let short = ConversationConformance { RecordingConversation([.answers([])]) }
        #expect(await short.violations().contains("0 answers to [\"name\"]"))
        let wrong = ConversationConformance { RecordingConversation([.answers([.name("ann")])]) }
        #expect(await wrong.violations().contains("the answer to password in [\"password\"] has the wrong kind"))
        let gone = ConversationConformance(missing: [.certificate]) {
            RecordingConversation([.fault(.unavailable("gone"))])
        }
        #expect(
            await gone.violations().contains(
                "the conversation throws for the callback certificate, which must have no answer: unavailable: gone"
            )
        )
        let answering = ConversationConformance(missing: [.name(prompt: "")]) { PreparedConversation(name: "ann") }
        #expect(
            await answering.violations() == ["the conversation answers the callback name, which must have no answer"]
        )
        let endless = RecordingConversation([.held(.silent)])
        let stuck = ConversationConformance(timeLimit: .milliseconds(500), makeWaiting: { endless }) {
            PreparedConversation.silent
        }
        #expect(await stuck.violations() == ["the conversation does not return after a cancellation"])
        endless.release()
        let uncancelled = ConversationConformance(makeWaiting: { PreparedConversation.silent }) {
            PreparedConversation.silent
        }
        #expect(await uncancelled.violations() == ["the conversation answers after a cancellation instead of throwing"])
    }
}
