// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import LoginConf
internal import OpenSSLKit
internal import RealmKit

/// Reads the `realm-api` block of the `server` block.
struct RealmAPIReader {
    let builder: ConfigurationBuilder
    /// The names of all realms.
    let realms: [String]
    /// True if the `tls` block requests client certificates.
    let requestsCertificates: Bool

    private static let keywords = [
        "realm", "token", "certificate-key", "certificate-subject", "networks", "may-name-address", "show-reasons",
    ]
    private static let example = """
        as in: realm-api { client mail { realm people; token "${file:mail.token}"; networks 10.0.0.0/8; } }
        """

    /// Returns the settings; nil if no program is valid, which has been reported.
    func read(_ statement: Statement) -> RealmAPISettings? {
        guard let statements = builder.block(statement, hint: Self.example) else { return nil }
        let block = Block(statements, of: "realm-api", ["client"], repeated: ["client"], in: builder)
        var clients: [RealmAPISettings.Client] = []
        for statement in block.all("client") {
            guard let (word, statements) = builder.wordAndBlock(statement), let name = name(word, among: clients),
                let client = client(name, at: word, statements: statements, earlier: clients)
            else { continue }
            clients.append(client)
        }
        if block.all("client").isEmpty {
            builder.error(at: statement.keyword.range, "realm-api has no client", hint: Self.example)
        }
        return clients.isEmpty ? nil : RealmAPISettings(clients: clients)
    }

    private func name(_ word: RealmsConfWord, among clients: [RealmAPISettings.Client]) -> String? {
        guard let name = builder.expanded(word) else { return nil }
        guard !name.isEmpty, name.utf8.count <= 64, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            builder.error(at: word.range, "the name of a client is 1 to 64 visible ASCII characters without blanks")
            return nil
        }
        if clients.contains(where: { $0.name == name }) {
            builder.error(at: word.range, "a second client \(name)", hint: "each program needs a name of its own")
            return nil
        }
        return name
    }

    private func client(
        _ name: String,
        at word: RealmsConfWord,
        statements: [Statement],
        earlier: [RealmAPISettings.Client]
    ) -> RealmAPISettings.Client? {
        let block = Block(statements, of: "client", Self.keywords, in: builder)
        guard let realm = block.first("realm") else {
            builder.error(at: word.range, "client \(name) has no realm", hint: "as in: realm people staff;")
            return nil
        }
        checkPaths(of: realm)
        var client = RealmAPISettings.Client(name: name, realms: builder.realms(realm, among: realms))
        if let statement = block.first("token") { client.tokens = tokens(statement, among: earlier) }
        if let statement = block.first("certificate-key") { client.certificateKeys = keys(statement) }
        if let statement = block.first("certificate-subject") { client.certificateSubjects = subjects(statement) }
        if let statement = block.first("networks") {
            client.networks = builder.list(statement).compactMap { builder.addressBlock($0, of: "networks") }
        }
        block.flag("may-name-address", into: &client.mayNameAddress)
        block.flag("show-reasons", into: &client.showsReasons)
        let credentials = ["token", "certificate-key", "certificate-subject"].compactMap(block.first)
        if credentials.isEmpty {
            let hint = "a network alone identifies no program: add token \"${file:PATH}\"; or certificate-key KEY;"
            builder.error(at: word.range, "client \(name) has neither a token nor a certificate", hint: hint)
        }
        if let statement = credentials.first(where: { $0.keyword.text != "token" }), !requestsCertificates {
            let hint = "add tls { client-certificates optional; client-ca FILE; }"
            let message = "\(statement.keyword.text) is set, but client certificates are not requested"
            builder.error(at: statement.keyword.range, message, hint: hint)
        }
        checkCertificate(of: client, at: word, earlier: earlier)
        return client
    }

    /// Reports realms whose names cannot be part of a path, because their encoded characters make a path ambiguous.
    private func checkPaths(of statement: Statement) {
        for word in statement.arguments {
            guard let name = builder.expanded(word), realms.contains(name),
                name == "." || name == ".." || name.utf8.contains(where: { "/\\%;?#".utf8.contains($0) })
            else { continue }
            let message = "realm \(name) cannot be used here, because its name cannot be a part of a path"
            builder.error(at: word.range, message, hint: "rename it without / \\ % ; ? #")
        }
    }

    // MARK: Tokens

    private func tokens(_ statement: Statement, among earlier: [RealmAPISettings.Client]) -> [Digest] {
        let words = builder.words(statement)
        if let third = words.dropFirst(2).first {
            reportToken(at: third, "token takes one token, or two while the token is changed")
        }
        var digests: [Digest] = []
        for word in words {
            guard let digest = token(word) else { continue }
            if let other = earlier.first(where: { $0.tokens.contains(digest) }) {
                let message = "client \(other.name) has the same token"
                reportToken(at: word, message, hint: "each program needs a token of its own")
            } else if digests.contains(digest) {
                reportToken(at: word, "the two tokens are equal")
            }
            digests.append(digest)
        }
        return digests
    }

    /// Returns the digest of a token, which itself is not kept and is in no message.
    private func token(_ word: RealmsConfWord) -> Digest? {
        do {
            var bytes = try builder.secret(word)
            defer { for index in bytes.indices { bytes[index] = 0 } }
            if let fault = TokenRules.fault(of: bytes) {
                reportToken(at: word, "the token \(fault)", hint: "make one with: openssl rand -hex 32")
                return nil
            }
            return try Digest.sha256(bytes)
        } catch let error as Diagnostic {
            builder.log.add(error)
        } catch {
            reportToken(at: word, "the token cannot be read: \(error)")
        }
        return nil
    }

    /// Reports an error about a token, and shows the token only if it consists of references.
    private func reportToken(at word: RealmsConfWord, _ message: String, hint: String? = nil) {
        let isWritten = !builder.text.consistsOfReferences(in: word.range)
        builder.error(at: word.range, message, hint: hint, isConfidential: isWritten)
    }

    // MARK: Certificates

    private func keys(_ statement: Statement) -> [Digest] {
        builder.words(statement).compactMap { word in
            guard let text = builder.expanded(word) else { return nil }
            let bytes = text.hasPrefix("sha256//") ? Base64.padded.decode(text.dropFirst(8)) : nil
            if let digest = bytes.flatMap({ Digest(bytes: $0) }) { return digest }
            let hint = """
                openssl x509 -in FILE -noout -pubkey | openssl pkey -pubin -outform DER \
                | openssl dgst -sha256 -binary | base64
                """
            let message = "certificate-key takes sha256// and the base64 form of 32 bytes, not \(text)"
            builder.error(at: word.range, message, hint: hint)
            return nil
        }
    }

    private func subjects(_ statement: Statement) -> [String] {
        builder.words(statement).compactMap { word in
            guard let text = builder.expanded(word) else { return nil }
            if text.contains("=") { return text }
            let hint = "openssl x509 -in FILE -noout -subject -nameopt RFC2253"
            let message = "certificate-subject takes a name such as CN=mail,O=Example, not \(text)"
            builder.error(at: word.range, message, hint: hint)
            return nil
        }
    }

    /// Reports a certificate that identifies two programs.
    ///
    /// A program with a token is found by its token, so its certificate may be the certificate of another program too.
    private func checkCertificate(
        of client: RealmAPISettings.Client,
        at word: RealmsConfWord,
        earlier: [RealmAPISettings.Client]
    ) {
        guard client.tokens.isEmpty else { return }
        for other in earlier where other.tokens.isEmpty {
            let isShared =
                client.certificateKeys.contains { other.certificateKeys.contains($0) }
                || client.certificateSubjects.contains { subject in
                    other.certificateSubjects.contains { $0.utf8.elementsEqual(subject.utf8) }
                }
            guard isShared else { continue }
            let message = "client \(other.name) has the same certificate"
            builder.error(at: word.range, message, hint: "each program needs a certificate or a token of its own")
        }
    }
}

/// The rules for the tokens of programs.
///
/// The number of guesses is not limited, so a token must not be a text that a person has invented.
private enum TokenRules {
    /// The lengths of a token, in characters.
    static let lengths = 32...512
    /// Of 32 random hexadecimal digits, fewer than 8 are different in less than one of a million tokens.
    static let minimumDistinct = 8

    /// Returns the reason why a text cannot be a token, as the end of a sentence that begins with "the token"; or nil.
    static func fault(of token: [UInt8]) -> String? {
        // The characters of RFC 6750 section 2.1.
        let isAllowed = token.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "-._~+/=".utf8.contains(byte)
            }
        }
        guard isAllowed else { return "has a character other than A-Z a-z 0-9 - . _ ~ + / =" }
        guard lengths.contains(token.count) else {
            return "must have \(lengths.lowerBound) to \(lengths.upperBound) characters, not \(token.count)"
        }
        let distinct = Set(token).count
        return distinct < minimumDistinct
            ? "has only \(distinct) different characters, so it can be guessed" : nil
    }
}

// MARK: Identity tokens

extension ConfigurationBuilder {
    private static let keyCommand =
        "make a key with: (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out FILE)"
    /// The maximum number of keys of identity tokens, of which two are needed while a key is replaced.
    private static let maximumKeys = 4

    /// Reads the `identity-token` block of the `server` block; nil if no key is valid, which has been reported.
    func identityToken(_ statement: Statement) -> IdentityTokenSettings? {
        let example = "as in: identity-token { key identity-token.pem; }"
        guard let statements = self.block(statement, hint: example) else { return nil }
        let block = Block(statements, of: "identity-token", ["key"], repeated: ["key"], in: self)
        if block.all("key").isEmpty {
            error(at: statement.keyword.range, "identity-token has no key", hint: example)
        }
        if let extra = block.all("key").dropFirst(Self.maximumKeys).first {
            error(at: extra.keyword.range, "identity-token takes at most \(Self.maximumKeys) keys")
        }
        var keys: [SigningKey] = []
        for file in block.files("key", as: .privateKey) {
            guard let key = signingKey(file) else { continue }
            if keys.contains(where: { $0.x == key.x && $0.y == key.y }) {
                error(at: file.range, "the key in \(file.value) occurs twice")
            }
            keys.append(key)
        }
        return keys.isEmpty ? nil : IdentityTokenSettings(keys: keys)
    }

    private func signingKey(_ file: Located<String>) -> SigningKey? {
        switch loader.files.read(file.value) {
        case .failure(let fault):
            error(at: file.range, "\(file.value) cannot be read: \(fault.reason)", hint: Self.keyCommand)
            return nil
        case .success(let contents):
            var bytes = contents.bytes
            defer { for index in bytes.indices { bytes[index] = 0 } }
            do throws(OpenSSLError) {
                return try SigningKey(PrivateKey(pem: bytes.span, name: file.value), name: file.value)
            } catch {
                self.error(at: file.range, "\(error)", hint: Self.keyCommand)
                return nil
            }
        }
    }
}
