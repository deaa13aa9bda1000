// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import PAMMessages
import RealmKit

@testable import RealmBasics
@testable import RealmExec

extension FuzzedParser {
    /// The messages of helper programs, and certificates.
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
        FuzzedParser("name-mapping") { bytes in
            let words = text(bytes).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard let name = words.first, let mapping = try? NameMapping(Array(words.dropFirst())) else { return }
            guard let username = try? Username(name) else { return }
            _ = try? mapping.name(of: username)
        },
    ]
}
