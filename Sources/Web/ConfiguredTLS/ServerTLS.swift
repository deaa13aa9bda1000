// SPDX-License-Identifier: Apache-2.0

public import LoginConf
package import OpenSSLKit
public import RealmConfiguration
public import RealmKit

/// The loaded TLS settings of a server: certificates, ticket keys and the policy for client certificates.
///
/// If a part is invalid, loading fails. For a reload, call ``reloaded(_:files:)`` and use the result for new
/// connections. TLS sessions can be resumed after a reload, because generated ticket keys are kept.
public struct ServerTLS: Sendable {
    /// The default certificate, for a client that requests a host without a `host` block, or no host.
    public private(set) var certificate: ServerCertificate
    /// The certificates of the `host` blocks, in order.
    public let hostCertificates: [ServerCertificate]
    /// The problems that do not prevent the server from running, at the places that name the files.
    ///
    /// A revocation list or an OCSP response may have expired, or the certificate of a `host` block may not be valid
    /// for a name of the block. For the dates of certificates see ``ExpiringCertificates``.
    public private(set) var warnings: [Diagnostic]
    package private(set) var context: TLSContext
    let ticketKeys: SessionTicketKeys?
    private let applicationProtocols: [String]
    private let clock: WallClock

    /// The time at which the first of all certificates expires, in seconds since 1970-01-01 00:00 UTC.
    package var firstExpiry: Int64 {
        hostCertificates.map(\.identity.leaf.notAfter).reduce(certificate.identity.leaf.notAfter) { min($0, $1) }
    }

    /// Reads the files that the settings name, and checks all TLS settings.
    ///
    /// If no certificate is configured, the stored development certificate is used, or a new one is created. The preferred
    /// protocol over TLS (RFC 7301) is the first. An error is thrown at the setting whose file or value cannot be used.
    public static func load(
        _ settings: ServerSettings,
        files: ConfigurationFiles,
        clock: WallClock,
        applicationProtocols: [String] = ["http/1.1"]
    ) throws(ConfigurationErrors) -> ServerTLS {
        let loader = ServerTLSLoader(settings: settings, files: files, clock: clock)
        return try ServerTLS(
            loader,
            certificate: try loader.certificate(),
            applicationProtocols: applicationProtocols,
            earlierKeys: nil
        )
    }

    /// Loads new settings as ``load(_:files:clock:applicationProtocols:)`` does, and keeps the generated ticket keys.
    ///
    /// If the settings name ticket key files, the keys are read from the files instead.
    public func reloaded(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerTLS {
        let loader = ServerTLSLoader(settings: settings, files: files, clock: clock)
        return try ServerTLS(
            loader,
            certificate: try loader.certificate(),
            applicationProtocols: applicationProtocols,
            earlierKeys: ticketKeys
        )
    }

    /// True if the development certificate has to be replaced, which ``renewed(_:files:)`` does.
    package var isRenewalDue: Bool {
        certificate.development?.isDue(at: Int64(clock.seconds)) ?? false
    }

    /// Returns the loaded settings with another development certificate; no other file is read again.
    package func renewed(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerTLS {
        var renewed = self
        renewed.certificate = try ServerTLSLoader(settings: settings, files: files, clock: clock).certificate()
        if let text = certificate.warning(at: Int64(clock.seconds)) {
            let warning = settings.stateFolder.warning(text)
            renewed.warnings.removeAll { $0 == warning }
        }
        var configuration = context.configuration
        configuration.role = .server(renewed.certificate.identity)
        renewed.context = try settings.stateFolder.reporting("TLS cannot be set up: ") { () throws(OpenSSLError) in
            try TLSContext(configuration)
        }
        return renewed
    }

    /// Checks the settings as ``load(_:files:clock:applicationProtocols:)`` does, but writes no files.
    ///
    /// - Returns: The loaded settings, nil if the next start will create a development certificate; and the warnings.
    /// - Throws: ``ConfigurationErrors`` at the setting whose file or value cannot be used, or whose certificate has
    ///   expired. A server starts with such a certificate, because some clients do not check the date.
    public static func check(
        _ settings: ServerSettings,
        files: ConfigurationFiles,
        clock: WallClock
    ) throws(ConfigurationErrors) -> (tls: ServerTLS?, warnings: [Diagnostic]) {
        let now = Int64(clock.seconds)
        let folder = settings.stateFolder.value
        let configured = try ServerCertificate.configured(settings, files: files)
        let development = configured == nil ? DevelopmentCertificate.existing(in: folder, files: files, now: now) : nil
        let known = configured ?? development.map { ServerCertificate($0, in: folder) }
        // Without one, the other settings are checked with a temporary certificate.
        let problem = "the development certificate cannot be created: "
        let used = try settings.stateFolder.reporting(problem) { () throws(OpenSSLError) in
            if let known {
                known
            } else {
                ServerCertificate(try DevelopmentCertificate.temporary(now: now), in: folder)
            }
        }
        let loader = ServerTLSLoader(settings: settings, files: files, clock: clock)
        let tls = try ServerTLS(loader, certificate: used, applicationProtocols: ["http/1.1"], earlierKeys: nil)
        let places = [settings.tls.files].compactMap(\.self) + settings.tls.hosts.map(\.files)
        for (place, checked) in zip(places, [configured].compactMap(\.self) + tls.hostCertificates)
        where checked.identity.leaf.notAfter < now {
            let text = ExpiringCertificates.warning(checked.identity.leaf, "in \(checked.file)", at: clock)
            throw place.certificate.errors(text ?? "the certificate has expired")
        }
        return (known == nil ? nil : tls, tls.warnings)
    }

    private init(
        _ loader: ServerTLSLoader,
        certificate: ServerCertificate,
        applicationProtocols: [String],
        earlierKeys: SessionTicketKeys?
    ) throws(ConfigurationErrors) {
        let (tls, now) = (loader.settings.tls, loader.now)
        let place = tls.files?.certificate ?? loader.settings.stateFolder
        var warnings = [certificate.warning(at: now)].compactMap { $0.map { place.warning($0) } }
        var configuration = TLSConfiguration.server(
            certificate.identity,
            minimumVersion: tls.minimumVersion == .tls13 ? .tls13 : .tls12,
            applicationProtocols: applicationProtocols
        )
        configuration.parameters = try loader.parameters()
        configuration.sessionTickets = try loader.ticketKeys(earlier: earlierKeys)
        configuration.sessionScope = "gatehouse"
        configuration.clientCertificates = try loader.policy(warnings: &warnings)
        var hosts: [ServerCertificate] = []
        for host in tls.hosts {
            let hostCertificate = try ServerCertificate(host.files, reader: loader.reader)
            warnings += [hostCertificate.warning(at: now)].compactMap { $0.map { host.files.certificate.warning($0) } }
            for name in host.names where !hostCertificate.isFor(name.value) {
                warnings.append(name.warning("certificate \(hostCertificate.file) is not valid for \(name.value)"))
            }
            // Each name is checked separately, so that an error is reported at its setting.
            for name in host.names {
                var alone = configuration
                alone.hosts = [TLSHost(names: [name.value], identity: hostCertificate.identity)]
                _ = try name.reporting { () throws(OpenSSLError) in try TLSContext(alone) }
            }
            configuration.hosts.append(TLSHost(names: host.names.map(\.value), identity: hostCertificate.identity))
            hosts.append(hostCertificate)
        }
        context = try place.reporting("TLS cannot be set up: ") { () throws(OpenSSLError) in
            try TLSContext(configuration)
        }
        self.certificate = certificate
        self.applicationProtocols = applicationProtocols
        clock = loader.clock
        self.warnings = warnings
        hostCertificates = hosts
        ticketKeys = configuration.sessionTickets
    }
}
