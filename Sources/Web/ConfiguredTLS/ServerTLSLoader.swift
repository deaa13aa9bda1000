// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit

/// Reads the parts of a server's TLS from its settings and the files that they name.
struct ServerTLSLoader {
    let settings: ServerSettings
    let files: ConfigurationFiles
    let clock: WallClock

    var reader: TLSFileReader { TLSFileReader(files: files) }

    /// The present time, in seconds since 1970-01-01 00:00 UTC.
    var now: Int64 { Int64(clock.seconds) }

    /// Returns the configured certificate, or the development certificate, which is created if there is none.
    func certificate() throws(ConfigurationErrors) -> ServerCertificate {
        if let configured = try ServerCertificate.configured(settings, files: files) { return configured }
        let made = try DevelopmentCertificate.load(settings, files: files, now: now)
        return ServerCertificate(made, in: settings.stateFolder.value)
    }

    func parameters() throws(ConfigurationErrors) -> TLSParameters {
        let tls = settings.tls
        var parameters = TLSParameters.intermediate
        if let names = tls.ciphers {
            parameters.ciphers = try known(names, as: "TLS 1.2 cipher suite", if: TLSParameters.knows(cipher:))
        }
        if let names = tls.ciphersuites {
            parameters.ciphersuites = try known(
                names,
                as: "TLS 1.3 cipher suite",
                if: TLSParameters.knows(ciphersuite:)
            )
        }
        if let names = tls.groups { parameters.groups = try known(names, as: "group", if: TLSParameters.knows(group:)) }
        return parameters
    }

    private func known(
        _ names: [Located<String>],
        as kind: String,
        if isKnown: (String) -> Bool
    ) throws(ConfigurationErrors) -> [String] {
        for (index, name) in names.enumerated() {
            guard isKnown(name.value) else {
                let hint =
                    "separate names by blanks, and spell them as OpenSSL does; openssl ciphers -s -v lists suites, "
                    + "P-256, X25519 and the like are groups"
                throw name.errors("OpenSSL does not support the \(kind) \(name.value)", hint: hint)
            }
            guard !names[..<index].contains(where: { $0.value == name.value }) else {
                throw name.errors("\(name.value) occurs twice")
            }
        }
        return names.map(\.value)
    }

    /// Returns the keys of the configured files, or generated keys: the earlier ones, if there are any.
    func ticketKeys(earlier: SessionTicketKeys?) throws(ConfigurationErrors) -> SessionTicketKeys? {
        guard settings.tls.sessionTickets else { return nil }
        guard let first = settings.tls.ticketKeyFiles.first else {
            // Only generated keys are kept: an attacker may have got the files of keys that are configured no more.
            if let earlier, earlier.rotation != nil { return earlier }
            return try settings.stateFolder.reporting("ticket keys cannot be created: ") { () throws(OpenSSLError) in
                try SessionTicketKeys(now: { [clock] in Int64(clock.seconds) })
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
        return try first.reporting { () throws(OpenSSLError) in try SessionTicketKeys(files: keys) }
    }

    /// Returns the policy for client certificates, nil if they are not requested, and warns about expired lists.
    func policy(warnings: inout [Diagnostic]) throws(ConfigurationErrors) -> ClientCertificatePolicy? {
        let lists = try reader.revocationLists(settings.tls)
        guard let policy = try reader.clientCertificatePolicy(settings.tls, revocationLists: lists.map(\.list)) else {
            return nil
        }
        for (file, list) in lists {
            guard let end = list.nextUpdate, end < now else { continue }
            let message = "revocation list of \(list.issuer) in \(file.value) has expired"
            warnings.append(file.warning("\(message): certificates of this issuer are rejected"))
        }
        return policy
    }
}

extension Located {
    /// Calls OpenSSL, and throws its error at this place.
    func reporting<Made>(
        _ problem: String = "",
        of body: () throws(OpenSSLError) -> Made
    ) throws(ConfigurationErrors) -> Made {
        do {
            return try body()
        } catch {
            throw errors("\(problem)\(error)")
        }
    }
}
