// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The names of a certificate's subjectAltName extension (RFC 5280 4.2.1.6): DNS names and IP addresses.
struct SubjectAlternativeNames {
    private(set) var dnsNames: [String] = []
    private(set) var ipAddresses: [String] = []

    /// Reads the names of a certificate.
    ///
    /// Without the extension there are no names.
    init(of x509: OpaquePointer, context: String) throws(OpenSSLError) {
        try unsafe GeneralNames.forEach(in: x509, context: context) { type, value, _ throws(OpenSSLError) in
            if type == GEN_DNS {
                let text = unsafe Self.bytes(of: value.assumingMemoryBound(to: ASN1_STRING.self))
                // A name with a zero byte is left out. Attackers have used zero bytes to make a name look like another.
                if !text.contains(0) { dnsNames.append(String(decoding: text, as: UTF8.self)) }
            } else if type == GEN_IPADD {
                let address = unsafe Self.bytes(of: value.assumingMemoryBound(to: ASN1_STRING.self))
                if let text = Self.address(address) { ipAddresses.append(text) }
            }
        }
    }

    private static func bytes(of string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        let count = Int(unsafe ASN1_STRING_length(string))
        return unsafe Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: count))
    }

    /// Formats four or sixteen bytes as an IP address.
    ///
    /// Unlike RFC 5952, the function does not shorten groups of zeros.
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
