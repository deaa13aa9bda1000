// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

struct ConversationConformanceTests {
    @Test func `the conversations of the library and of the kit pass the conformance kit`() async {
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

    @Test func `missing answers, wrong kinds, faults and ignored cancellations are found`() async {
        let short = ConversationConformance { RecordingConversation([.answers([])]) }
        #expect(await short.violations().contains("0 answers to [\"name\"]"))
        let wrong = ConversationConformance { RecordingConversation([.answers([.name("ann")])]) }
        #expect(await wrong.violations().contains("password in [\"password\"] has an answer of another kind"))
        let gone = ConversationConformance(missing: [.certificate]) {
            RecordingConversation([.fault(.unavailable("gone"))])
        }
        #expect(
            await gone.violations().contains(
                "for certificate, which should have no answer, it throws: unavailable: gone"
            )
        )
        let has = ConversationConformance(missing: [.name(prompt: "")]) { PreparedConversation(name: "ann") }
        #expect(await has.violations() == ["it answers name, which should have no answer"])
        let deaf = RecordingConversation([.held(.silent)])
        let stuck = ConversationConformance(timeLimit: .milliseconds(500), makeWaiting: { deaf }) {
            PreparedConversation.silent
        }
        #expect(await stuck.violations() == ["it does not return when it is cancelled"])
        deaf.release()
        let calm = ConversationConformance(makeWaiting: { PreparedConversation.silent }) { PreparedConversation.silent }
        #expect(await calm.violations() == ["it answers after a cancellation instead of throwing"])
    }
}
