// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import LoginConf
package import OpenSSLKit
public import RealmConfiguration

/// Everything that a server's TLS is made of: certificates, ticket keys, what is asked of clients.
///
/// Made as a whole or not at all. To reload, make the next by ``reloaded(_:files:)`` and let new connections take its context;
/// sessions go on, as the ticket keys do.
public struct ServerTLS: Sendable {
    /// The certificate that is shown unless a host's is asked for.
    public let certificate: ServerCertificate
    /// The certificates of the `host` blocks, in their order.
    public let hostCertificates: [ServerCertificate]
    /// What is doubtful, though it works: certificates, lists and responses out of their time, names that do not fit.
    public let doubts: [String]
    /// What connections are made with.
    package let context: TLSContext
    let ticketKeys: SessionTicketKeys?
    private let applicationProtocols: [String]

    /// Reads the files and makes everything; makes a development certificate if none is configured and none is kept.
    ///
    /// - Parameters:
    ///   - settings: The server's settings.
    ///   - files: Where files come from.
    ///   - applicationProtocols: What is spoken over TLS, the preferred first (RFC 7301).
    /// - Returns: What connections are made with.
    /// - Throws: ``ConfigurationErrors`` at the place that names what cannot be used.
    public static func load(
        _ settings: ServerSettings,
        files: ConfigurationFiles,
        applicationProtocols: [String] = ["http/1.1"]
    ) throws(ConfigurationErrors) -> ServerTLS {
        try ServerTLS(settings, files, certificate(settings, files), applicationProtocols, earlier: nil)
    }

    /// Does what ``load(_:files:applicationProtocols:)`` does, with the ticket keys of before if none are configured.
    public func reloaded(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerTLS {
        let certificate = try Self.certificate(settings, files)
        return try ServerTLS(settings, files, certificate, applicationProtocols, earlier: ticketKeys)
    }

    /// Checks all that ``load(_:files:applicationProtocols:)`` does, and makes nothing.
    ///
    /// - Parameters:
    ///   - settings: The server's settings.
    ///   - files: Where files come from.
    /// - Returns: What connections would be made with; nil when the first start is to make a development certificate.
    /// - Throws: ``ConfigurationErrors`` at the place that names what cannot be used.
    public static func check(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerTLS? {
        let configured = try ServerCertificate.configured(settings, files: files)
        if let known = configured ?? DevelopmentCertificate.existing(settings, files: files) {
            return try ServerTLS(settings, files, known, ["http/1.1"], earlier: nil)
        }
        // Everything else can be wrong all the same.
        let made: TLSIdentity
        do throws(OpenSSLError) {
            made = try DevelopmentCertificate.identity()
        } catch {
            throw settings.stateFolder.errors("no certificate can be made: \(error)")
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
        let reader = TLSFiles(files: files)
        var doubts = [certificate.doubt].compactMap { $0 }
        var configuration = TLSConfiguration.server(
            certificate.identity,
            minimumVersion: tls.minimumVersion == .tls13 ? .tls13 : .tls12,
            applicationProtocols: applicationProtocols
        )
        configuration.parameters = try Self.parameters(tls)
        configuration.sessionTickets = try Self.ticketKeys(settings, reader, earlier)
        configuration.sessionScope = "gatehouse"
        configuration.clientCertificates = try Self.policy(tls, reader, &doubts)
        var hosts: [ServerCertificate] = []
        for host in tls.hosts {
            let shown = try ServerCertificate(host.files, reader)
            doubts += [shown.doubt].compactMap { $0 }
            for name in host.names where !shown.isFor(name.value) {
                doubts.append("certificate \(shown.file) is not for \(name.value)")
            }
            // Alone, so that what is wrong with a name is told at its place.
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
        self.doubts = doubts
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
        _ names: [Placed<String>],
        _ what: String,
        _ isKnown: (String) -> Bool
    ) throws(ConfigurationErrors) -> [String] {
        for (index, name) in names.enumerated() {
            guard isKnown(name.value) else {
                let hint =
                    "one name each, as OpenSSL spells it; openssl ciphers -s -v and openssl ecparam -list_curves list them"
                throw name.errors("OpenSSL takes no \(what) \(name.value)", hint: hint)
            }
            guard !names[..<index].contains(where: { $0.value == name.value }) else {
                throw name.errors("a second \(name.value)")
            }
        }
        return names.map(\.value)
    }

    private static func ticketKeys(
        _ settings: ServerSettings,
        _ reader: TLSFiles,
        _ earlier: SessionTicketKeys?
    ) throws(ConfigurationErrors) -> SessionTicketKeys? {
        guard settings.tls.sessionTickets else { return nil }
        guard let first = settings.tls.ticketKeyFiles.first else {
            // Keys of files do not stay when the files are taken out: they may be in other hands.
            if let earlier, earlier.rotation != nil { return earlier }
            do throws(OpenSSLError) {
                return try SessionTicketKeys(now: { ServerCertificate.now })
            } catch {
                throw settings.stateFolder.errors("ticket keys cannot be made: \(error)")
            }
        }
        var keys: [[UInt8]] = []
        for file in settings.tls.ticketKeyFiles {
            keys.append(
                try reader.parse(file) { bytes throws(OpenSSLError) in
                    // Each by itself first, to be told at its place.
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
        _ reader: TLSFiles,
        _ doubts: inout [String]
    ) throws(ConfigurationErrors) -> ClientCertificatePolicy? {
        let mode: ClientCertificatePolicy.Mode
        switch tls.clientCertificates {
        case .none: return nil
        case .optional: mode = .optional
        case .required: mode = .required
        }
        guard let file = tls.clientAuthorityFile else {
            preconditionFailure("client certificates without authorities are refused where they are read")
        }
        var lists: [RevocationList] = []
        for file in tls.clientRevocationFiles {
            let read = try reader.parse(file) { bytes throws(OpenSSLError) in
                try RevocationList.lists(pem: bytes, name: file.value)
            }
            for list in read {
                guard let end = list.nextUpdate, end < ServerCertificate.now else { continue }
                doubts.append(
                    "revocation list of \(list.issuer) in \(file.value) has run out: its certificates are refused"
                )
            }
            lists += read
        }
        let policy = try reader.parse(file) { bytes throws(OpenSSLError) in
            try ClientCertificatePolicy(
                mode: mode,
                authorities: try Certificate.chain(pem: bytes, name: file.value),
                revocationLists: lists,
                maximumDepth: tls.clientDepth
            )
        }
        for authority in policy.authorities {
            do throws(OpenSSLError) {
                try authority.checkValidity(at: ServerCertificate.now)
            } catch {
                doubts.append("\(error)")
            }
        }
        return policy
    }
}
