// SPDX-License-Identifier: Apache-2.0

internal import HTTPSClient
internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections

/// Creates the HTTPS client of a realm from its properties.
enum ClientSettings {
    static func client(_ properties: RealmProperties) throws(BadRealm) -> HTTPSClient {
        var configuration = HTTPSClientConfiguration(trust: try trust(properties))
        configuration.identity = try ClientCertificateFiles(properties)?.identity()
        configuration.userAgent = try properties.string("user-agent")
        configuration.connectTimeout = try ServerPoolSettings.time("connect-timeout", of: properties)
        configuration.timeout = try ServerPoolSettings.time("timeout", of: properties)
        configuration.maximumBody = try properties.integer("maximum-response")
        configuration.connections = try properties.integer("connections")
        do throws(HTTPSClientError) {
            return try HTTPSClient(configuration)
        } catch {
            throw BadRealm(error.cause)
        }
    }

    private static func trust(_ properties: RealmProperties) throws(BadRealm) -> HTTPSTrust {
        let authorities =
            properties.has("ca-file")
            ? try SettingsFile.certificates(try properties.string("ca-file"), setting: "ca-file") : nil
        guard properties.has("pins") else { return authorities.map { .certificateAuthorities($0) } ?? .system }
        var pins: Set<KeyPin> = []
        for text in try properties.list("pins") {
            guard let pin = KeyPin(text) else {
                throw BadRealm("takes sha256//BASE64 or 64 hexadecimal digits, not \(text)", setting: "pins")
            }
            pins.insert(pin)
        }
        guard !pins.isEmpty else { throw BadRealm("must not be empty", setting: "pins") }
        return .pinnedKeys(pins, authorities: authorities ?? [])
    }
}
