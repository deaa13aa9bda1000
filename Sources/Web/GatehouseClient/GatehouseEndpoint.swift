// SPDX-License-Identifier: Apache-2.0

internal import Files
public import HTTPSClient
internal import OpenSSLKit
@_exported public import RealmKit

/// A Gatehouse server as an application reaches it, with the HTTPS client that sends the requests.
///
/// One value serves for the keys of identity tokens and for the realm API. It may be used from any thread.
public struct GatehouseEndpoint: Sendable {
    /// The URL without a `/` at its end.
    private let base: String
    private let client: HTTPSClient

    /// Creates the client of a server; no connection is opened.
    ///
    /// - Parameters:
    ///   - url: The origin of the server, and the `prefix` of its `sign-in` settings: `https://auth.example.com/gatehouse`.
    ///   - authorities: The path of a PEM file with the authorities that are trusted, which is read now; nil for those of
    ///     the system.
    /// - Throws: ``GatehouseClientError`` if the URL or the file cannot be used.
    public init(_ url: String, authorities: String? = nil) throws(GatehouseClientError) {
        var configuration = HTTPSClientConfiguration(trust: .system)
        if let authorities {
            let pem = try ClientFile.bytes(authorities)
            configuration.trust = try Result { () throws(OpenSSLError) in
                .authorities(try Certificate.chain(pem: pem, name: authorities))
            }.mapError { GatehouseClientError("\($0)") }.get()
        }
        configuration.userAgent = "GatehouseClient"
        try self.init(url, configuration: configuration)
    }

    /// Creates the client of a server with pinned keys, a client certificate or other limits; no connection is opened.
    ///
    /// - Parameters:
    ///   - url: The origin of the server, and the `prefix` of its `sign-in` settings.
    ///   - configuration: The configuration of the client.
    /// - Throws: ``GatehouseClientError`` if the URL or the configuration cannot be used.
    public init(_ url: String, configuration: HTTPSClientConfiguration) throws(GatehouseClientError) {
        let (parsed, client) = try Result { () throws(HTTPSClientError) in
            (try HTTPSURL(url), try HTTPSClient(configuration))
        }.mapError { GatehouseClientError($0.cause) }.get()
        guard !parsed.target.utf8.contains(UInt8(ascii: "?")) else {
            throw GatehouseClientError("the URL of a server has no query")
        }
        var base = parsed.description
        while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
        (self.base, self.client) = (base, client)
    }

    /// Returns the URL of a path below the server's own.
    func url(_ path: String) -> String { base + path }

    func response(to request: HTTPSRequest) async throws(HTTPSClientError) -> HTTPSResponse {
        try await client.response(to: request)
    }
}

/// A setting, or an answer of the server, cannot be used.
public struct GatehouseClientError: Error, Sendable, CustomStringConvertible {
    /// The problem, for the log or for the administrator, without secrets.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// The files that the settings name.
enum ClientFile {
    static let maximumBytes = 1 << 20

    static func bytes(_ path: String) throws(GatehouseClientError) -> [UInt8] {
        try Result { () throws(UnreadableFile) in
            try FileContents(path, as: nil, limit: maximumBytes, mayGrow: false).bytes
        }.mapError { GatehouseClientError("\(path): \($0.reason)") }.get()
    }
}
