// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import LoginConf
package import OpenSSLKit
public import RealmConfiguration

/// The loaded TLS settings of a server: certificates, ticket keys and the policy for client certificates.
///
/// If a part is invalid, loading fails. For a reload, call ``reloaded(_:files:)`` and use the result for new
/// connections. TLS sessions can be resumed after a reload, because generated ticket keys are kept.
public struct ServerTLS: Sendable {
    /// The default certificate.
    ///
    /// It is presented if the client requests a host without a `host` block, or no host.
    public let certificate: ServerCertificate
    /// The certificates of the `host` blocks, in order.
    public let hostCertificates: [ServerCertificate]
    /// The problems that do not prevent the server from running.
    ///
    /// A certificate, revocation list or OCSP response may have expired, or the certificate of a `host` block may not
    /// be valid for a name of the block.
    public let warnings: [String]
    /// The context of new connections.
    package let context: TLSContext
    let ticketKeys: SessionTicketKeys?
    private let applicationProtocols: [String]

    /// The time at which the first of all certificates expires, in seconds since 1970-01-01 00:00 UTC.
    package var firstExpiry: Int64 {
        hostCertificates.map(\.identity.leaf.notAfter).reduce(certificate.identity.leaf.notAfter) { min($0, $1) }
    }

    /// Reads the files that the settings name, and checks all TLS settings.
    ///
    /// If no certificate is configured, the stored development certificate is used, or a new one is created.
    ///
    /// - Parameters:
    ///   - settings: The server's settings.
    ///   - files: The source of the files.
    ///   - applicationProtocols: The protocols over TLS (RFC 7301). The preferred protocol is the first.
    /// - Returns: The loaded settings.
    /// - Throws: ``ConfigurationErrors`` at the setting whose file or value cannot be used.
    public static func load(
        _ settings: ServerSettings,
        files: ConfigurationFiles,
        applicationProtocols: [String] = ["http/1.1"]
    ) throws(ConfigurationErrors) -> ServerTLS {
        try ServerTLS(settings, files, certificate(settings, files), applicationProtocols, earlier: nil)
    }

    /// Loads new settings as ``load(_:files:applicationProtocols:)`` does, and keeps the generated ticket keys.
    ///
    /// If the settings name ticket key files, the keys are read from the files instead.
    public func reloaded(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerTLS {
        let certificate = try Self.certificate(settings, files)
        return try ServerTLS(settings, files, certificate, applicationProtocols, earlier: ticketKeys)
    }

    /// Checks the settings as ``load(_:files:applicationProtocols:)`` does, but writes no files.
    ///
    /// - Parameters:
    ///   - settings: The server's settings.
    ///   - files: The source of the files.
    /// - Returns: The loaded settings; nil if the next start will create a development certificate.
    /// - Throws: ``ConfigurationErrors`` at the setting whose file or value cannot be used.
    public static func check(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerTLS? {
        let configured = try ServerCertificate.configured(settings, files: files)
        if let known = configured ?? DevelopmentCertificate.existing(settings, files: files) {
            return try ServerTLS(settings, files, known, ["http/1.1"], earlier: nil)
        }
        // A temporary certificate is used to check the other settings.
        let made: TLSIdentity
        do throws(OpenSSLError) {
            made = try DevelopmentCertificate.makeIdentity()
        } catch {
            throw settings.stateFolder.errors("the development certificate cannot be created: \(error)")
        }
        let certificate = ServerCertificate(made, file: settings.stateFolder.value, isDevelopment: true)
        _ = try ServerTLS(settings, files, certificate, ["http/1.1"], earlier: nil)
        return nil
    }

    private static func certificate(
        _ settings: ServerSettings,
        _ files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerCertificate {
        if let configured = try ServerCertificate.configured(settings, files: files) { return configured }
        return try DevelopmentCertificate.load(settings, files: files)
    }

    private init(
        _ settings: ServerSettings,
        _ files: ConfigurationFiles,
        _ certificate: ServerCertificate,
        _ applicationProtocols: [String],
        earlier: SessionTicketKeys?
    ) throws(ConfigurationErrors) {
        let tls = settings.tls
        let reader = TLSFileReader(files: files)
        var warnings = [certificate.warning].compactMap { $0 }
        var configuration = TLSConfiguration.server(
            certificate.identity,
            minimumVersion: tls.minimumVersion == .tls13 ? .tls13 : .tls12,
            applicationProtocols: applicationProtocols
        )
        configuration.parameters = try Self.parameters(tls)
        configuration.sessionTickets = try Self.ticketKeys(settings, reader, earlier)
        configuration.sessionScope = "gatehouse"
        configuration.clientCertificates = try Self.policy(tls, reader, &warnings)
        var hosts: [ServerCertificate] = []
        for host in tls.hosts {
            let shown = try ServerCertificate(host.files, reader)
            warnings += [shown.warning].compactMap { $0 }
            for name in host.names where !shown.isFor(name.value) {
                warnings.append("certificate \(shown.file) is not valid for \(name.value)")
            }
            // Each name is checked separately, so that an error is reported at its setting.
            for name in host.names {
                var alone = configuration
                alone.hosts = [TLSHost(names: [name.value], identity: shown.identity)]
                do throws(OpenSSLError) { _ = try TLSContext(alone) } catch { throw name.errors("\(error)") }
            }
            configuration.hosts.append(TLSHost(names: host.names.map(\.value), identity: shown.identity))
            hosts.append(shown)
        }
        do throws(OpenSSLError) {
            context = try TLSContext(configuration)
        } catch {
            throw (tls.files?.certificate ?? settings.stateFolder).errors("TLS cannot be set up: \(error)")
        }
        self.certificate = certificate
        self.applicationProtocols = applicationProtocols
        self.warnings = warnings
        hostCertificates = hosts
        ticketKeys = configuration.sessionTickets
    }

    private static func parameters(_ tls: TLSSettings) throws(ConfigurationErrors) -> TLSParameters {
        var parameters = TLSParameters.intermediate
        if let names = tls.ciphers {
            parameters.ciphers = try known(names, "TLS 1.2 cipher suite", TLSParameters.knows(cipher:))
        }
        if let names = tls.ciphersuites {
            parameters.ciphersuites = try known(names, "TLS 1.3 cipher suite", TLSParameters.knows(ciphersuite:))
        }
        if let names = tls.groups { parameters.groups = try known(names, "group", TLSParameters.knows(group:)) }
        return parameters
    }

    private static func known(
        _ names: [Located<String>],
        _ kind: String,
        _ isKnown: (String) -> Bool
    ) throws(ConfigurationErrors) -> [String] {
        for (index, name) in names.enumerated() {
            guard isKnown(name.value) else {
                let hint =
                    "separate names by blanks, and spell them as OpenSSL does; openssl ciphers -s -v lists suites, "
                    + "openssl ecparam -list_curves lists groups"
                throw name.errors("OpenSSL does not support the \(kind) \(name.value)", hint: hint)
            }
            guard !names[..<index].contains(where: { $0.value == name.value }) else {
                throw name.errors("\(name.value) occurs twice")
            }
        }
        return names.map(\.value)
    }

    private static func ticketKeys(
        _ settings: ServerSettings,
        _ reader: TLSFileReader,
        _ earlier: SessionTicketKeys?
    ) throws(ConfigurationErrors) -> SessionTicketKeys? {
        guard settings.tls.sessionTickets else { return nil }
        guard let first = settings.tls.ticketKeyFiles.first else {
            // Only generated keys are kept. Keys of files that are no longer configured are dropped, because an
            // attacker may have obtained the files.
            if let earlier, earlier.rotation != nil { return earlier }
            do throws(OpenSSLError) {
                return try SessionTicketKeys(now: { ServerCertificate.now })
            } catch {
                throw settings.stateFolder.errors("ticket keys cannot be created: \(error)")
            }
        }
        var keys: [[UInt8]] = []
        for file in settings.tls.ticketKeyFiles {
            keys.append(
                try reader.parse(file) { bytes throws(OpenSSLError) in
                    // Each key is first checked separately, so that an error is reported at its setting.
                    _ = try SessionTicketKeys(files: [bytes])
                    return bytes
                }
            )
        }
        do throws(OpenSSLError) {
            return try SessionTicketKeys(files: keys)
        } catch {
            throw first.errors("\(error)")
        }
    }

    private static func policy(
        _ tls: TLSSettings,
        _ reader: TLSFileReader,
        _ warnings: inout [String]
    ) throws(ConfigurationErrors) -> ClientCertificatePolicy? {
        let lists = try reader.revocationLists(tls)
        guard let policy = try reader.clientCertificatePolicy(tls, revocationLists: lists.map(\.list)) else {
            return nil
        }
        for (file, list) in lists {
            guard let end = list.nextUpdate, end < ServerCertificate.now else { continue }
            warnings.append(
                "revocation list of \(list.issuer) in \(file) has expired: certificates of this issuer are rejected"
            )
        }
        for authority in policy.authorities {
            do throws(OpenSSLError) {
                try authority.checkValidity(at: ServerCertificate.now)
            } catch {
                warnings.append("\(error)")
            }
        }
        return policy
    }
}
