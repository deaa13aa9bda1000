// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
        let count = Int(unsafe ASN1_STRING_length(string))
        let bytes = unsafe Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: count))
        self.init(bytes, type: unsafe ASN1_STRING_type(string))
    }

    private init(_ bytes: [UInt8], type: Int32) {
        switch type {
        case V_ASN1_UTF8STRING: break
        case V_ASN1_PRINTABLESTRING, V_ASN1_IA5STRING, V_ASN1_NUMERICSTRING, V_ASN1_VISIBLESTRING:
            guard bytes.allSatisfy({ $0 < 0x80 }) else {
                self = .unusable("is not ASCII")
                return
            }
        default:
            self = .unusable("is of an ASN.1 type that is not UTF-8 or ASCII (type \(type))")
            return
        }
        guard !bytes.isEmpty else {
            self = .unusable("is empty")
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self = .unusable("is not UTF-8")
            return
        }
        guard !text.unicodeScalars.contains(where: Self.isControl) else {
            self = .unusable("contains a control character")
            return
        }
        let ends = [text.unicodeScalars.first, text.unicodeScalars.last]
        let hasWhiteSpace = ends.contains { $0?.properties.isWhitespace == true }
        self = hasWhiteSpace ? .unusable("begins or ends with white space") : .text(text)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        default: false
        }
    }
}
