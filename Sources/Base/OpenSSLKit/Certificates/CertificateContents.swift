// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The contents of a certificate from which a user name can be taken: the subject and the alternative names.
public struct CertificateContents: Sendable {
    /// A part of a distinguished name, such as `CN=ann`.
    public struct NamePart: Sendable {
        /// The object identifier of the attribute type, such as `2.5.4.3` for CN.
        public let identifier: String
        /// The value.
        public let value: CertificateText
        /// True if the relative distinguished name has further parts, as in `CN=ann+UID=7`.
        public let isMultiValued: Bool
    }

    /// The parts of the subject, in the order of the certificate: usually the country first and the name last.
    public let subject: [NamePart]
    /// The mail addresses of subjectAltName (rfc822Name).
    public let emails: [CertificateText]
    /// The user principal names of subjectAltName: otherName with the type 1.3.6.1.4.1.311.20.2.3 of Microsoft.
    public let userPrincipalNames: [CertificateText]
    /// The URIs of subjectAltName.
    public let uris: [CertificateText]
    /// The DNS names of subjectAltName.
    public let dnsNames: [CertificateText]
    /// The serial number in hexadecimal digits, with a minus sign if it is negative.
    public let serialNumber: String
    /// True if the certificate has the extension extKeyUsage and the extension contains clientAuth (RFC 5280 4.2.1.12).
    public let isForClientAuthentication: Bool
}

extension Certificate {
    /// Reads the names in the certificate.
    ///
    /// - Throws: ``OpenSSLError`` with code `malformedCertificate` if an extension is malformed or occurs twice.
    public func contents() throws(OpenSSLError) -> CertificateContents {
        ErrorQueue.clear()
        return try unsafe withX509 { x509 throws(OpenSSLError) in
            let context = "certificate \(subject)"
            let flags = unsafe X509_get_extension_flags(x509)
            guard flags & UInt32(EXFLAG_INVALID) == 0 else { throw .draining(.malformedCertificate, context: context) }
            let hasUsage = flags & UInt32(EXFLAG_XKUSAGE) != 0
            let usage = unsafe X509_get_extended_key_usage(x509)
            let names = try unsafe SubjectAlternativeNames(of: x509, context: context)
            return CertificateContents(
                subject: try unsafe Self.parts(of: X509_get_subject_name(x509), context: context),
                emails: names.emails,
                userPrincipalNames: names.userPrincipalNames,
                uris: names.uris,
                dnsNames: names.dnsNames,
                serialNumber: try unsafe Self.digits(of: X509_get0_serialNumber(x509), context: context),
                isForClientAuthentication: hasUsage && usage & UInt32(XKU_SSL_CLIENT) != 0
            )
        }
    }

    private static func parts(
        of name: OpaquePointer?,
        context: String
    ) throws(OpenSSLError) -> [CertificateContents.NamePart] {
        let count = unsafe X509_NAME_entry_count(name)
        var found: [(identifier: String, value: CertificateText, set: Int32)] = []
        for index in 0..<max(0, count) {
            guard let entry = unsafe X509_NAME_get_entry(name, index),
                let value = unsafe X509_NAME_ENTRY_get_data(entry)
            else { throw .draining(.malformedCertificate, context: context) }
            let identifier = unsafe identifier(of: X509_NAME_ENTRY_get_object(entry))
            found.append((identifier, unsafe CertificateText(value), unsafe X509_NAME_ENTRY_set(entry)))
        }
        return found.map { part in
            let isMultiValued = found.count { $0.set == part.set } > 1
            return .init(identifier: part.identifier, value: part.value, isMultiValued: isMultiValued)
        }
    }

    private static func digits(
        of number: UnsafePointer<ASN1_INTEGER>?,
        context: String
    ) throws(OpenSSLError) -> String {
        guard let number = unsafe number, let value = unsafe ASN1_INTEGER_to_BN(number, nil) else {
            throw .draining(.malformedCertificate, context: context)
        }
        defer { unsafe BN_free(value) }
        guard let digits = unsafe BN_bn2hex(value) else { throw .failed(context) }
        defer { unsafe gatehouse_OPENSSL_free(digits) }
        return unsafe String(cString: digits)
    }
}

/// A text of a certificate, or the reason why it cannot be used as a name.
///
/// A text is used only if all programs read it in the same way: it is UTF-8 or ASCII, it is not empty, it contains no
/// control characters, and it neither begins nor ends with white space. A zero byte, for example, ends the text for
/// some programs and not for others, and some programs remove blanks at the ends. The text is never changed.
public enum CertificateText: Sendable, Hashable {
    /// The text as it is in the certificate.
    case text(String)
    /// The reason why the text cannot be used, such as "contains a control character".
    case unusable(String)

    /// Reads an ASN.1 string.
    init(_ string: UnsafePointer<ASN1_STRING>) {
        self = Self.read(unsafe bytes(of: string), type: unsafe ASN1_STRING_type(string))
    }

    private static func read(_ bytes: [UInt8], type: Int32) -> CertificateText {
        switch type {
        case V_ASN1_UTF8STRING: break
        case V_ASN1_PRINTABLESTRING, V_ASN1_IA5STRING, V_ASN1_NUMERICSTRING, V_ASN1_VISIBLESTRING:
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return .unusable("is not ASCII") }
        default: return .unusable("is of an ASN.1 type that is not UTF-8 or ASCII (type \(type))")
        }
        guard !bytes.isEmpty else { return .unusable("is empty") }
        guard let text = String(validating: bytes, as: UTF8.self) else { return .unusable("is not UTF-8") }
        guard !text.unicodeScalars.contains(where: isControl) else { return .unusable("contains a control character") }
        let ends = [text.unicodeScalars.first, text.unicodeScalars.last]
        let hasWhiteSpace = ends.contains { $0?.properties.isWhitespace == true }
        return hasWhiteSpace ? .unusable("begins or ends with white space") : .text(text)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        default: false
        }
    }
}
