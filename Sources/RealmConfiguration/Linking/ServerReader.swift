// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import RealmKit

/// Reads the `server` block.
struct ServerReader {
    let linker: Linker
    /// The names of all realms.
    let realms: [String]

    private static let keywords = [
        "listen", "state", "tls", "trusted-proxies", "threads", "access-log", "credential-cache", "limits",
        "http2", "throttle", "sessions", "sign-in",
    ]

    func read(_ statement: Statement?) -> ServerSettings {
        var settings = ServerSettings(
            listen: [Placed(ServerSettings.Address(host: "127.0.0.1", port: 8443), in: linker.text)],
            stateFolder: Placed(FilePath.resolve("var", beside: linker.text.name), in: linker.text)
        )
        let hint = "as in: server { listen 127.0.0.1:8443; }"
        guard let statement, let statements = linker.block(statement, hint: hint) else { return settings }
        let block = Block(statements, of: "server", Self.keywords, repeated: ["listen"], in: linker)
        let addresses = block.all("listen").flatMap { linker.words($0) }.compactMap(address)
        if !addresses.isEmpty { settings.listen = addresses }
        if let folder = block.file("state") { settings.stateFolder = folder }
        if let proxies = block.once("trusted-proxies") { settings.trustedProxies = trusted(proxies) }
        let scalars = ScalarReader(linker: linker, block: block)
        var threads = 0
        scalars.integer("threads", 1...256, into: &threads)
        if threads > 0 { settings.threads = threads }
        scalars.flag("access-log", into: &settings.hasAccessLog)
        scalars.flag("http2", into: &settings.hasHTTP2)
        scalars.duration("credential-cache", .zero ... .seconds(3600), into: &settings.credentialCache)
        if let limits = block.once("limits") { settings.limits = LimitsReader(linker: linker).read(limits) }
        if let throttle = block.once("throttle") {
            settings.throttle = ThrottleReader(linker: linker).read(throttle)
        }
        if let sessions = block.once("sessions") {
            settings.sessions = SessionsReader(linker: linker).read(sessions)
        }
        if let signIn = block.once("sign-in") {
            settings.signIn = SignInReader(linker: linker, realms: realms).read(signIn)
        }
        if let tls = block.once("tls") { settings.tls = TLSReader(linker: linker).read(tls) }
        return settings
    }

    /// Whose word is taken for where a request came from.
    private func trusted(_ statement: Statement) -> [AddressBlock] {
        let words = linker.words(statement)
        if words.count == 1, linker.expanded(words[0]) == "none" { return [] }
        return words.compactMap { word in
            guard let block = linker.addressBlock(word, of: statement.keyword.text) else { return nil }
            if block.isEverything {
                let hint = "name the addresses of the proxies and nothing else"
                let message = "whoever can reach the server may say where a request came from, and what it asks for"
                linker.log.add(linker.text.warning(at: word.range, message, hint: hint))
            }
            return block
        }
    }

    private func address(_ word: Word) -> Placed<ServerSettings.Address>? {
        guard let text = linker.expanded(word) else { return nil }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            linker.error(word.range, "listen takes HOST:PORT, not \(text)", hint: "as in 127.0.0.1:8443 or [::1]:8443")
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            linker.error(word.range, "an IPv6 address stands in brackets", hint: "[\(host)]:\(port)")
            return nil
        }
        if host == "*" { host = "0.0.0.0" }
        guard !host.isEmpty else {
            linker.error(
                word.range,
                "listen takes HOST:PORT, and the host is missing",
                hint: "*:\(port) for all addresses"
            )
            return nil
        }
        let address = ServerSettings.Address(host: String(host), port: Int(port))
        return Placed(address, in: linker.text, at: word.range)
    }
}
