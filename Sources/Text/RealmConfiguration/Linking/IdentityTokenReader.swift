// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import LoginConf
internal import OpenSSLKit

/// Reads the `identity-token` block of the `server` block.
struct IdentityTokenReader {
    let builder: ConfigurationBuilder

    private static let example = "as in: identity-token { key identity-token.pem; }"
    private static let command =
        "make a key with: (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out FILE)"
    /// The maximum number of keys, of which two are needed while a key is replaced.
    private static let maximumKeys = 4

    /// Returns the settings; nil if no key is valid, which has been reported.
    func read(_ statement: Statement) -> IdentityTokenSettings? {
        guard let statements = builder.block(statement, hint: Self.example) else { return nil }
        let block = Block(statements, of: "identity-token", ["key"], repeated: ["key"], in: builder)
        if block.all("key").isEmpty {
            builder.error(at: statement.keyword.range, "identity-token has no key", hint: Self.example)
        }
        if let extra = block.all("key").dropFirst(Self.maximumKeys).first {
            builder.error(at: extra.keyword.range, "identity-token takes at most \(Self.maximumKeys) keys")
        }
        var keys: [SigningKey] = []
        for file in block.files("key", as: .privateKey) {
            guard let key = key(file) else { continue }
            if keys.contains(where: { $0.x == key.x && $0.y == key.y }) {
                builder.error(at: file.range, "the key in \(file.value) occurs twice")
            }
            keys.append(key)
        }
        return keys.isEmpty ? nil : IdentityTokenSettings(keys: keys)
    }

    private func key(_ file: Located<String>) -> SigningKey? {
        switch builder.loader.files.read(file.value) {
        case .failure(let fault):
            let message = "\(file.value) cannot be read: \(fault.reason)"
            builder.error(at: file.range, message, hint: Self.command)
            return nil
        case .success(let contents):
            var bytes = contents.bytes
            defer { for index in bytes.indices { bytes[index] = 0 } }
            do throws(OpenSSLError) {
                return try SigningKey(PrivateKey(pem: bytes.span, name: file.value), name: file.value)
            } catch {
                builder.error(at: file.range, "\(error)", hint: Self.command)
                return nil
            }
        }
    }
}
