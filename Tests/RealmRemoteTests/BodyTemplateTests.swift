// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import SeededRandom
import Testing

@testable import RealmRemote

struct BodyTemplateTests {
    @Test(arguments: [
        "", "{}", #"{"a":"%u"}"#, #"{"a":"%p"}"#, #"{"a":%u,"b":"%p"}"#, #"{"%u":"%p"}"#, #"{"a":"%u","b":"%p"#,
        #"{"a":"\%u","b":"%p"}"#,
        #"{"a":"\u00%u","b":"%p"}"#, #"{"a":"%u","b":"%p","c":"%x"}"#, #"{"a":"%u","b":"%p"}%"#,
        #"{"a":"%u","a":"%p"}"#,
        #"{"a":"\ud83d%u","b":"%p"}"#, "%u %p",
    ])
    func `templates that are rejected`(text: String) {
        #expect(throws: BadValue.self) { try BodyTemplate(text) }
    }

    @Test func `a filled template always has the same structure`() throws {
        let template = try BodyTemplate(#"{"user":{"name":"%u"},"pass%%":["%p","x%u\n"],"n":1}"#)
        var random = Random(seed: 7)
        let alphabet = Array("\"\\/{}[]:,%u'\u{8}\n\r\t\u{0}é\u{1F600}\u{2028}-a").map { String($0) }
        for _ in 0..<3000 {
            let password = (0..<random.below(12)).map { _ in random.pick(alphabet) }.joined()
            let text = "-" + (0..<random.below(12)).map { _ in random.pick(alphabet) }.joined()
            guard let name = try? Username(text) else { continue }
            let filled = try #require(template.filled(name: name, password: Secret(utf8: password)))
            let data = filled.withBytes { span in Data((0..<span.count).map { span[$0] }) }
            let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(Set(object.keys) == ["user", "pass%", "n"])
            #expect((object["user"] as? [String: String])?["name"]?.utf8.elementsEqual(text.utf8) == true)
            let list = try #require(object["pass%"] as? [String])
            #expect(list.count == 2)
            #expect(list[0].utf8.elementsEqual(password.utf8))
            #expect(list[1].utf8.elementsEqual("x\(text)\n".utf8))
        }
        #expect(template.filled(name: try Username("a"), password: Secret([0xFF])) == nil)
    }
}
