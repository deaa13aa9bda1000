// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The names of a certificate's subjectAltName extension (RFC 5280 4.2.1.6): DNS names and IP addresses.
struct SubjectAlternativeNames {
    private(set) var dnsNames: [String] = []
    private(set) var ipAddresses: [String] = []

    init(of x509: OpaquePointer, context: String) throws(OpenSSLError) {
        try unsafe GeneralNames.forEach(in: x509, context: context) { type, value, _ throws(OpenSSLError) in
            if type == GEN_DNS {
                let text = unsafe bytes(of: value.assumingMemoryBound(to: ASN1_STRING.self))
                // A name with a zero byte is left out. Attackers have used zero bytes to make a name look like another.
                if !text.contains(0) { dnsNames.append(String(decoding: text, as: UTF8.self)) }
            } else if type == GEN_IPADD {
                let address = unsafe bytes(of: value.assumingMemoryBound(to: ASN1_STRING.self))
                if let text = Self.address(address) { ipAddresses.append(text) }
            }
        }
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

/// The general names in a certificate's subjectAltName extension (RFC 5280 4.2.1.6).
enum GeneralNames {
    /// Calls `body` with the type, such as `GEN_DNS`, the value and the whole of each readable name, valid in the call.
    static func forEach(
        in x509: OpaquePointer,
        context: String,
        _ body: (Int32, UnsafeMutableRawPointer, UnsafeMutablePointer<GENERAL_NAME>) throws(OpenSSLError) -> Void
    ) throws(OpenSSLError) {
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
            var type: Int32 = 0
            guard let name = unsafe gatehouse_sk_GENERAL_NAME_value(names, index),
                let value = unsafe GENERAL_NAME_get0_value(name, &type)
            else { continue }
            try unsafe body(type, value, name)
        }
    }
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
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
