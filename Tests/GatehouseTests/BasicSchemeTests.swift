// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import RealmKit
import Testing

@testable import Gatehouse

@Suite struct BasicSchemeTests {
    private func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private func decoded(_ text: [UInt8]) -> [UInt8]? {
        var isBase64 = false
        let secret = Secret(capacity: Base64.capacity(text.count)) { bytes in
            isBase64 = Base64.decode(text.span, into: &bytes)
        }
        return isBase64 ? secret.withBytes { span in span.indices.map { span[$0] } } : nil
    }

    private func presented(_ fields: String...) -> String {
        switch BasicScheme.read(fields) {
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
    func `the published vectors are read`(field: String, expected: String) {
        #expect(presented(field) == expected)
    }

    @Test func `a password may hold colons and may be empty`() {
        #expect(presented("Basic " + encoded("zed:a:b:")) == "zed:a:b:")
        #expect(presented("Basic " + encoded("zed:")) == "zed:")
    }

    @Test func `no field and other schemes are no credentials`() {
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
            // Bits that stand for nothing: another decoder may read them as another name.
            "Basic emVkOnh=", "Basic emVkOm==",
        ]
    )
    func `what the grammar does not allow is malformed`(field: String) {
        #expect(presented(field) == "malformed")
    }

    @Test func `two fields are malformed even if they agree`() {
        #expect(presented("Basic emVkOng=", "Basic emVkOng=") == "malformed")
        #expect(presented("Bearer x", "Basic emVkOng=") == "malformed")
    }

    @Test(arguments: [
        "zed", ":x", " zed:x", "zed :x", "z\u{0}d:x", "zed:x\u{0}", "zed:x\r\n", "z\u{7F}d:x", "z\u{85}d:x",
    ])
    func `names and passwords that nobody can have are unusable`(text: String) {
        #expect(presented("Basic " + encoded(text)) == "unusable")
    }

    @Test func `bytes that are not UTF-8 are unusable`() {
        #expect(presented("Basic " + Data([0x7A, 0xE9, 0x64, 0x3A, 0x78]).base64EncodedString()) == "unusable")
        #expect(presented("Basic " + Data([0x7A, 0x3A, 0xC0, 0x80]).base64EncodedString()) == "unusable")
    }

    @Test func `more than the bound is unusable`() {
        let most = "zed:" + String(repeating: "x", count: BasicScheme.maximumBytes - 4)
        #expect(presented("Basic " + encoded(most)) == most)
        #expect(presented("Basic " + encoded(most + "x")) == "unusable")
    }

    @Test func `the challenge quotes quotes and backslashes`() {
        #expect(BasicScheme.challenge(realm: "x") == #"Basic realm="x", charset="UTF-8""#)
        #expect(BasicScheme.challenge(realm: #"a "b" \c"#) == #"Basic realm="a \"b\" \\c", charset="UTF-8""#)
    }

    @Test func `base64 is decoded as Foundation encodes it, and nothing else is taken for it`() {
        var random = SystemRandomNumberGenerator()
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = Array(Data(bytes).base64EncodedString().utf8)
            #expect(decoded(text) == bytes)
            guard let place = text.indices.randomElement() else { continue }
            var mutated = text
            mutated[place] = UInt8.random(in: 0...255, using: &random)
            if let decoded = decoded(mutated) {
                #expect(Array(Data(decoded).base64EncodedString().utf8) == mutated)
            }
        }
    }
}
