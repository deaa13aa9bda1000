// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import RealmKit

/// Reads the `server` block.
struct ServerReader {
    let builder: ConfigurationBuilder
    /// The names of all realms.
    let realms: [String]

    private static let keywords = [
        "listen", "state", "tls", "trusted-proxies", "forwarded-host", "threads", "access-log", "credential-cache",
        "limits", "http2", "throttle", "sessions", "sign-in", "identity-token", "realm-api",
    ]

    func read(_ statement: Statement?) -> ServerSettings {
        var settings = ServerSettings(
            listen: [Located(ServerSettings.Address(host: "127.0.0.1", port: 8443), in: builder.text)],
            stateFolder: Located(RelativePath.resolve("var", beside: builder.text.name), in: builder.text)
        )
        let hint = "as in: server { listen 127.0.0.1:8443; }"
        guard let statement, let statements = builder.block(statement, hint: hint) else { return settings }
        // An error about the default folder is shown at the `server` block, where another folder can be set.
        settings.stateFolder = Located(settings.stateFolder.value, in: builder.text, at: statement.keyword.range)
        let block = Block(statements, of: "server", Self.keywords, repeated: ["listen"], in: builder)
        let addresses = block.all("listen").flatMap { builder.words($0) }.compactMap(address)
        if !addresses.isEmpty { settings.listen = addresses }
        if let folder = block.file("state") { settings.stateFolder = folder }
        if let proxies = block.first("trusted-proxies") { settings.trustedProxies = trustedProxies(proxies) }
        let scalars = SettingReader(builder: builder, block: block)
        scalars.flag("forwarded-host", into: &settings.trustsForwardedHost)
        if settings.trustsForwardedHost, settings.trustedProxies.isEmpty, let word = block.word("forwarded-host") {
            let message = "forwarded-host has no effect without trusted-proxies"
            builder.log.add(builder.text.warning(at: word.range, message, hint: "name the addresses of the proxies"))
        }
        var threads = 0
        scalars.integer("threads", 1...256, into: &threads)
        if threads > 0 { settings.threads = threads }
        scalars.flag("access-log", into: &settings.hasAccessLog)
        scalars.flag("http2", into: &settings.hasHTTP2)
        scalars.duration("credential-cache", .zero ... .seconds(3600), into: &settings.credentialCache)
        if let limits = block.first("limits") { settings.limits = LimitsReader(builder: builder).read(limits) }
        if let throttle = block.first("throttle") {
            settings.throttle = ThrottleReader(builder: builder).read(throttle)
        }
        if let sessions = block.first("sessions") {
            settings.sessions = SessionsReader(builder: builder).read(sessions)
        }
        if let signIn = block.first("sign-in") {
            settings.signIn = SignInReader(builder: builder, realms: realms).read(signIn)
        }
        if let identityToken = block.first("identity-token") {
            settings.identityToken = IdentityTokenReader(builder: builder).read(identityToken)
            if settings.trustedProxies.isEmpty, block.first("trusted-proxies") == nil {
                let message = "identity-token has no effect without trusted-proxies"
                let warning = builder.text.warning(
                    at: identityToken.keyword.range,
                    message,
                    hint: "name the addresses of the proxies"
                )
                builder.log.add(warning)
            }
        }
        if let tls = block.first("tls") { settings.tls = TLSReader(builder: builder).read(tls) }
        if let realmAPI = block.first("realm-api") {
            let requestsCertificates = settings.tls.clientCertificates != .none
            settings.realmAPI = RealmAPIReader(
                builder: builder,
                realms: realms,
                requestsCertificates: requestsCertificates
            ).read(realmAPI)
        }
        return settings
    }

    /// Reads the proxies whose forwarded headers are trusted.
    private func trustedProxies(_ statement: Statement) -> [CIDRBlock] {
        let words = builder.words(statement)
        if words.count == 1, builder.expanded(words[0]) == "none" { return [] }
        return words.compactMap { word in
            guard let block = builder.addressBlock(word, of: statement.keyword.text) else { return nil }
            if block.containsEveryAddress {
                let hint = "write only the addresses of the proxies"
                let message =
                    "all clients are trusted as proxies, and can forge the address and the URL of their requests"
                builder.log.add(builder.text.warning(at: word.range, message, hint: hint))
            }
            return block
        }
    }

    private func address(_ word: RealmsConfWord) -> Located<ServerSettings.Address>? {
        guard let text = builder.expanded(word) else { return nil }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            builder.error(
                at: word.range,
                "listen takes HOST:PORT, not \(text)",
                hint: "as in 127.0.0.1:8443 or [::1]:8443"
            )
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            builder.error(at: word.range, "an IPv6 address must be in brackets", hint: "[\(host)]:\(port)")
            return nil
        }
        if host == "*" { host = "0.0.0.0" }
        guard !host.isEmpty else {
            builder.error(
                at: word.range,
                "listen takes HOST:PORT, and the host is missing",
                hint: "*:\(port) for all addresses"
            )
            return nil
        }
        let address = ServerSettings.Address(host: String(host), port: Int(port))
        return Located(address, in: builder.text, at: word.range)
    }
}
