// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The address of an HTTPS resource: `https://host:port/path?query`.
///
/// Only texts that every program reads in the same way are accepted. The scheme is `https`. There is no user name, no
/// password and no fragment. The host is a DNS name (RFC 1123 2.1), an IPv4 address of four decimal numbers, or an IPv6
/// address in brackets. The path and the query have visible ASCII characters of RFC 3986 only; other characters must be
/// percent-encoded. The path has no `.` or `..` segment. A URL has at most ``maximumBytes`` bytes.
public struct HTTPSURL: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of a URL, in bytes.
    public static let maximumBytes = 2048

    /// The host in lower case; an IPv6 address without brackets.
    public let host: String
    /// The port, 1 to 65535.
    public let port: Int
    /// The path and the query, as they are sent in the request; the path begins with `/`.
    public let target: String
    private let isIPv6: Bool

    /// Reads a URL.
    ///
    /// - Parameter text: The URL.
    /// - Throws: ``HTTPSClientError`` with code `invalidRequest` if the text breaks one of the rules above.
    public init(_ text: String) throws(HTTPSClientError) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw Self.fault("is longer than \(Self.maximumBytes) bytes")
        }
        guard text.utf8.allSatisfy(ASCII.isVisible) else {
            throw Self.fault("has a character that is not visible ASCII")
        }
        let scheme = "https://"
        guard text.utf8.count > scheme.utf8.count,
            text.prefix(scheme.count).lowercased().utf8.elementsEqual(scheme.utf8)
        else { throw Self.fault("does not begin with https://") }
        let rest = text.dropFirst(scheme.count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        (host, isIPv6, port) = try Self.authority(rest[..<end])
        target = try Self.target(rest[end...])
    }

    /// The host and the port as in the field `Host`; without the port if it is 443.
    public var authority: String {
        let name = isIPv6 ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }

    /// The URL in canonical form.
    public var description: String { "https://\(authority)\(target)" }

    private static func authority(
        _ text: Substring
    ) throws(HTTPSClientError) -> (host: String, isIPv6: Bool, port: Int) {
        guard !text.utf8.contains(UInt8(ascii: "@")) else { throw fault("has a user name") }
        if text.first == "[" {
            guard let close = text.firstIndex(of: "]") else { throw fault("has an invalid host") }
            let host = text[text.index(after: text.startIndex)..<close].lowercased()
            guard host.utf8.contains(UInt8(ascii: ":")), !host.utf8.contains(UInt8(ascii: "%")),
                NetworkAddress(host[...]) != nil
            else { throw fault("has an invalid host") }
            return (host, true, try port(text[text.index(after: close)...]))
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let host = text[..<colon].lowercased()
        guard isHost(host) else { throw fault("has an invalid host") }
        return (host, false, try port(text[colon...]))
    }

    /// Reads a colon and a port, or nothing.
    private static func port(_ text: Substring) throws(HTTPSClientError) -> Int {
        if text.isEmpty { return 443 }
        let digits = text.dropFirst()
        guard text.first == ":", (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy(ASCII.isDigit),
            let number = Int(digits), (1...65_535).contains(number), digits.first != "0"
        else { throw fault("has an invalid port") }
        return number
    }

    private static func isHost(_ host: String) -> Bool {
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...253).contains(host.utf8.count), labels.allSatisfy(isLabel), let last = labels.last else {
            return false
        }
        // A name whose last label begins with a digit is read as an IPv4 address by some programs, in several ways.
        guard let first = last.first, ASCII.isDigit(first) else { return true }
        return NetworkAddress(host[...]) != nil
    }

    private static func isLabel(_ label: some BidirectionalCollection<UInt8>) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { byte in
                ASCII.isDigit(byte) || byte == hyphen || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            }
    }

    private static func target(_ text: Substring) throws(HTTPSClientError) -> String {
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw fault("has a fragment") }
        let target = text.first == "/" ? String(text) : "/\(text)"
        let bytes = Array(target.utf8)
        for (index, byte) in bytes.enumerated() {
            guard !"\"<>\\^`{|}[]".utf8.contains(byte) else { throw fault("has a character that must be encoded") }
            guard byte == UInt8(ascii: "%") else { continue }
            guard index + 2 < bytes.count, Hexadecimal.value(of: bytes[index + 1]) != nil,
                Hexadecimal.value(of: bytes[index + 2]) != nil
            else { throw fault("has an invalid percent-encoding") }
        }
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        for segment in path.split(separator: UInt8(ascii: "/"))
        where segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) {
            throw fault("has a . or .. segment")
        }
        return target
    }

    private static func fault(_ text: String) -> HTTPSClientError {
        HTTPSClientError(.invalidRequest, "the URL \(text)")
    }
}
