// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import LoginConf

/// Reads the `tls` block.
struct TLSReader {
    let builder: ConfigurationBuilder

    private static let certificateKeywords = ["certificate", "key", "ocsp-response"]
    private static let keywords =
        certificateKeywords + [
            "minimum-version", "ciphers", "ciphersuites", "groups", "session-tickets", "ticket-key", "host",
            "client-certificates", "client-ca", "client-crl", "client-depth",
        ]

    func read(_ statement: Statement) -> TLSSettings {
        var settings = TLSSettings()
        guard let statements = builder.block(statement) else { return settings }
        let block = Block(
            statements,
            of: "tls",
            Self.keywords,
            repeated: ["host", "ticket-key", "client-crl"],
            in: builder
        )
        settings.files = certificateFiles(block, of: statement)
        settings.hosts = hosts(block)
        if let word = block.word("minimum-version"), let text = builder.expanded(word) {
            if let version = TLSSettings.Version(rawValue: text) {
                settings.minimumVersion = version
            } else {
                builder.error(at: word.range, "minimum-version is 1.2 or 1.3, not \(text)")
            }
        }
        settings.ciphers = names(in: block, of: "ciphers")
        settings.ciphersuites = names(in: block, of: "ciphersuites")
        settings.groups = names(in: block, of: "groups")
        if settings.minimumVersion == .tls13, let ciphers = block.first("ciphers") {
            let hint = "use ciphersuites for TLS 1.3"
            builder.error(
                at: ciphers.keyword.range,
                "ciphers is for TLS 1.2, but minimum-version is 1.3",
                hint: hint
            )
        }
        readTickets(block, into: &settings)
        readClients(block, into: &settings)
        return settings
    }

    private func certificateFiles(_ block: Block, of statement: Statement) -> TLSSettings.CertificateFiles? {
        let certificate = block.file("certificate", as: .certificates)
        let key = block.file("key", as: .secret)
        let ocsp = block.file("ocsp-response")
        if (block.first("certificate") == nil) != (block.first("key") == nil) {
            builder.error(
                at: statement.keyword.range,
                "certificate and key must be set together",
                hint: "set both or remove both"
            )
        } else if block.first("certificate") == nil, let response = block.first("ocsp-response") {
            builder.error(
                at: response.keyword.range,
                "ocsp-response needs a certificate",
                hint: "add certificate FILE; key FILE;"
            )
        }
        guard let certificate, let key else { return nil }
        return TLSSettings.CertificateFiles(certificate: certificate, key: key, ocspResponse: ocsp)
    }

    private func hosts(_ block: Block) -> [TLSSettings.Host] {
        var rangesByName: [String: SourceRange] = [:]
        return block.all("host").compactMap { statement in
            guard case .block(let statements) = statement.body, !statement.arguments.isEmpty else {
                let hint = "as in: host example.org *.example.org { certificate FILE; key FILE; }"
                builder.error(at: statement.keyword.range, "host takes names and a block", hint: hint)
                return nil
            }
            let names = statement.arguments.compactMap { hostName($0, rangesByName: &rangesByName) }
            let inner = Block(statements, of: "host", Self.certificateKeywords, in: builder)
            let files = certificateFiles(inner, of: statement)
            if inner.first("certificate") == nil, inner.first("key") == nil {
                builder.error(
                    at: statement.keyword.range,
                    "the host has no certificate",
                    hint: "add certificate FILE; key FILE;"
                )
            }
            return files.map { TLSSettings.Host(names: names, files: $0) }
        }
    }

    private func hostName(_ word: RealmsConfWord, rangesByName: inout [String: SourceRange]) -> Located<String>? {
        guard let text = builder.expanded(word) else { return nil }
        var name = text.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        if let earlier = rangesByName[name] {
            let hint = "the first one is at \(builder.text.place(of: earlier))"
            builder.error(at: word.range, "a second host \(name)", hint: hint)
        }
        rangesByName[name] = word.range
        return Located(name, in: builder.text, at: word.range)
    }

    private func names(in block: Block, of keyword: String) -> [Located<String>]? {
        guard let statement = block.first(keyword) else { return nil }
        return builder.list(statement).compactMap { word in
            builder.expanded(word).map { Located($0, in: builder.text, at: word.range) }
        }
    }

    private func readTickets(_ block: Block, into settings: inout TLSSettings) {
        SettingReader(builder: builder, block: block).flag("session-tickets", into: &settings.sessionTickets)
        settings.ticketKeyFiles = block.files("ticket-key", as: .privateKey)
        if !settings.sessionTickets, let key = block.first("ticket-key") {
            builder.error(
                at: key.keyword.range,
                "ticket-key cannot be combined with session-tickets off",
                hint: "remove one of them"
            )
        }
    }

    private func readClients(_ block: Block, into settings: inout TLSSettings) {
        if let word = block.word("client-certificates"), let text = builder.expanded(word) {
            guard let mode = TLSSettings.ClientCertificates(rawValue: text) else {
                let hint = ConfigurationBuilder.hint(
                    text,
                    among: TLSSettings.ClientCertificates.allCases.map(\.rawValue)
                )
                builder.error(
                    at: word.range,
                    "client-certificates is none, optional or required, not \(text)",
                    hint: hint
                )
                return
            }
            settings.clientCertificates = mode
        }
        settings.clientAuthorityFile = block.file("client-ca", as: .certificates)
        settings.clientRevocationFiles = block.files("client-crl")
        if let word = block.word("client-depth"), let text = builder.expanded(word) {
            if let depth = Int(text), (0...20).contains(depth) {
                settings.clientDepth = depth
            } else {
                let hint = "it is the maximum number of intermediate certificates in a client's chain"
                builder.error(at: word.range, "client-depth is a number from 0 to 20, not \(text)", hint: hint)
            }
        }
        guard settings.clientCertificates == .none else {
            if block.first("client-ca") == nil, let statement = block.first("client-certificates") {
                let mode = settings.clientCertificates.rawValue
                builder.error(
                    at: statement.keyword.range,
                    "client-certificates \(mode) needs client-ca",
                    hint: "add client-ca FILE;"
                )
            }
            return
        }
        for keyword in ["client-ca", "client-crl", "client-depth"] {
            guard let statement = block.first(keyword) else { continue }
            let hint = "add client-certificates optional; or client-certificates required;"
            builder.error(
                at: statement.keyword.range,
                "\(keyword) is set, but client certificates are not requested",
                hint: hint
            )
        }
    }
}
