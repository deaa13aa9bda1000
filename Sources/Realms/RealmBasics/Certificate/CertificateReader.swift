// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import OpenSSLKit
internal import RealmKit

/// Reads the user of a certificate.
///
/// A certificate that can be read in more than one way is rejected. Names are never changed: they are neither cut nor
/// converted to another case or Unicode form.
struct CertificateReader: Sendable {
    let settings: CertificateSettings
    /// Nil if `name-from` is not `mapping`.
    let mapping: MappingFile?
    let clock: WallClock

    /// Reads the properties of the realm, or the options of the module in another realm, and the mapping file.
    init<Fault>(_ settings: Settings<Fault>) throws(Fault) {
        guard let clock = settings.services[WallClock.self] else {
            throw Fault("this program has no clock that checks certificates", setting: nil)
        }
        self.clock = clock
        self.settings = try CertificateSettings(settings)
        guard let path = self.settings.mappingFile else {
            mapping = nil
            return
        }
        mapping = try Result { () throws(FileFault) in try MappingFile(path, log: settings.services[RealmLog.self]) }
            .mapError { Fault($0.description, setting: "mapping-file") }.get()
    }

    /// Returns the user of a certificate in DER that TLS has verified; throws the reason why it is not accepted.
    func user(of der: [UInt8]) async throws(LoginFault) -> CertificateUser {
        let certificate: Certificate
        let contents: CertificateContents
        do throws(OpenSSLError) {
            certificate = try Certificate(der: der, context: "client certificate")
            contents = try certificate.contents()
        } catch {
            throw LoginFault(.unusableCredential, log: "the client certificate cannot be read: \(error)")
        }
        try checkValidity(of: certificate)
        guard !settings.requiresClientAuthentication || contents.isForClientAuthentication else {
            let log = "the certificate is not for client authentication (extended key usage)"
            throw LoginFault(.permissionDenied, log: log)
        }
        guard settings.issuers.accepts(certificate.issuer) else {
            throw LoginFault(.permissionDenied, log: "the issuer is not accepted: \(certificate.issuer)")
        }
        // All parts are checked, because the subject identifies the certificate in log lines and in mapping files.
        let subject = try SubjectNames(contents.subject)
        let name: String
        var groups = settings.groupParts.flatMap { subject.values(of: $0) }
        switch settings.nameSource {
        case .subject:
            name = certificate.subject
            guard !name.isEmpty else { throw LoginFault(.unusableCredential, log: "the subject is empty") }
        case .commonName: name = try Self.single(subject.values(of: .commonName), called: "common name")
        case .email: name = try Self.only(contents.emails, called: "mail address", hasDomain: true)
        case .upn: name = try Self.only(contents.userPrincipalNames, called: "user principal name", hasDomain: true)
        case .uri: name = try Self.only(contents.uris, called: "URI")
        case .dns: name = try Self.only(contents.dnsNames, called: "DNS name")
        case .mapping:
            guard let entry = await mapping?.current()[certificate] else {
                throw LoginFault(.unknownUser, log: "the mapping file has no entry for the certificate")
            }
            name = entry.user.text
            groups = entry.groups + groups
        }
        guard settings.issuers.allows(name, of: certificate.issuer, isHost: settings.nameSource == .dns) else {
            let log = "the issuer may not name users of this domain: \(certificate.issuer)"
            throw LoginFault(.permissionDenied, log: log)
        }
        return CertificateUser(username: try Self.username(name), groups: groups, attributes: Self.attributes(contents))
    }

    /// Checks the validity again: the certificate may have expired since the handshake.
    private func checkValidity(of certificate: Certificate) throws(LoginFault) {
        do throws(OpenSSLError) {
            try certificate.checkValidity(at: Int64(clock.seconds))
        } catch {
            let state = error.code == .certificateExpired ? "has expired" : "is not valid yet"
            throw LoginFault(.credentialExpired, log: "the certificate \(state)")
        }
    }

    private static func username(_ text: String) throws(LoginFault) -> Username {
        try Result { () throws(BadUsername) in try Username(text) }
            .mapError { LoginFault(.unusableCredential, log: "the name in the certificate is no user name: \($0)") }
            .get()
    }

    private static func single<Value>(_ values: [Value], called kind: String) throws(LoginFault) -> Value {
        guard let value = values.first else {
            throw LoginFault(.unusableCredential, log: "the certificate has no \(kind)")
        }
        guard values.count == 1 else {
            throw LoginFault(.unusableCredential, log: "the certificate has \(values.count) values for the \(kind)")
        }
        return value
    }

    private static func only(
        _ texts: [CertificateText],
        called kind: String,
        hasDomain: Bool = false
    ) throws(LoginFault) -> String {
        let text = try SubjectNames.text(try single(texts, called: kind), called: kind)
        if hasDomain {
            // CVE-2026-40574: a name with two @ has two domains.
            let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw LoginFault(.unusableCredential, log: "the \(kind) does not have exactly one @")
            }
        }
        return text
    }

    /// Returns the attribute `mail` with the mail addresses of the certificate, if all of them are usable.
    private static func attributes(_ contents: CertificateContents) -> [UserAttribute] {
        var addresses: [String] = []
        for email in contents.emails {
            guard case .text(let text) = email else { return [] }
            addresses.append(text)
        }
        guard !addresses.isEmpty else { return [] }
        // An address that is too long for an attribute is no reason to reject the user.
        return (try? UserAttribute(name: UserAttribute.mail, values: addresses)).map { [$0] } ?? []
    }
}

struct CertificateUser: Sendable {
    let username: Username
    var groups: [String] = []
    var attributes: [UserAttribute] = []
}

/// The parts of a subject, all of them usable texts.
struct SubjectNames: Sendable {
    private let parts: [(identifier: String, text: String)]

    /// Throws if a relative distinguished name has several parts, or a text cannot be used.
    init(_ parts: [CertificateContents.NamePart]) throws(LoginFault) {
        var checked: [(identifier: String, text: String)] = []
        for part in parts {
            guard !part.isMultiValued else {
                throw LoginFault(.unusableCredential, log: "the subject has a part with several values (+)")
            }
            let text = try Self.text(part.value, called: "part \(part.identifier) of the subject")
            checked.append((part.identifier, text))
        }
        self.parts = checked
    }

    /// In the order of the certificate.
    func values(of type: NamePartType) -> [String] {
        parts.filter { $0.identifier.utf8.elementsEqual(type.identifier.utf8) }.map(\.text)
    }

    /// Throws the reason why a text cannot be used.
    static func text(_ text: CertificateText, called kind: String) throws(LoginFault) -> String {
        switch text {
        case .text(let text): return text
        case .unusable(let reason): throw LoginFault(.unusableCredential, log: "the \(kind) \(reason)")
        }
    }
}
