// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPLimits
internal import LoginConf
internal import RealmKit
internal import Sessions
internal import Throttle

extension ServerSettings {
    static let schema = BlockSchema<ServerSettings>(
        name: "server",
        example: "server { listen 127.0.0.1:8443; }",
        statements: [
            .value("listen", \.listen, isRepeated: true) { $0.listenAddresses($1) },
            .value("state", \.stateFolder) { $0.file($1) },
            .value("trusted-proxies", \.trustedProxies) { $0.trustedProxies($1) },
            .flag("forwarded-host", \.trustsForwardedHost),
            .value("cors-preflights", \.preflightHosts) { $0.preflightHosts($1) },
            .value("threads", \.threads) { $0.integer($1, 1...256) },
            .flag("access-log", \.hasAccessLog),
            .flag("http2", \.hasHTTP2),
            .duration("credential-cache", .zero ... .seconds(3600), \.credentialCache),
            .block("limits", \.limits, HTTPLimits.schema),
            .block("throttle", \.throttle, ThrottleSettings.schema),
            .block("sessions", \.sessions, SessionSettings.schema),
            .block("sign-in", \.signIn, SignInSettings.schema),
            .block("identity-token", \.identityTokenKeys, IdentityTokenBlock.schema),
            .block("tls", \.tls, TLSSettings.schema),
            StatementSchema(keyword: "realm-api", innerKeywords: RealmAPISettings.keywords) { block, settings in
                let requestsCertificates = settings.tls.clientCertificates != .none
                let schema = RealmAPISettings.schema(requestsCertificates: requestsCertificates)
                var clients: [RealmAPISettings.Client] = []
                block.first("realm-api").map { schema.read($0, into: &clients, in: block.builder) }
                settings.realmAPI = clients.isEmpty ? nil : RealmAPISettings(clients: clients)
            },
            .block("metrics", \.metricsAddresses, MetricsBlock.schema),
        ],
        check: check
    )

    @Sendable private static func check(_ block: Block, _ settings: inout ServerSettings) {
        let builder = block.builder
        if settings.stateFolder.isDefault {
            // An error about the default folder is shown at the `server` block, where another folder can be set.
            settings.stateFolder = Located(settings.stateFolder.value, in: builder.text, at: block.place)
        }
        if settings.trustsForwardedHost, settings.trustedProxies.isEmpty, let word = block.word("forwarded-host") {
            let message = "forwarded-host has no effect without trusted-proxies"
            builder.warn(at: word.range, message, hint: "name the addresses of the proxies")
        }
        if block.first("trusted-proxies") == nil { warnAboutMissingProxies(block, signIn: settings.signIn) }
        builder.reportClashes(of: settings.listen + settings.metricsAddresses)
    }

    /// Warns about statements for applications behind a proxy, if no proxy is trusted.
    private static func warnAboutMissingProxies(_ block: Block, signIn: SignInSettings) {
        for statement in ["identity-token", "cors-preflights"].compactMap(block.first) {
            let message = "\(statement.keyword.text) has no effect without trusted-proxies"
            block.builder.warn(at: statement.keyword.range, message, hint: "name the addresses of the proxies")
        }
        guard let host = signIn.host, let statement = block.first("sign-in") else { return }
        let message = "\(host) signs users in for other hosts, but no proxy is trusted: each check of a proxy gets 403"
        let hint = "name the addresses of the proxies, or write trusted-proxies none; if there is no proxy"
        block.builder.warn(at: statement.keyword.range, message, hint: hint)
    }
}

/// The `metrics` block, whose setting is its addresses.
private enum MetricsBlock {
    static let schema = BlockSchema<[Located<ServerSettings.Address>]>(
        name: "metrics",
        example: "metrics { listen 127.0.0.1:9464; }",
        statements: [.value("listen", \.self, isRepeated: true) { $0.listenAddresses($1) }]
    ) { block, addresses in
        for address in addresses where !Self.isLoopback(address.host) {
            let message = "everyone who can reach \(address.value) can read the metrics, because they need no login"
            let hint = "use 127.0.0.1 or an address in the network of the monitoring"
            block.builder.warn(at: address.range, message, hint: hint)
        }
        guard block.first("listen") == nil else { return }
        // Port 9464 is the usual port of programs that serve metrics for Prometheus.
        let standard = ServerSettings.Address(host: "127.0.0.1", port: 9464)
        addresses = [Located(standard, in: block.builder.text, at: block.place)]
    }

    /// Returns whether only programs of this machine can reach a host.
    private static func isLoopback(_ host: String) -> Bool {
        UTF8Text(host) == UTF8Text("localhost") || NetworkAddress(host[...])?.isLoopback ?? false
    }
}

// MARK: Values

extension ServerSettings.Address {
    /// The words that nginx takes after an address.
    private static let wordsOfNginx = ["ssl", "http2", "quic", "default_server", "reuseport"].map { UTF8Text($0) }

    /// Reads `HOST:PORT`.
    fileprivate init(word text: String) throws(BadWord) {
        if let scheme = text.firstRange(of: "://") {
            let hint = "write \(text[scheme.upperBound...].prefix { $0 != "/" })"
            throw BadWord("listen takes HOST:PORT, not a URL", hint: hint)
        }
        let colon = text.lastIndex(of: ":")
        let digits = colon.map { text[text.index(after: $0)...] } ?? ""
        guard let colon, !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else {
            let isOfNginx = Self.wordsOfNginx.contains(UTF8Text(text))
            let hint =
                isOfNginx ? "leave \(text) out: every address serves HTTPS" : "as in 127.0.0.1:8443 or [::1]:8443"
            throw BadWord("listen takes HOST:PORT, not \(text)", hint: hint)
        }
        guard let port = UInt16(digits) else { throw BadWord("\(digits) is not a port", hint: "ports are 0 to 65535") }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw BadWord("an IPv6 address must be in brackets", hint: "[\(host)]:\(port)")
        }
        guard !host.isEmpty else {
            let hint = "[::]:\(port) for all addresses, *:\(port) for all of IPv4"
            throw BadWord("listen takes HOST:PORT, and the host is missing", hint: hint)
        }
        self.init(host: host == "*" ? "0.0.0.0" : String(host), port: Int(port))
    }
}

extension Block {
    /// Returns the addresses of all statements of a keyword; nil if none is valid.
    fileprivate func listenAddresses(_ keyword: String) -> [Located<ServerSettings.Address>]? {
        let addresses = list(keyword, ServerSettings.Address.init(word:))
        return addresses.isEmpty ? nil : addresses
    }

    /// Reads the proxies whose forwarded headers are trusted.
    fileprivate func trustedProxies(_ keyword: String) -> [CIDRBlock] {
        if let statement = first(keyword), statement.arguments.count == 1,
            builder.list(statement).first.flatMap(builder.expanded) == "none"
        {
            return []
        }
        let danger = "are trusted as proxies, and can forge the address and the URL of their requests"
        return addresses(keyword, danger: danger, hint: "write only the addresses of the proxies")
    }

    /// Reads the hosts whose CORS preflights are allowed.
    fileprivate func preflightHosts(_ keyword: String) -> [ProtectRule.Host] {
        list(keyword) { text throws(BadWord) in
            // Without a name, a rule is for all hosts.
            guard !text.isEmpty, text != "*", !text.utf8.contains(UInt8(ascii: "/")) else {
                let hint = "write hosts only, as in: cors-preflights api.example.com *.example.org;"
                throw BadWord("\"\(text)\" is not a host", hint: hint)
            }
            return try ProtectRule.Host(word: text[...])
        }.map(\.value)
    }
}
