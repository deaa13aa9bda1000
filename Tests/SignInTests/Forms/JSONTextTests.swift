// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Testing

@testable import SignIn

@Suite struct JSONTextTests {
    @Test(
        arguments: [
            ("", #""""#), ("abc é 😀", #""abc é 😀""#), ("\"\\/", #""\"\\/""#), ("\n\r\t", #""\n\r\t""#),
            ("\u{0}\u{8}\u{1F}\u{7F}", #""\u0000\u0008\u001f\u007f""#), ("\r\n", #""\r\n""#),
            ("</script>&", #""\u003c/script\u003e\u0026""#), ("\u{2028}\u{2029}", #""\u2028\u2029""#),
        ]
    )
    func `strings escape all characters that mean something in HTML or JavaScript`(string: String, text: String) {
        #expect(JSONValue.string(string).text == text)
    }

    @Test func `values are written in their order`() {
        let value = JSONValue.object([
            ("z", .integer(-5)), ("a", .array([.null, .bool(true), .bool(false), .array([])])), ("<", .object([])),
            ("n", .integer(.max)),
        ])
        #expect(value.text == #"{"z":-5,"a":[null,true,false,[]],"\u003c":{},"n":9223372036854775807}"#)
    }
}
