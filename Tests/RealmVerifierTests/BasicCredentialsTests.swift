// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import Testing

@testable import RealmVerifier

@Suite struct BasicCredentialsTests {
    private func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    @Test(arguments: [
        // RFC 7617 sections 2 and 2.1.
        ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"),
        ("Basic dGVzdDoxMjPCow==", "test", "123£"),
        ("bAsIc QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"),
        ("Basic emVkOg==", "zed", ""),
        ("Basic emVkOmE6Yg==", "zed", "a:b"),
    ])
    func `the field of RFC 7617 gives a name and a password`(field: String, name: String, password: String) throws {
        let credentials = try #require(BasicCredentials(authorization: [field]))
        #expect(credentials.name == name && credentials.password.isEqual(to: Secret(utf8: password)))
        #expect(!"\(credentials)".contains("password: \"") && "\(credentials)".contains("<secret>"))
    }

    @Test(arguments: [
        [], ["Basic emVkOng=", "Basic emVkOng="], ["Bearer x", "Basic emVkOng="], ["Basic emVkOng=, Basic emVkOng="],
        [""], ["Basic"], ["Bearer emVkOng="], ["Basic emVkOng"], ["Basic emVkOnh="], ["Basic emVkOn!="],
        [" Basic emVkOng="],
        ["Basic emVkOng= "], ["Basic emVkOng\u{301}="],
    ])
    func `other fields, no field and two fields give nothing`(fields: [String]) {
        #expect(BasicCredentials(authorization: fields) == nil)
    }

    @Test(arguments: ["zed", ":x", " zed:x", "z\u{0}d:x", "zed:x\r\n", "z\u{7F}d:x", "z\u{85}d:x"])
    func `a name or a password that no user can have gives nothing`(text: String) {
        #expect(BasicCredentials(authorization: ["Basic " + encoded(text)]) == nil)
    }

    @Test func `bytes that are not UTF-8, and more than 5120 of them, give nothing`() {
        for bytes in [[0x7A, 0xE9, 0x3A, 0x78], [0x7A, 0x3A, 0xC0, 0x80]] as [[UInt8]] {
            #expect(BasicCredentials(authorization: ["Basic " + Data(bytes).base64EncodedString()]) == nil)
        }
        let longest = "zed:" + String(repeating: "x", count: 5116)
        #expect(BasicCredentials(authorization: ["Basic " + encoded(longest)]) != nil)
        #expect(BasicCredentials(authorization: ["Basic " + encoded(longest + "x")]) == nil)
    }

    @Test func `credentials of a field are checked with all arguments of a login`() async throws {
        let log = LogLines()
        let verifier = try await RealmVerifier(logger: log.logger) {
            RealmDefinition("none") { _, _ in throw LoginFault.unavailable("down") }
            RealmDefinition("team") { name, password in
                name == "ann" && password.isEqual(to: Secret(utf8: "a:b")) ? ["Staff"] : nil
            }
        }
        func user(_ text: String) async throws -> SignedInUser? {
            let credentials = try #require(BasicCredentials(authorization: ["Basic " + encoded(text)]))
            return await verifier.verify(
                credentials,
                in: ["none", "team"],
                whenUnavailable: .continue,
                service: "web",
                peer: "[2001:db8::1]:443",
                caching: false
            ).user
        }
        #expect(try await user("ann:a:b")?.groups == ["Staff"])
        #expect(try await user("ann:a") == nil)
        #expect(log.count(containing: #"accepted peer="2001:db8::1" realm="team" service="web" user="ann""#) == 1)
        #expect(log.count(containing: #"peer="2001:db8::1""#) == 2)
    }
}
