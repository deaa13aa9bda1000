// SPDX-License-Identifier: Apache-2.0

internal import LoginConf

/// Reads the `methods` of a rule.
struct MethodReader {
    let builder: ConfigurationBuilder

    /// The methods in the registry of IANA (RFC 9110 section 16.1.1), and those of common programs.
    private static let known = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "ACL", "BASELINE-CONTROL",
        "BIND",
        "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL",
        "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PRI", "PROPFIND", "PROPPATCH", "QUERY", "REBIND",
        "REPORT",
        "SEARCH", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
        "M-SEARCH", "NOTIFY", "SUBSCRIBE", "UNSUBSCRIBE", "PURGE",
    ]

    func read(_ statement: Statement) -> [String] {
        var methods: [String] = []
        for word in builder.list(statement) {
            guard let method = builder.expanded(word), isMethod(method, at: word) else { continue }
            if methods.contains(method) { builder.error(at: word.range, "\(method) occurs twice in methods") }
            methods.append(method)
        }
        return methods
    }

    private func isMethod(_ method: String, at word: RealmsConfWord) -> Bool {
        let upper = method.uppercased()
        let meansAll = ["*", "ALL", "ANY"].contains(upper)
        let hint = "a rule without methods is for all methods: remove the statement"
        if meansAll, !word.isQuoted {
            builder.error(at: word.range, "\(method) is not a method", hint: hint)
            return false
        }
        let isToken = method.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }
        guard isToken, (1...32).contains(method.utf8.count) else {
            let hint =
                Self.known.contains(upper)
                ? "methods are in capital letters: \(upper)"
                : "a method has 1 to 32 characters, A to Z and -, such as GET"
            builder.error(at: word.range, "\(method) is not a method", hint: hint)
            return false
        }
        guard !Self.known.contains(method) else { return true }
        let suggestion = NearestName.suggest(method, among: Self.known).map { "did you mean \($0)?" }
        if let hint = meansAll ? hint : suggestion {
            builder.log.add(builder.text.warning(at: word.range, "\(method) is not a known method", hint: hint))
        }
        return true
    }
}
