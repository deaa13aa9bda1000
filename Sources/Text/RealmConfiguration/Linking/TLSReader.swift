// SPDX-License-Identifier: Apache-2.0

internal import Files
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
        let repeated = ["host", "ticket-key", "client-crl"]
        let block = Block(statements, of: "tls", Self.keywords, repeated: repeated, in: builder)
        settings.files = certificateFiles(block, of: statement)
        settings.hosts = hosts(block)
        if let (word, text) = block.text("minimum-version") {
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
            let message = "ciphers is for TLS 1.2, but minimum-version is 1.3"
            builder.error(at: ciphers.keyword.range, message, hint: "use ciphersuites for TLS 1.3")
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
            let message = "certificate and key must be set together"
            builder.error(at: statement.keyword.range, message, hint: "set both or remove both")
        } else if block.first("certificate") == nil, let response = block.first("ocsp-response") {
            let hint = "add certificate FILE; key FILE;"
            builder.error(at: response.keyword.range, "ocsp-response needs a certificate", hint: hint)
        }
        guard let certificate, let key else { return nil }
        return TLSSettings.CertificateFiles(certificate: certificate, key: key, ocspResponse: ocsp)
    }

    private func hosts(_ block: Block) -> [TLSSettings.Host] {
        var rangesByName: [String: SourceRange] = [:]
        return block.all("host").compactMap { statement in
            let place = statement.keyword.range
            guard case .block(let statements) = statement.body, !statement.arguments.isEmpty else {
                let hint = "as in: host example.org *.example.org { certificate FILE; key FILE; }"
                builder.error(at: place, "host takes names and a block", hint: hint)
                return nil
            }
            let names = statement.arguments.compactMap { hostName($0, rangesByName: &rangesByName) }
            let inner = Block(statements, of: "host", Self.certificateKeywords, in: builder)
            let files = certificateFiles(inner, of: statement)
            if inner.first("certificate") == nil, inner.first("key") == nil {
                builder.error(at: place, "the host has no certificate", hint: "add certificate FILE; key FILE;")
            }
            return files.map { TLSSettings.Host(names: names, files: $0) }
        }
    }

    private func hostName(_ word: RealmsConfWord, rangesByName: inout [String: SourceRange]) -> Located<String>? {
        guard let text = builder.expanded(word) else { return nil }
        var name = text.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        if let earlier = rangesByName[name] { builder.reportSecond("host \(name)", at: word.range, first: earlier) }
        rangesByName[name] = word.range
        return Located(name, in: builder.text, at: word.range)
    }

    private func names(in block: Block, of keyword: String) -> [Located<String>]? {
        block.first(keyword).map { statement in
            builder.list(statement).compactMap { word in
                builder.expanded(word).map { Located($0, in: builder.text, at: word.range) }
            }
        }
    }

    private func readTickets(_ block: Block, into settings: inout TLSSettings) {
        block.flag("session-tickets", into: &settings.sessionTickets)
        settings.ticketKeyFiles = block.files("ticket-key", as: .privateKey)
        if !settings.sessionTickets, let key = block.first("ticket-key") {
            let message = "ticket-key cannot be combined with session-tickets off"
            builder.error(at: key.keyword.range, message, hint: "remove one of them")
        }
    }

    private func readClients(_ block: Block, into settings: inout TLSSettings) {
        if let (word, text) = block.text("client-certificates") {
            guard let mode = TLSSettings.ClientCertificates(rawValue: text) else {
                let modes = TLSSettings.ClientCertificates.allCases.map(\.rawValue)
                let message = "client-certificates is none, optional or required, not \(text)"
                builder.error(at: word.range, message, hint: ConfigurationBuilder.hint(text, among: modes))
                return
            }
            settings.clientCertificates = mode
        }
        settings.clientAuthorityFile = block.file("client-ca", as: .certificates)
        settings.clientRevocationFiles = block.files("client-crl")
        if let (word, text) = block.text("client-depth") {
            if let depth = Int(text), (0...20).contains(depth) {
                settings.clientDepth = depth
            } else {
                let hint = "it is the maximum number of intermediate certificates in a client's chain"
                builder.error(at: word.range, "client-depth is a number from 0 to 20, not \(text)", hint: hint)
            }
        }
        guard settings.clientCertificates == .none else {
            if block.first("client-ca") == nil, let statement = block.first("client-certificates") {
                let message = "client-certificates \(settings.clientCertificates.rawValue) needs client-ca"
                builder.error(at: statement.keyword.range, message, hint: "add client-ca FILE;")
            }
            return
        }
        for statement in ["client-ca", "client-crl", "client-depth"].compactMap(block.first) {
            let message = "\(statement.keyword.text) is set, but client certificates are not requested"
            let hint = "add client-certificates optional; or client-certificates required;"
            builder.error(at: statement.keyword.range, message, hint: hint)
        }
    }
}
