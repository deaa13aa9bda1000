// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import RealmKit
import Testing

@testable import AccessControl

@Suite struct BasicSchemeTests {
    private func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private func presented(_ fields: String...) -> String {
        switch BasicScheme.read(fields.map { UTF8Text($0) }) {
        case .nothing: "nothing"
        case .credentials(let credentials):
            credentials.separated().map { user, password in
                password.withBytes { span in
                    "\(user):" + String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
                }
            } ?? "unusable"
        case .unusable: "unusable"
        case .malformed: "malformed"
        }
    }

    @Test(
        arguments: [
            // RFC 7617 sections 2 and 2.1.
            ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin:open sesame"),
            ("Basic dGVzdDoxMjPCow==", "test:123£"),
            ("basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin:open sesame"),
            ("BASIC    QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin:open sesame"),
        ]
    )
    func `the examples of RFC 7617 are parsed, with the scheme in upper or lower case`(field: String, expected: String)
    {
        #expect(presented(field) == expected)
    }

    @Test func `a password may contain colons and may be empty`() {
        #expect(presented("Basic " + encoded("zed:a:b:")) == "zed:a:b:")
        #expect(presented("Basic " + encoded("zed:")) == "zed:")
    }

    @Test func `fields of other schemes contain no credentials`() {
        guard case .nothing = BasicScheme.read([]) else {
            Issue.record("no field")
            return
        }
        #expect(presented("Bearer abc") == "nothing")
        #expect(presented("Digest username=\"zed\"") == "nothing")
        #expect(presented("Basically abc") == "nothing")
    }

    @Test(
        arguments: [
            "", " ", "Basic", "Basic ", "Basic\tQQ==", ":", "Basic:QQ==", "Basic ====", "Basic Q", "Basic QQ",
            "Basic QQ=",
            "Basic QQ===", "Basic =QQ=", "Basic Q=Q=", "Basic emVk Onh4", "Basic emVkOng=x", "Basic emVkOng=,",
            "Basic emVkOn!=", "Basic emV_-w==", "Basic \"emVkOng=\"", "Basic realm=\"x\"",
            "Basic emVkOng=, Basic emVkOng=",
            // The pad bits are not zero (RFC 4648 section 3.5), so decoders may read different names.
            "Basic emVkOnh=", "Basic emVkOm==",
        ]
    )
    func `a field outside the grammar is malformed`(field: String) {
        #expect(presented(field) == "malformed")
    }

    @Test func `two fields are malformed even if they are equal`() {
        #expect(presented("Basic emVkOng=", "Basic emVkOng=") == "malformed")
        #expect(presented("Bearer x", "Basic emVkOng=") == "malformed")
    }

    @Test(arguments: [
        "zed", ":x", " zed:x", "zed :x", "z\u{0}d:x", "zed:x\u{0}", "zed:x\r\n", "z\u{7F}d:x", "z\u{85}d:x",
    ])
    func `an invalid name or password is unusable`(text: String) {
        #expect(presented("Basic " + encoded(text)) == "unusable")
    }

    @Test func `bytes that are not UTF-8 are unusable`() {
        #expect(presented("Basic " + Data([0x7A, 0xE9, 0x64, 0x3A, 0x78]).base64EncodedString()) == "unusable")
        #expect(presented("Basic " + Data([0x7A, 0x3A, 0xC0, 0x80]).base64EncodedString()) == "unusable")
    }

    @Test func `credentials longer than the limit are unusable`() {
        let most = "zed:" + String(repeating: "x", count: BasicScheme.maximumBytes - 4)
        #expect(presented("Basic " + encoded(most)) == most)
        #expect(presented("Basic " + encoded(most + "x")) == "unusable")
    }

    @Test func `the challenge escapes quotes and backslashes in the name of a realm`() {
        #expect(BasicScheme.challenge(realm: "x") == #"Basic realm="x", charset="UTF-8""#)
        #expect(BasicScheme.challenge(realm: #"a "b" \c"#) == #"Basic realm="a \"b\" \\c", charset="UTF-8""#)
    }
}
