// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import LoginConf

extension TLSSettings {
    static let schema = BlockSchema<TLSSettings>(
        name: "tls",
        statements: [
            .checked("certificate"),
            .checked("key"),
            .checked("ocsp-response"),
            .value("host", \.hosts, isRepeated: true) { $0.tlsHosts($1) },
            .choice("minimum-version", \.minimumVersion),
            .value("ciphers", \.ciphers) { $0.list($1) },
            .value("ciphersuites", \.ciphersuites) { $0.list($1) },
            .value("groups", \.groups) { $0.list($1) },
            .flag("session-tickets", \.sessionTickets),
            .value("ticket-key", \.ticketKeyFiles, isRepeated: true) { $0.files($1, as: .privateKey) },
            .choice("client-certificates", \.clientCertificates),
            .value("client-ca", \.clientAuthorityFile) { $0.file($1, as: .certificates) },
            .value("client-crl", \.clientRevocationFiles, isRepeated: true) { $0.files($1) },
            .integer("client-depth", 0...20, \.clientDepth),
        ],
        check: check
    )

    @Sendable private static func check(_ block: Block, _ settings: inout TLSSettings) {
        settings.files = block.certificateFiles()
        if settings.minimumVersion == .tls13 {
            let message = "ciphers is for TLS 1.2, but minimum-version is 1.3"
            block.error(atKeyword: "ciphers", message, hint: "use ciphersuites for TLS 1.3")
        }
        if !settings.sessionTickets {
            let message = "ticket-key cannot be combined with session-tickets off"
            block.error(atKeyword: "ticket-key", message, hint: "remove one of them")
        }
        if settings.clientCertificates != .none, block.first("client-ca") == nil {
            let message = "client-certificates \(settings.clientCertificates.rawValue) needs client-ca"
            block.error(atKeyword: "client-certificates", message, hint: "add client-ca FILE;")
        }
        // A mode with an error has been reported.
        guard block.text("client-certificates")?.text ?? "none" == "none" else { return }
        for keyword in ["client-ca", "client-crl", "client-depth"] {
            let message = "\(keyword) is set, but client certificates are not requested"
            let hint = "add client-certificates optional; or client-certificates required;"
            block.error(atKeyword: keyword, message, hint: hint)
        }
    }
}

extension Block {
    /// Reads the files of a certificate.
    fileprivate func certificateFiles() -> TLSSettings.CertificateFiles? {
        let certificate = file("certificate", as: .certificates)
        let key = file("key", as: .secret)
        let ocsp = file("ocsp-response")
        if (first("certificate") == nil) != (first("key") == nil) {
            builder.error(at: place, "certificate and key must be set together", hint: "set both or remove both")
        } else if first("certificate") == nil {
            let hint = "add certificate FILE; key FILE;"
            error(atKeyword: "ocsp-response", "ocsp-response needs a certificate", hint: hint)
        }
        guard let certificate, let key else { return nil }
        return TLSSettings.CertificateFiles(certificate: certificate, key: key, ocspResponse: ocsp)
    }

    /// Reads the `host` blocks, each of which has names before it.
    fileprivate func tlsHosts(_ keyword: String) -> [TLSSettings.Host] {
        var rangesByName: [String: SourceRange] = [:]
        return all(keyword).compactMap { statement in
            let place = statement.keyword.range
            guard case .block(let statements) = statement.body, !statement.arguments.isEmpty else {
                let hint = "as in: host example.org *.example.org { certificate FILE; key FILE; }"
                builder.error(at: place, "host takes names and a block", hint: hint)
                return nil
            }
            let names = statement.arguments.compactMap { hostName($0, rangesByName: &rangesByName) }
            let keywords = ["certificate", "key", "ocsp-response"]
            let block = Block(statements, of: "host", keywords, at: place, in: builder)
            let files = block.certificateFiles()
            if block.first("certificate") == nil, block.first("key") == nil {
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
}
