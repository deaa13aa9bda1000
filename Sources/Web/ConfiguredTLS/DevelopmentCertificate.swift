// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration

/// The certificate of a server whose administrator has not configured a certificate, and the authority that issues it.
///
/// Both are for `localhost`, `127.0.0.1` and `::1`, and are stored in the state folder. Proxies trust the authority,
/// which is valid for ten years. The certificate is valid for a year; 60 days before it expires, it is replaced by one
/// of the same authority with the same key. If one of them is not valid yet, the clock is behind, as before its
/// synchronization, and both stay.
///
/// Older versions have made a self-signed certificate, and proxies trust a copy of it. It is used until the last day of
/// its validity. Until then the file of the authority contains it too, so that the copies can be replaced before.
struct DevelopmentCertificate {
    static let certificateName = "development-certificate.pem"
    static let authorityName = "development-authority.pem"
    private static let keyName = "development-key.pem"
    private static let authorityKeyName = "development-authority-key.pem"

    private static let day: Int64 = 86_400

    let identity: TLSIdentity
    /// Nil if an older version has made the certificate, and this version has not yet made an authority.
    let authority: Certificate?
    /// True if an older version has made the certificate.
    let isSelfSigned: Bool

    private init(_ identity: TLSIdentity, authority: Certificate?) throws(OpenSSLError) {
        self.identity = identity
        self.authority = authority
        isSelfSigned = try identity.leaf.isIssued(by: identity.leaf)
    }

    func isDue(at now: Int64) -> Bool {
        let end = identity.leaf.notAfter
        if isSelfSigned { return authority == nil || end < now + Self.day }
        return end < now + Self.day || end < now + 60 * Self.day && end < authority?.notAfter ?? 0
    }

    /// Returns the stored certificate; if there is none, or it has to be replaced, a new one.
    static func load(
        _ settings: ServerSettings,
        files: ConfigurationFiles,
        now: Int64
    ) throws(ConfigurationErrors) -> DevelopmentCertificate {
        do throws(StateFolder.Fault) {
            let folder = try StateFolder(settings.stateFolder.value)
            let kept = existing(in: folder.path, files: files, now: now)
            if let kept, !kept.isDue(at: now) { return kept }
            return try make(in: folder, replacing: kept, files: files, now: now)
        } catch {
            throw settings.stateFolder.errors("the state folder cannot be used: \(error.reason)")
        }
    }

    /// Returns the stored certificate; nil if it cannot be read, has expired, or has another authority.
    static func existing(in folder: String, files: ConfigurationFiles, now: Int64) -> DevelopmentCertificate? {
        guard let identity = identity(certificateName, key: keyName, in: folder, files: files) else { return nil }
        do throws(OpenSSLError) {
            guard now <= identity.leaf.notAfter else { return nil }
            let found = try DevelopmentCertificate(identity, authority: authority(in: folder, files: files))
            guard let authority = found.authority, !found.isSelfSigned else { return found.isSelfSigned ? found : nil }
            guard now <= authority.notAfter else { return nil }
            return try identity.leaf.isIssued(by: authority) ? found : nil
        } catch {
            return nil
        }
    }

    private static func authority(in folder: String, files: ConfigurationFiles) throws(OpenSSLError) -> Certificate? {
        guard case .success(let bytes) = files.read("\(folder)/\(authorityName)") else { return nil }
        return try Certificate.chain(pem: bytes, name: authorityName)[0]
    }

    private static func identity(
        _ certificateName: String,
        key keyName: String,
        in folder: String,
        files: ConfigurationFiles
    ) -> TLSIdentity? {
        guard case .success(let certificate) = files.read("\(folder)/\(certificateName)"),
            case .success(let key) = files.read("\(folder)/\(keyName)")
        else { return nil }
        return try? TLSIdentity(
            certificateChain: [Certificate.chain(pem: certificate, name: certificateName)[0]],
            privateKey: PrivateKey(pem: key, name: keyName)
        )
    }

    /// Creates a certificate and its authority, and stores neither.
    static func temporary(now: Int64) throws(OpenSSLError) -> DevelopmentCertificate {
        let authority = try LocalhostAuthority.make(validFor: 1, now: now)
        return try issue(by: authority, for: PrivateKey.makeP256(), now: now)
    }

    private static func issue(
        by authority: TLSIdentity,
        for key: PrivateKey,
        now: Int64
    ) throws(OpenSSLError) -> DevelopmentCertificate {
        let leaf = try LocalhostAuthority.issue(for: key, by: authority, until: now + 365 * day, now: now)
        return try DevelopmentCertificate(
            TLSIdentity(certificateChain: [leaf], privateKey: key),
            authority: authority.leaf
        )
    }

    private static func make(
        in folder: StateFolder,
        replacing kept: DevelopmentCertificate?,
        files: ConfigurationFiles,
        now: Int64
    ) throws(StateFolder.Fault) -> DevelopmentCertificate {
        let made: DevelopmentCertificate
        let authority: TLSIdentity
        var texts: [String: String] = [:]
        do throws(OpenSSLError) {
            let stored = identity(authorityName, key: authorityKeyName, in: folder.path, files: files)
            if let stored, stored.leaf.notAfter > now + 2 * day {
                authority = stored
            } else {
                authority = try LocalhostAuthority.make(validFor: 3650, now: now)
            }
            texts[authorityName] = try authority.leaf.pem()
            if let kept, kept.isSelfSigned, kept.identity.leaf.notAfter >= now + day {
                made = try DevelopmentCertificate(kept.identity, authority: authority.leaf)
                texts[authorityName, default: ""] += try kept.identity.leaf.pem()
            } else {
                // With the same key, programs that have pinned it go on trusting the server.
                let older = identity(certificateName, key: keyName, in: folder.path, files: files)?.privateKey
                let key = if let older { older } else { try PrivateKey.makeP256() }
                made = try issue(by: authority, for: key, now: max(now, authority.leaf.notBefore))
                texts[certificateName] = try made.identity.leaf.pem() + authority.leaf.pem()
            }
        } catch {
            throw StateFolder.Fault(reason: "the development certificate cannot be created: \(error)")
        }
        // The keys come first: a certificate without its key is replaced at the next start.
        try write(authority.privateKey, to: authorityKeyName, in: folder)
        try write(made.identity.privateKey, to: keyName, in: folder)
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            try folder.write(Array(text.utf8), to: name, mode: 0o644)
        }
        return made
    }

    private static func write(_ key: PrivateKey, to name: String, in folder: StateFolder) throws(StateFolder.Fault) {
        var text: [UInt8] = []
        defer { for index in text.indices { text[index] = 0 } }
        do throws(OpenSSLError) {
            text = try key.withPEM { span in span.indices.map { span[$0] } }
        } catch {
            throw StateFolder.Fault(reason: "the key of the development certificate cannot be written: \(error)")
        }
        try folder.write(text, to: name, mode: 0o600)
    }
}
