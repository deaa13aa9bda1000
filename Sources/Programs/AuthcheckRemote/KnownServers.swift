// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// A server that the user has decided to trust.
struct KnownServer: Sendable {
    /// The URL in the form of ``ServerURL``.
    var url: String
    var key: Digest?
    var authorities: String?
    /// The user name of the last check.
    var user: String?
    var tokenFile: String?

    init(url: String) { self.url = url }
}

/// The servers that `authcheck --remember` has written to its file.
///
/// Each line is a URL and words of the form `name=value`, whose values are percent-encoded. The file contains no secrets.
/// Blank lines, comments and lines that cannot be read are kept.
struct KnownServers: Sendable {
    struct Fault: Error {
        let reason: String
    }

    let path: String
    private var lines: [String]
    private var entries: [Int: KnownServer] = [:]
    private(set) var badLines: [(number: Int, reason: String)] = []

    /// Reads the text of a file; empty if there is none.
    init(_ text: String, path: String) {
        self.path = path
        lines = text.utf8.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        for (index, line) in lines.enumerated() where !line.isEmpty && line.utf8.first != UInt8(ascii: "#") {
            do throws(Fault) {
                let entry = try Self.entry(line)
                guard self.entry(of: entry.url) == nil else { throw Fault(reason: "a second line for \(entry.url)") }
                entries[index] = entry
            } catch {
                badLines.append((index + 1, error.reason))
            }
        }
    }

    /// Returns the entry of a server and the number of its line.
    func entry(of url: String) -> (server: KnownServer, line: Int)? {
        guard let found = entries.first(where: { $0.value.url.hasBytes(of: url) }) else { return nil }
        return (found.value, found.key + 1)
    }

    /// Adds an entry, or replaces the line of the same server.
    mutating func remember(_ server: KnownServer) {
        if let line = entry(of: server.url)?.line {
            lines[line - 1] = Self.text(server)
            entries[line - 1] = server
        } else {
            entries[lines.count] = server
            lines.append(Self.text(server))
        }
    }

    var text: String { lines.map { $0 + "\n" }.joined() }

    // MARK: Lines

    private static func text(_ server: KnownServer) -> String {
        var words = [server.url]
        if let key = server.key { words.append("pin=\(encode(key.pin))") }
        if let authorities = server.authorities { words.append("ca=\(encode(authorities))") }
        if let user = server.user { words.append("user=\(encode(user))") }
        if let tokenFile = server.tokenFile { words.append("token-file=\(encode(tokenFile))") }
        return words.joined(separator: " ")
    }

    private static func encode(_ value: String) -> String {
        PercentEncoding.encode(value.utf8Span.span) { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%")
        }
    }

    private static func entry(_ line: String) throws(Fault) -> KnownServer {
        let words = line.utf8.split(separator: ASCII.space).map { String(Substring($0)) }
        guard let first = words.first, let url = ServerURL(first), url.description.hasBytes(of: first) else {
            throw Fault(reason: "the line does not begin with the URL of a server")
        }
        var server = KnownServer(url: first)
        for word in words.dropFirst() {
            guard let equals = word.firstIndex(of: "="), let value = decode(word[word.index(after: equals)...]),
                !value.isEmpty
            else { throw Fault(reason: "a word is not of the form name=value") }
            switch word[..<equals] {
            case "pin" where server.key == nil:
                guard let key = Digest(pin: value) else { throw Fault(reason: "the pin is not valid") }
                server.key = key
            case "ca" where server.authorities == nil: server.authorities = value
            case "user" where server.user == nil: server.user = value
            case "token-file" where server.tokenFile == nil: server.tokenFile = value
            default: throw Fault(reason: "an unknown or repeated name")
            }
        }
        return server
    }

    private static func decode(_ text: Substring) -> String? {
        guard let bytes = PercentEncoding.decode(Array(text.utf8).span) else { return nil }
        return UTF8Text(validating: bytes.span)?.string
    }
}

/// The URL of a server: `https://HOST`, `https://HOST:PORT`, or one of these with the prefix of its pages.
///
/// The text is canonical, so that each server has one entry in the file of known servers.
struct ServerURL: Sendable, CustomStringConvertible {
    /// The URL in lower case up to the path, without the port 443 and without a `/` at its end.
    let description: String

    init?(_ text: String) {
        let scheme = "https://"
        guard text.utf8.count <= 1024, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.utf8.contains(where: { "?#@\\%\"<>".utf8.contains($0) }),
            text.prefix(scheme.count).lowercased() == scheme
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<slash].lowercased()
        guard !authority.isEmpty, authority.utf8.first != UInt8(ascii: ":") else { return nil }
        if authority.hasSuffix(":443") { authority.removeLast(4) }
        var path = rest[slash...]
        while path.hasSuffix("/") { path.removeLast() }
        description = scheme + authority + path
    }

    var realms: String { description + "/realms" }

    /// Returns the URL that checks credentials in a realm.
    func check(_ realm: String) -> String { "\(realms)/\(PercentEncoding.encode(realm))/check" }
}
