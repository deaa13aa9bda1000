// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import RealmKit

/// The settings for names in certificates: properties of the realm, or options of the module in another realm.
struct CertificateSettings: Sendable {
    var nameSource = NameSource.subject
    /// The parts of the subject whose values become groups.
    var groupParts: [NamePartType] = []
    var issuers = IssuerRules(accepted: nil, domains: nil)
    var requiresClientAuthentication = true
    /// Nil if `name-from` is not `mapping`.
    var mappingFile: String?

    /// The properties of the realm, except `jaas-context`.
    static let properties: PropertySchema = [
        Property("name-from", .choice(NameSource.allCases.map(\.rawValue)), default: NameSource.subject.rawValue),
        Property("common-name-as-principal-name", .boolean, default: "false"),
        .optional("mapping-file", .path).naming(.users),
        Property("groups-from", .list, default: ""),
        Property("dn-parts-used-for-groups", .list, default: ""),
        .optional("issuers", .list),
        .optional("issuer-domains", .list),
        Property("require-extended-key-usage", .choice(["clientAuth", "none"]), default: "clientAuth"),
    ]

    /// The options of the module, without defaults, so that the module can see which ones are set.
    ///
    /// A list of distinguished names is one text here, because login.conf separates words at commas.
    static let options = PropertySchema(
        properties.properties.map { property in
            let isNames = property.name == "issuers" || property.name == "issuer-domains"
            return .optional(property.name, isNames ? .string : property.kind)
        }
    )

    /// Reads properties of ``properties`` or options of ``options``; throws if they contradict each other.
    init<Fault>(_ settings: Settings<Fault>) throws(Fault) {
        let commonName = "common-name-as-principal-name"
        let isCommonName = settings.has(commonName) ? try settings.boolean(commonName) : false
        let words = try settings.optional("name-from")
        if let words, let source = NameSource(rawValue: words) { nameSource = source }
        if isCommonName {
            guard nameSource == .subject || nameSource == .commonName else {
                throw Fault("cannot be combined with name-from", setting: commonName)
            }
            nameSource = .commonName
        }
        if settings.has("mapping-file") {
            mappingFile = try settings.string("mapping-file")
            guard nameSource == .mapping else { throw Fault("needs name-from mapping", setting: "mapping-file") }
        } else if nameSource == .mapping {
            throw Fault("mapping needs a mapping-file", setting: "name-from")
        }
        groupParts = try Self.groupParts(settings)
        issuers = try Self.issuers(settings, nameSource: nameSource)
        if settings.has("require-extended-key-usage") {
            requiresClientAuthentication = try settings.string("require-extended-key-usage") == "clientAuth"
        }
    }

    private static func groupParts<Fault>(_ settings: Settings<Fault>) throws(Fault) -> [NamePartType] {
        var used: (name: String, words: [String])?
        for name in ["groups-from", "dn-parts-used-for-groups"] where settings.has(name) {
            // GlassFish separates the parts with commas.
            let words = try settings.list(name).flatMap { $0.split(separator: ",").map(String.init) }
            guard !words.isEmpty else { continue }
            guard used == nil else {
                throw Fault("has the same meaning as groups-from: set one of them", setting: name)
            }
            used = (name, words)
        }
        guard let used else { return [] }
        var parts: [NamePartType] = []
        for word in used.words {
            guard let part = NamePartType(word) else {
                throw Fault("names parts of a subject such as OU or 2.5.4.11, not \(word)", setting: used.name)
            }
            parts.append(part)
        }
        return parts
    }

    private static func issuers<Fault>(
        _ settings: Settings<Fault>,
        nameSource: NameSource
    ) throws(Fault) -> IssuerRules {
        let accepted = try texts("issuers", settings)
        if let accepted, accepted.contains("") || accepted.isEmpty {
            throw Fault("contains an empty name", setting: "issuers")
        }
        guard let entries = try texts("issuer-domains", settings) else {
            return IssuerRules(accepted: accepted, domains: nil)
        }
        switch nameSource {
        case .commonName, .email, .upn, .dns: break
        case .subject, .uri, .mapping:
            let reason = "a name from \(nameSource.rawValue) has no domain"
            throw Fault("needs name-from email, upn, dns or common-name: \(reason)", setting: "issuer-domains")
        }
        var domains: [(issuer: String, domain: String)] = []
        for text in entries {
            guard let entry = IssuerRules.entry(text) else {
                let example = "\"CN=Town CA,O=Town -> town.example\""
                throw Fault("has entries such as \(example), not \(text)", setting: "issuer-domains")
            }
            domains.append(entry)
        }
        guard !domains.isEmpty else { throw Fault("has no entry", setting: "issuer-domains") }
        return IssuerRules(accepted: accepted, domains: domains)
    }

    /// Returns the entries of a list: words in realms.conf, or texts separated by `|` in login.conf.
    private static func texts<Fault>(_ name: String, _ settings: Settings<Fault>) throws(Fault) -> [String]? {
        guard settings.has(name) else { return nil }
        guard Fault.self == BadModule.self else { return try settings.list(name) }
        return try settings.string(name).split(separator: "|", omittingEmptySubsequences: false)
            .map { IssuerRules.trimmed(Array($0.utf8)[...]) }
    }
}

/// The part of a certificate that contains the user name: the property `name-from`.
enum NameSource: String, Sendable, Hashable, CaseIterable {
    /// The whole subject in the form of RFC 2253.
    case subject
    /// The common name (CN) of the subject.
    case commonName = "common-name"
    /// The mail address of subjectAltName.
    case email
    /// The user principal name of subjectAltName.
    case upn
    /// The URI of subjectAltName.
    case uri
    /// The DNS name of subjectAltName.
    case dns
    /// The entry of the certificate in the mapping file.
    case mapping
}

/// A type of the parts of a distinguished name.
struct NamePartType: Sendable, Hashable {
    /// The object identifier, such as `2.5.4.11`.
    let identifier: String

    static let commonName = NamePartType(identifier: "2.5.4.3")

    /// RFC 4514 section 3, and the types that appear in certificates of people and are known by these names.
    private static let identifiers = [
        "CN": "2.5.4.3", "SN": "2.5.4.4", "SERIALNUMBER": "2.5.4.5", "C": "2.5.4.6", "L": "2.5.4.7", "ST": "2.5.4.8",
        "STREET": "2.5.4.9", "O": "2.5.4.10", "OU": "2.5.4.11", "T": "2.5.4.12", "TITLE": "2.5.4.12",
        "GIVENNAME": "2.5.4.42", "DC": "0.9.2342.19200300.100.1.25", "UID": "0.9.2342.19200300.100.1.1",
        "EMAILADDRESS": "1.2.840.113549.1.9.1",
    ]

    private init(identifier: String) { self.identifier = identifier }

    /// Reads a short name in any case, or an object identifier; nil if the text is neither.
    init?(_ text: String) {
        if let known = Self.identifiers[text.uppercased()] {
            identifier = known
            return
        }
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count > 1, numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isDigit) }) else {
            return nil
        }
        identifier = text
    }
}
