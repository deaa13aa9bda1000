// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import LoginConf
internal import RealmKit

/// Reads the `server` block.
struct ServerReader {
    let builder: ConfigurationBuilder
    /// The names of all realms.
    let realms: [String]

    static let keywords = [
        "listen", "state", "tls", "trusted-proxies", "forwarded-host", "cors-preflights", "threads", "access-log",
        "credential-cache", "limits", "http2", "throttle", "sessions", "sign-in", "identity-token", "realm-api",
        "metrics",
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
        let addresses = block.all("listen").flatMap { builder.list($0) }.compactMap(address)
        if !addresses.isEmpty { settings.listen = addresses }
        if let folder = block.file("state") { settings.stateFolder = folder }
        if let proxies = block.first("trusted-proxies") { settings.trustedProxies = trustedProxies(proxies) }
        block.flag("forwarded-host", into: &settings.trustsForwardedHost)
        if settings.trustsForwardedHost, settings.trustedProxies.isEmpty, let word = block.word("forwarded-host") {
            let message = "forwarded-host has no effect without trusted-proxies"
            builder.warn(at: word.range, message, hint: "name the addresses of the proxies")
        }
        if let statement = block.first("cors-preflights") { settings.preflightHosts = preflightHosts(statement) }
        var threads = 0
        block.integer("threads", 1...256, into: &threads)
        if threads > 0 { settings.threads = threads }
        block.flag("access-log", into: &settings.hasAccessLog)
        block.flag("http2", into: &settings.hasHTTP2)
        block.duration("credential-cache", .zero ... .seconds(3600), into: &settings.credentialCache)
        if let limits = block.first("limits") { settings.limits = builder.limits(limits) }
        if let throttle = block.first("throttle") { settings.throttle = builder.throttle(throttle) }
        if let sessions = block.first("sessions") { settings.sessions = builder.sessions(sessions) }
        if let signIn = block.first("sign-in") {
            settings.signIn = SignInReader(builder: builder, realms: realms).read(signIn)
        }
        settings.identityToken = block.first("identity-token").flatMap(builder.identityToken)
        if block.first("trusted-proxies") == nil { warnAboutMissingProxies(block, signIn: settings.signIn) }
        if let tls = block.first("tls") { settings.tls = TLSReader(builder: builder).read(tls) }
        if let realmAPI = block.first("realm-api") {
            let requestsCertificates = settings.tls.clientCertificates != .none
            let reader = RealmAPIReader(builder: builder, realms: realms, requestsCertificates: requestsCertificates)
            settings.realmAPI = reader.read(realmAPI)
        }
        if let metrics = block.first("metrics") { settings.metricsAddresses = metricsAddresses(metrics) }
        AddressClashes(builder: builder).report(settings.listen + settings.metricsAddresses)
        return settings
    }

    /// Warns about statements for applications behind a proxy, if no proxy is trusted.
    private func warnAboutMissingProxies(_ block: Block, signIn: SignInSettings) {
        for statement in ["identity-token", "cors-preflights"].compactMap(block.first) {
            let message = "\(statement.keyword.text) has no effect without trusted-proxies"
            builder.warn(at: statement.keyword.range, message, hint: "name the addresses of the proxies")
        }
        guard let host = signIn.host, let statement = block.first("sign-in") else { return }
        let message = "\(host) signs users in for other hosts, but no proxy is trusted: each check of a proxy gets 403"
        let hint = "name the addresses of the proxies, or write trusted-proxies none; if there is no proxy"
        builder.warn(at: statement.keyword.range, message, hint: hint)
    }

    /// Reads the hosts whose CORS preflights are allowed.
    private func preflightHosts(_ statement: Statement) -> [ProtectRule.Host] {
        builder.list(statement).compactMap { word in
            guard let text = builder.expanded(word) else { return nil }
            // Without a name, a rule is for all hosts.
            guard !text.isEmpty, text != "*", !text.utf8.contains(UInt8(ascii: "/")) else {
                let hint = "write hosts only, as in: cors-preflights api.example.com *.example.org;"
                builder.error(at: word.range, "\"\(text)\" is not a host", hint: hint)
                return nil
            }
            return builder.host(text[...], at: word)
        }
    }

    /// Reads the proxies whose forwarded headers are trusted.
    private func trustedProxies(_ statement: Statement) -> [CIDRBlock] {
        let words = builder.list(statement)
        if words.count == 1, builder.expanded(words[0]) == "none" { return [] }
        let danger = "are trusted as proxies, and can forge the address and the URL of their requests"
        let hint = "write only the addresses of the proxies"
        return words.compactMap { builder.addressBlock($0, of: statement.keyword.text, danger: (danger, hint)) }
    }

    // MARK: Addresses

    /// Reads the addresses of the `metrics` block.
    private func metricsAddresses(_ statement: Statement) -> [Located<ServerSettings.Address>] {
        let hint = "as in: metrics { listen 127.0.0.1:9464; }"
        guard let statements = builder.block(statement, hint: hint) else { return [] }
        let block = Block(statements, of: "metrics", ["listen"], repeated: ["listen"], in: builder)
        let words = block.all("listen").flatMap { builder.list($0) }
        // Port 9464 is the usual port of programs that serve metrics for Prometheus.
        if words.isEmpty {
            let standard = ServerSettings.Address(host: "127.0.0.1", port: 9464)
            return [Located(standard, in: builder.text, at: statement.keyword.range)]
        }
        let addresses = words.compactMap(address)
        for address in addresses where !Self.isLoopback(address.host) {
            let message = "everyone who can reach \(address.value) can read the metrics, because they need no login"
            let hint = "use 127.0.0.1 or an address in the network of the monitoring"
            builder.warn(at: address.range, message, hint: hint)
        }
        return addresses
    }

    /// Returns whether only programs of this machine can reach a host.
    private static func isLoopback(_ host: String) -> Bool {
        if UTF8Text(host) == UTF8Text("localhost") || UTF8Text(host) == UTF8Text("::1") { return true }
        return NetworkAddress(host[...])?.isLoopback ?? false
    }

    /// The words that nginx takes after an address.
    private static let wordsOfNginx = ["ssl", "http2", "quic", "default_server", "reuseport"].map { UTF8Text($0) }

    private func address(_ word: RealmsConfWord) -> Located<ServerSettings.Address>? {
        guard let text = builder.expanded(word) else { return nil }
        if let scheme = text.firstRange(of: "://") {
            let hint = "write \(text[scheme.upperBound...].prefix { $0 != "/" })"
            builder.error(at: word.range, "listen takes HOST:PORT, not a URL", hint: hint)
            return nil
        }
        let colon = text.lastIndex(of: ":")
        let digits = colon.map { text[text.index(after: $0)...] } ?? ""
        let isNumber = !digits.isEmpty && digits.utf8.allSatisfy(ASCII.isDigit)
        guard let colon, isNumber, let port = UInt16(digits) else {
            let message = isNumber ? "\(digits) is not a port" : "listen takes HOST:PORT, not \(text)"
            let hint =
                switch true {
                case isNumber: "ports are 0 to 65535"
                case Self.wordsOfNginx.contains(UTF8Text(text)): "leave \(text) out: every address serves HTTPS"
                case _: "as in 127.0.0.1:8443 or [::1]:8443"
                }
            builder.error(at: word.range, message, hint: hint)
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
            let hint = "[::]:\(port) for all addresses, *:\(port) for all of IPv4"
            builder.error(at: word.range, "listen takes HOST:PORT, and the host is missing", hint: hint)
            return nil
        }
        let address = ServerSettings.Address(host: String(host), port: Int(port))
        return Located(address, in: builder.text, at: word.range)
    }
}

/// The addresses of a configuration that cannot be bound together.
private struct AddressClashes {
    let builder: ConfigurationBuilder
    /// True if a socket on `::` also takes IPv4 connections: ipv6(7), IPV6_V6ONLY.
    private let isDualStack: Bool

    init(builder: ConfigurationBuilder) {
        self.builder = builder
        isDualStack =
            switch builder.loader.files.read("/proc/sys/net/ipv6/bindv6only") {
            case .success(let contents): contents.bytes.first != UInt8(ascii: "1")
            case .failure: true
            }
    }

    /// Reports each address that clashes with one before it in the file.
    ///
    /// With port 0 the system chooses a port, so such an address clashes with none. Names are not resolved.
    func report(_ addresses: [Located<ServerSettings.Address>]) {
        let sorted = addresses.sorted { $0.range.start < $1.range.start }
        for (index, address) in sorted.enumerated() where address.port != 0 {
            guard let other = sorted[..<index].first(where: { $0.port == address.port && overlap($0, address) }) else {
                continue
            }
            report(address, with: other)
        }
    }

    private func report(_ address: Located<ServerSettings.Address>, with other: Located<ServerSettings.Address>) {
        let place = builder.text.place(of: other.range)
        let (earlier, later) = (Kind(other.host), Kind(address.host))
        let (message, hint): (String, String) =
            if earlier == later {
                ("a second \(address.value)", "the first one is at \(place); choose another port")
            } else {
                (
                    includes(earlier, later)
                        ? "\(other.value) includes \(address.value)" : "\(address.value) includes \(other.value)",
                    "the other one is at \(place); remove one of them, or choose another port"
                )
            }
        let ofDefault = "the server listens on \(other.value) if there is no listen statement; choose another port"
        builder.error(at: address.range, message, hint: other.isDefault ? ofDefault : hint)
    }

    private func overlap(_ first: Located<ServerSettings.Address>, _ second: Located<ServerSettings.Address>) -> Bool {
        let (first, second) = (Kind(first.host), Kind(second.host))
        return first == second || includes(first, second) || includes(second, first)
    }

    /// Returns whether a socket on one host takes the connections to another.
    private func includes(_ first: Kind, _ second: Kind) -> Bool {
        switch first {
        case .all(isIPv4: true): second.isIPv4 == true
        case .all(isIPv4: false): isDualStack || second.isIPv4 == false
        case .address, .name: false
        }
    }

    /// The host of an address.
    private enum Kind: Equatable {
        /// All addresses of a family.
        case all(isIPv4: Bool)
        case address(NetworkAddress)
        /// A name, or an address with a zone.
        case name(UTF8Text, isIPv6: Bool)

        init(_ host: String) {
            let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
            guard !host.utf8.contains(UInt8(ascii: "%")), let address = NetworkAddress(host[...]) else {
                self = .name(UTF8Text(host.lowercased()), isIPv6: isIPv6)
                return
            }
            self = address.isUnspecified ? .all(isIPv4: address.isIPv4Mapped) : .address(address)
        }

        /// True for IPv4, false for IPv6, and nil for a name.
        var isIPv4: Bool? {
            switch self {
            case .all(let isIPv4): isIPv4
            case .address(let address): address.isIPv4Mapped
            case .name(_, let isIPv6): isIPv6 ? false : nil
            }
        }
    }
}
