// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import Testing

@testable import GatehouseClient

struct RealmAPIRequestTests {
    @Test func `the body of a check is JSON, whatever the name and the password contain`() throws {
        struct Body: Decodable {
            let username: String
            let password: String
            let service: String
            let codes: [String]?
        }
        for text in ["a\"b\\c", "-rf", "ünal 🔑", "</script>&", "x{\"y\":1}", "a'b;c|d"] {
            let made = RealmAPIRequest.body(
                username: try Username(text),
                password: Secret(utf8: text + "\u{1}\t\u{1F}\n"),
                codes: [Secret(utf8: "\"\\"), Secret(utf8: "")],
                service: "authcheck"
            )
            let body = try #require(made)
            let data = body.withBytes { bytes in Data(bytes.indices.map { bytes[$0] }) }
            let decoded = try JSONDecoder().decode(Body.self, from: data)
            #expect(decoded.username == text && decoded.password == text + "\u{1}\t\u{1F}\n")
            #expect(decoded.codes == ["\"\\", ""] && decoded.service == "authcheck")
        }
        let ann = try Username("ann")
        let plain = try #require(
            RealmAPIRequest.body(username: ann, password: Secret(utf8: "x"), codes: [], service: "s")
        )
        #expect(
            plain.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
                == "{\"username\":\"ann\",\"password\":\"x\",\"service\":\"s\"}"
        )
    }
}
