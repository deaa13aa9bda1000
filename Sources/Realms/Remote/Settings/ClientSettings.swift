// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPSClient
internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections

/// Creates the HTTPS client of a realm from its properties.
enum ClientSettings {
    static func client(_ properties: RealmProperties) throws(BadRealm) -> HTTPSClient {
        var configuration = HTTPSClientConfiguration(trust: try trust(properties))
        configuration.identity = try identity(properties)
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
            properties.has("ca-file") ? try certificates(try properties.string("ca-file"), setting: "ca-file") : nil
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

    private static func certificates(_ path: String, setting: String) throws(BadRealm) -> [Certificate] {
        let text = try SettingsFile.read(path, setting: setting)
        do throws(OpenSSLError) {
            return try text.withBytes { bytes throws(OpenSSLError) in try Certificate.chain(pem: bytes, name: path) }
        } catch {
            throw BadRealm("\(error)", setting: setting)
        }
    }

    private static func identity(_ properties: RealmProperties) throws(BadRealm) -> TLSIdentity? {
        guard properties.has("client-certificate") else {
            guard !properties.has("client-key") else {
                throw BadRealm("must be set together with client-key", setting: "client-certificate")
            }
            return nil
        }
        let chain = try certificates(try properties.string("client-certificate"), setting: "client-certificate")
        // One file may contain both.
        let name = properties.has("client-key") ? "client-key" : "client-certificate"
        let path = try properties.string(name)
        let text = try SettingsFile.read(path, setting: name, isPrivateKey: true)
        do throws(OpenSSLError) {
            let key = try text.withBytes { bytes throws(OpenSSLError) in try PrivateKey(pem: bytes, name: path) }
            return try TLSIdentity(certificateChain: chain, privateKey: key)
        } catch {
            throw BadRealm("\(error)", setting: name)
        }
    }
}
