// SPDX-License-Identifier: Apache-2.0

import Bytes
import OpenSSLKit
import PAMMessages
import RealmKit

@testable import GatehouseClient
@testable import RealmBasics
@testable import RealmExec

extension FuzzedParser {
    /// The messages of helper programs, certificates, and identity tokens.
    static let messages = [
        FuzzedParser("pam-message") { bytes in
            _ = MessageReader.length(bytes.prefix(4))
            var reader = MessageReader(bytes[...])
            _ = (reader.kind(), reader.request(), reader.byte(), reader.number())
            while let text = reader.text() { check(text.count <= bytes.count, "a text is in the message") }
        },
        FuzzedParser("helper-answer") { bytes in
            var answer = ExecAnswer(withholding: [Secret(utf8: "secret")])
            for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
                guard (try? answer.add(line)) != nil else { return }
            }
            _ = try? answer.finish()
        },
        FuzzedParser("certificate") { bytes in
            guard let certificate = try? Certificate(der: bytes, context: "f"),
                let contents = try? certificate.contents()
            else {
                return
            }
            _ = try? SubjectNames(contents.subject)
        },
        FuzzedParser("identity-token") { bytes in
            let token = try? SignedToken(bytes)
            if let token {
                let again = token.signed + [UInt8(ascii: ".")] + Base64.url.encode(token.signature.span).utf8
                check(again == bytes, "a token has one spelling")
                check(bytes.count <= IdentityTokenVerifier.maximumBytes, "a token is short")
            }
            // As if the signature were valid; without Base64, too, because few mutations keep it valid.
            guard let claims = try? IdentityClaims(token?.payload ?? bytes) else { return }
            check(!claims.user.realm.isEmpty, "a user has a realm")
            try? claims.check(issuer: "https://a", audience: "b", now: 1_800_000_000)
        },
        FuzzedParser("name-mapping") { bytes in
            let words = text(bytes).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard let name = words.first, let mapping = try? NameMapping(Array(words.dropFirst())) else { return }
            guard let username = try? Username(name) else { return }
            _ = try? mapping.name(of: username)
        },
    ]
}
