// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import RealmKit

/// The parts of a subject, all of them usable texts.
struct SubjectNames: Sendable {
    private let parts: [(identifier: String, text: String)]

    /// Checks all parts of a subject.
    ///
    /// - Throws: ``LoginFault`` if a relative distinguished name has several parts, or a text cannot be used.
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

    /// Returns the values of a type, in the order of the certificate.
    func values(of type: NamePartType) -> [String] {
        parts.filter { $0.identifier.utf8.elementsEqual(type.identifier.utf8) }.map(\.text)
    }

    /// Returns the only value of a type.
    func only(_ type: NamePartType, called kind: String) throws(LoginFault) -> String {
        let values = values(of: type)
        guard let value = values.first else {
            throw LoginFault(.unusableCredential, log: "the certificate has no \(kind)")
        }
        guard values.count == 1 else {
            throw LoginFault(.unusableCredential, log: "the certificate has \(values.count) values for the \(kind)")
        }
        return value
    }

    /// Returns a text of the certificate, or throws the reason why it cannot be used.
    static func text(_ text: CertificateText, called kind: String) throws(LoginFault) -> String {
        switch text {
        case .text(let text): return text
        case .unusable(let reason): throw LoginFault(.unusableCredential, log: "the \(kind) \(reason)")
        }
    }
}
