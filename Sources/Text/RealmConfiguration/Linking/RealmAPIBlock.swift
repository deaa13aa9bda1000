// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import LoginConf
internal import OpenSSLKit
internal import RealmKit

extension RealmAPISettings {
    /// The keywords in the `realm-api` block and in its blocks.
    static let keywords = ["client"] + Client.schema(earlier: [], requestsCertificates: false).keywords

    /// The schema of the `realm-api` block, whose setting is its programs.
    static func schema(requestsCertificates: Bool) -> BlockSchema<[Client]> {
        let example = #"realm-api { client mail { realm people; token "${file:mail.token}"; networks 10.0.0.0/8; } }"#
        return BlockSchema(
            name: "realm-api",
            example: example,
            statements: [
                StatementSchema(keyword: "client", isRepeated: true) { block, clients in
                    for statement in block.all("client") {
                        let schema = Client.schema(earlier: clients, requestsCertificates: requestsCertificates)
                        block.client(statement, schema, earlier: clients).map { clients.append($0) }
                    }
                }
            ]
        ) { block, _ in
            guard block.first("client") == nil else { return }
            block.builder.error(at: block.place, "realm-api has no client", hint: "as in: \(example)")
        }
    }
}

extension RealmAPISettings.Client {
    /// The schema of a `client` block after other clients, which have other tokens.
    fileprivate static func schema(earlier: [Self], requestsCertificates: Bool) -> BlockSchema<Self> {
        BlockSchema(
            name: "client",
            statements: [
                .value("realm", \.realms) { $0.realmsOfAPI($1) },
                .value("token", \.tokens) { $0.tokens($1, among: earlier) },
                .value("certificate-key", \.certificateKeys) { $0.words($1, key) },
                .value("certificate-subject", \.certificateSubjects) { $0.words($1, subject) },
                .value("networks", \.networks) { $0.addresses($1) },
                .flag("may-name-address", \.mayStateUserAddress),
                .flag("show-reasons", \.showsReasons),
            ]
        ) { block, client in
            if block.first("realm") == nil {
                let message = "client \(client.name) has no realm"
                block.builder.error(at: block.place, message, hint: "as in: realm people staff;")
            }
            let credentials = ["token", "certificate-key", "certificate-subject"].compactMap(block.first)
            if credentials.isEmpty {
                let hint = "a network alone identifies no program: add token \"${file:PATH}\"; or certificate-key KEY;"
                let message = "client \(client.name) has neither a token nor a certificate"
                block.builder.error(at: block.place, message, hint: hint)
            }
            if let keyword = credentials.map(\.keyword).first(where: { $0.text != "token" }), !requestsCertificates {
                let hint = "add tls { client-certificates optional; client-ca FILE; }"
                let message = "\(keyword.text) is set, but client certificates are not requested"
                block.builder.error(at: keyword.range, message, hint: hint)
            }
            for other in earlier where client.sharesCertificate(with: other) {
                let hint = "each program needs a certificate or a token of its own"
                block.builder.error(at: block.place, "client \(other.name) has the same certificate", hint: hint)
            }
        }
    }

    /// Returns whether a certificate identifies two programs.
    ///
    /// A program with a token is found by its token, so its certificate may be the certificate of another program too.
    private func sharesCertificate(with other: Self) -> Bool {
        guard tokens.isEmpty, other.tokens.isEmpty else { return false }
        return certificateKeys.contains { other.certificateKeys.contains($0) }
            || certificateSubjects.contains { subject in
                other.certificateSubjects.contains { $0.utf8.elementsEqual(subject.utf8) }
            }
    }

    @Sendable private static func key(_ text: String) throws(BadWord) -> Digest {
        let bytes = text.hasPrefix("sha256//") ? Base64.padded.decode(text.dropFirst(8)) : nil
        if let digest = bytes.flatMap({ Digest(bytes: $0) }) { return digest }
        let hint = """
            openssl x509 -in FILE -noout -pubkey | openssl pkey -pubin -outform DER \
            | openssl dgst -sha256 -binary | base64
            """
        throw BadWord("certificate-key takes sha256// and the base64 form of 32 bytes, not \(text)", hint: hint)
    }

    @Sendable private static func subject(_ text: String) throws(BadWord) -> String {
        if text.contains("=") { return text }
        let hint = "openssl x509 -in FILE -noout -subject -nameopt RFC2253"
        throw BadWord("certificate-subject takes a name such as CN=mail,O=Example, not \(text)", hint: hint)
    }
}

extension Block {
    /// Reads a `client` block with its name; nil after a mistake in the name.
    fileprivate func client(
        _ statement: Statement,
        _ schema: BlockSchema<RealmAPISettings.Client>,
        earlier: [RealmAPISettings.Client]
    ) -> RealmAPISettings.Client? {
        guard let (word, statements) = builder.wordAndBlock(statement) else { return nil }
        let name = builder.value(of: word) { name throws(BadWord) in
            guard !name.isEmpty, name.utf8.count <= 64, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw BadWord("the name of a client is 1 to 64 visible ASCII characters without blanks")
            }
            guard !earlier.contains(where: { $0.name == name }) else {
                throw BadWord("a second client \(name)", hint: "each program needs a name of its own")
            }
            return name
        }
        guard let name else { return nil }
        var client = RealmAPISettings.Client(name: name, realms: [])
        schema.read(statements, at: word.range, into: &client, in: builder)
        return client
    }

    /// Reads a list of realms; reports those whose names make a path ambiguous when they are encoded in it.
    fileprivate func realmsOfAPI(_ keyword: String) -> [String] {
        for word in first(keyword)?.arguments ?? [] {
            guard let name = builder.expanded(word), builder.realmNames.contains(name),
                name == "." || name == ".." || name.utf8.contains(where: { "/\\%;?#".utf8.contains($0) })
            else { continue }
            let message = "realm \(name) cannot be used here, because its name cannot be a part of a path"
            builder.error(at: word.range, message, hint: "rename it without / \\ % ; ? #")
        }
        return realms(keyword)
    }

    // MARK: Tokens

    fileprivate func tokens(_ keyword: String, among earlier: [RealmAPISettings.Client]) -> [Digest] {
        let words = words(keyword)
        if let third = words.dropFirst(2).first {
            builder.error(at: third.range, "token takes one token, or two while the token is changed")
        }
        var digests: [Digest] = []
        for word in words {
            guard let digest = token(word) else { continue }
            if let other = earlier.first(where: { $0.tokens.contains(digest) }) {
                let message = "client \(other.name) has the same token"
                builder.error(at: word.range, message, hint: "each program needs a token of its own")
            } else if digests.contains(digest) {
                builder.error(at: word.range, "the two tokens are equal")
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
                builder.error(at: word.range, "the token \(fault)", hint: "make one with: openssl rand -hex 32")
                return nil
            }
            return try Digest.sha256(bytes)
        } catch let error as Diagnostic {
            builder.log.add(error)
        } catch {
            builder.error(at: word.range, "the token cannot be read: \(error)")
        }
        return nil
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

/// The `identity-token` block, whose setting is its keys.
enum IdentityTokenBlock {
    private static let example = "identity-token { key identity-token.pem; }"

    static let schema = BlockSchema<[SigningKey]>(
        name: "identity-token",
        example: example,
        statements: [.value("key", \.self, isRepeated: true) { $0.signingKeys($1) }]
    ) { block, _ in
        guard block.first("key") == nil else { return }
        block.builder.error(at: block.place, "identity-token has no key", hint: "as in: \(example)")
    }
}

extension Block {
    private static let keyCommand =
        "make a key with: (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out FILE)"
    /// The maximum number of keys of identity tokens, of which two are needed while a key is replaced.
    private static let maximumKeys = 4

    fileprivate func signingKeys(_ keyword: String) -> [SigningKey] {
        if let extra = all(keyword).dropFirst(Self.maximumKeys).first {
            builder.error(at: extra.keyword.range, "identity-token takes at most \(Self.maximumKeys) keys")
        }
        var keys: [SigningKey] = []
        for file in files(keyword, as: .privateKey) {
            guard let key = signingKey(file) else { continue }
            if keys.contains(where: { $0.x == key.x && $0.y == key.y }) {
                builder.error(at: file.range, "the key in \(file.value) occurs twice")
            }
            keys.append(key)
        }
        return keys
    }

    private func signingKey(_ file: Located<String>) -> SigningKey? {
        guard var bytes = builder.contents(of: file.value, at: file.range, hint: Self.keyCommand) else { return nil }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        do throws(OpenSSLError) {
            return try SigningKey(PrivateKey(pem: bytes.span, name: file.value), name: file.value)
        } catch {
            builder.error(at: file.range, "\(error)", hint: Self.keyCommand)
            return nil
        }
    }
}
