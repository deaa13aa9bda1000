// SPDX-License-Identifier: Apache-2.0

/// The form in which subjects and issuers of certificates are compared: that of RFC 2253, as OpenSSL writes it.
enum SubjectForm {
    /// The types of parts as OpenSSL writes them, by other spellings in lower case.
    private static let types = [
        "cn": "CN", "c": "C", "l": "L", "st": "ST", "s": "ST", "o": "O", "ou": "OU", "dc": "DC", "uid": "UID",
        "sn": "SN",
        "gn": "GN", "givenname": "GN", "street": "street", "title": "title", "serialnumber": "serialNumber",
        "emailaddress": "emailAddress", "email": "emailAddress", "e": "emailAddress",
    ]

    /// Returns the reason why no certificate has a name that is written so; nil if one may have it.
    static func problem(of text: String) -> String? {
        var isEscaped = false
        let parts = text.utf8.split(omittingEmptySubsequences: false) { byte in
            defer { isEscaped = byte == UInt8(ascii: "\\") && !isEscaped }
            return !isEscaped && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "+"))
        }
        for part in parts {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else {
                return "a part has no =; the form is CN=ann,O=Town"
            }
            let type = String(decoding: part[..<equals], as: UTF8.self)
            if type.utf8.first == UInt8(ascii: " ") { return "there is no blank between the parts: CN=ann,O=Town" }
            if type.utf8.first == UInt8(ascii: "/") { return "the form is not that with slashes, but CN=ann,O=Town" }
            if let written = types[type.lowercased()], !written.utf8.elementsEqual(type.utf8) {
                return "\(type) is written \(written)"
            }
        }
        return nil
    }
}
