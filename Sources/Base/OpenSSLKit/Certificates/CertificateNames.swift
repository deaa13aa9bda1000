// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import COpenSSL

/// The readable names of a certificate's subjectAltName extension (RFC 5280 4.2.1.6).
struct SubjectAlternativeNames {
    private(set) var dnsNames: [CertificateText] = []
    private(set) var emails: [CertificateText] = []
    private(set) var uris: [CertificateText] = []
    private(set) var userPrincipalNames: [CertificateText] = []
    private(set) var ipAddresses: [String] = []
    /// The DNS names as they are written, without names with a zero byte: attackers have used zero bytes to make a name
    /// look like another.
    private(set) var hosts: [String] = []

    /// Microsoft's szOID_NT_PRINCIPAL_NAME.
    private static let principalName = "1.3.6.1.4.1.311.20.2.3"

    init(of x509: OpaquePointer, context: String) throws(OpenSSLError) {
        let place = unsafe X509_get_ext_by_NID(x509, NID_subject_alt_name, -1)
        guard place >= 0 else { return }
        guard unsafe X509_get_ext_by_NID(x509, NID_subject_alt_name, place) < 0,
            let data = unsafe X509_EXTENSION_get_data(X509_get_ext(x509, place))
        else { throw .draining(.malformedCertificate, context: context) }
        let first = unsafe ASN1_STRING_get0_data(data)
        let count = Int(unsafe ASN1_STRING_length(data))
        var end = unsafe first
        guard let names = unsafe d2i_GENERAL_NAMES(nil, &end, count) else {
            throw .draining(.malformedCertificate, context: context)
        }
        defer { unsafe GENERAL_NAMES_free(names) }
        // X509_get_ext_d2i ignores bytes after the names.
        guard unsafe end == first.map({ unsafe $0 + count }) else {
            throw .draining(.malformedCertificate, context: context)
        }
        for index in 0..<(unsafe gatehouse_sk_GENERAL_NAME_num(names)) {
            if let name = unsafe gatehouse_sk_GENERAL_NAME_value(names, index) { unsafe add(name) }
        }
    }

    private mutating func add(_ name: UnsafeMutablePointer<GENERAL_NAME>) {
        var type: Int32 = 0
        guard let value = unsafe GENERAL_NAME_get0_value(name, &type) else { return }
        guard type != GEN_OTHERNAME else { return unsafe addPrincipalName(name) }
        guard [GEN_DNS, GEN_EMAIL, GEN_URI, GEN_IPADD].contains(type) else { return }
        let string = unsafe value.assumingMemoryBound(to: ASN1_STRING.self)
        let content = unsafe bytes(of: string)
        switch type {
        case GEN_DNS:
            dnsNames.append(unsafe CertificateText(string))
            if !content.contains(0) { hosts.append(String(decoding: content, as: UTF8.self)) }
        case GEN_EMAIL: emails.append(unsafe CertificateText(string))
        case GEN_URI: uris.append(unsafe CertificateText(string))
        default: if let address = Self.address(content) { ipAddresses.append(address) }
        }
    }

    private mutating func addPrincipalName(_ name: UnsafeMutablePointer<GENERAL_NAME>) {
        var type: OpaquePointer?
        var value: UnsafeMutablePointer<ASN1_TYPE>?
        guard unsafe GENERAL_NAME_get0_otherName(name, &type, &value) == 1,
            unsafe identifier(of: type) == Self.principalName
        else { return }
        let string = unsafe gatehouse_ASN1_TYPE_utf8(value)
        userPrincipalNames.append(unsafe string.map { unsafe CertificateText($0) } ?? .unusable("is not a UTF8String"))
    }

    /// Formats four or sixteen bytes as an IP address; unlike RFC 5952, it does not shorten groups of zeros.
    private static func address(_ bytes: [UInt8]) -> String? {
        switch bytes.count {
        case 4:
            bytes.map { String($0) }.joined(separator: ".")
        case 16:
            stride(from: 0, to: 16, by: 2)
                .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
                .joined(separator: ":")
        default:
            nil
        }
    }
}

/// Returns the bytes of an ASN.1 string.
func bytes(of string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
    let count = Int(unsafe ASN1_STRING_length(string))
    return unsafe Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: count))
}

/// Returns an object identifier as numbers with dots; empty if it is too long.
func identifier(of object: OpaquePointer?) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    let count = unsafe OBJ_obj2txt(&buffer, Int32(buffer.count), object, 1)
    guard count > 0, count < buffer.count else { return "" }
    return String(decoding: buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The syntax of host names (RFC 952, RFC 1123 2.1) and their lengths (RFC 1035 2.3.4).
///
/// If a name has several labels, the first label may be `*`.
enum DNSName {
    static func isValid(_ name: String) -> Bool {
        guard (1...253).contains(name.utf8.count) else { return false }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.enumerated().allSatisfy { index, label in
            if index == 0 && labels.count > 1 && label.elementsEqual("*".utf8) { return true }
            return (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                && label.last != UInt8(ascii: "-") && label.allSatisfy(isLetterDigitHyphen)
        }
    }

    private static func isLetterDigitHyphen(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "-")
    }
}
