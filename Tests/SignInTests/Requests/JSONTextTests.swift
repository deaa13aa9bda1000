// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignIn

@Suite struct JSONTextTests {
    @Test(
        arguments: [
            ("", #""""#), ("abc é 😀", #""abc é 😀""#), ("\"\\/", #""\"\\/""#), ("\n\r\t", #""\n\r\t""#),
            ("\u{0}\u{8}\u{1F}\u{7F}", #""\u0000\b\u001f\u007f""#), ("\r\n", #""\r\n""#),
            ("</script>&", #""\u003c/script\u003e\u0026""#), ("\u{2028}\u{2029}", #""\u2028\u2029""#),
        ]
    )
    func `strings escape all characters that are special in HTML or JavaScript`(string: String, text: String) {
        #expect(JSONText.of(string) == text)
    }

    @Test func `keys are sorted and written in snake case`() {
        struct Value: Encodable {
            let lastSeen = -5
            let absent: Int? = nil
            let address = Nullable<String>(value: nil)
            let host = Nullable(value: "a/b")
            let values = ["<": [Int]()]
            let all = [true, false]
            let most = Int.max
        }
        let text =
            #"{"address":null,"all":[true,false],"host":"a/b","last_seen":-5,"most":9223372036854775807,"#
            + #""values":{"\u003c":[]}}"#
        #expect(JSONText.of(Value()) == text)
    }
}
