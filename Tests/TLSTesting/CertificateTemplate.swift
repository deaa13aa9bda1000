// SPDX-License-Identifier: Apache-2.0

/// A certificate with any contents, also malformed contents, for tests that do not verify its signature.
///
/// The `openssl` command cannot make most of these certificates. Key and signature are zero bytes.
public struct CertificateTemplate: Sendable {
    /// An ASN.1 string.
    public struct Text: Sendable {
        let tag: UInt8
        let bytes: [UInt8]

        /// A string with a tag of ASN.1, such as 0x0C for UTF8String.
        public init(tag: UInt8, bytes: [UInt8]) {
            self.tag = tag
            self.bytes = bytes
        }

        /// A UTF8String.
        public static func utf8(_ text: String) -> Text { Text(tag: 0x0C, bytes: Array(text.utf8)) }

        /// A PrintableString.
        public static func printable(_ text: String) -> Text { Text(tag: 0x13, bytes: Array(text.utf8)) }

        /// An IA5String.
        public static func ia5(_ text: String) -> Text { Text(tag: 0x16, bytes: Array(text.utf8)) }

        /// A TeletexString.
        public static func teletex(_ text: String) -> Text { Text(tag: 0x14, bytes: Array(text.utf8)) }

        /// A BMPString.
        public static func bmp(_ text: String) -> Text {
            Text(tag: 0x1E, bytes: text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] })
        }
    }

    /// A part of a distinguished name: the object identifier of the type, and the value.
    public typealias Part = (type: String, value: Text)

    /// The relative distinguished names of the subject; each has usually one part.
    public var subject: [[Part]] = [[("2.5.4.10", .utf8("Town"))], [("2.5.4.3", .utf8("ann"))]]
    /// The relative distinguished names of the issuer.
    public var issuer: [[Part]] = [[("2.5.4.10", .utf8("Town"))], [("2.5.4.3", .utf8("Town CA"))]]
    /// The validity period as GeneralizedTime.
    public var validity = ("20200101000000Z", "20990101000000Z")
    /// The object identifiers of extKeyUsage; nil for a certificate without the extension.
    public var usages: [String]? = ["1.3.6.1.5.5.7.3.2"]
    /// The alternative names with their context tags: 1 mail address, 2 DNS name, 6 URI.
    public var names: [(tag: UInt8, bytes: [UInt8])] = []
    /// The user principal names.
    public var principalNames: [Text] = []
    /// True for a certificate with two subjectAltName extensions.
    public var repeatsNames = false
    /// Bytes after the names in the subjectAltName extension.
    public var bytesAfterNames: [UInt8] = []

    /// A certificate of `CN=ann,O=Town` for client authentication, issued by `CN=Town CA,O=Town`.
    public init() {}

    /// The certificate in DER.
    public var der: [UInt8] {
        let algorithm = Self.sequence(Self.identifier("1.3.101.112"))
        var extensions: [[UInt8]] = []
        if let usages {
            extensions.append(Self.extension("2.5.29.37", Self.sequence(usages.flatMap(Self.identifier))))
        }
        if !names.isEmpty || !principalNames.isEmpty {
            let others = principalNames.flatMap(Self.principalName)
            let all = names.flatMap { Self.element(0x80 | $0.tag, $0.bytes) } + others
            let value = Self.sequence(all) + bytesAfterNames
            extensions += Array(repeating: Self.extension("2.5.29.17", value), count: repeatsNames ? 2 : 1)
        }
        let body =
            Self.element(0xA0, [0x02, 0x01, 0x02]) + [0x02, 0x01, 0x07] + algorithm + Self.name(issuer)
            + Self.sequence([validity.0, validity.1].flatMap { Self.element(0x18, Array($0.utf8)) })
            + Self.name(subject)
            + Self.sequence(algorithm + Self.element(0x03, [UInt8](repeating: 0, count: 33)))
            + (extensions.isEmpty ? [] : Self.element(0xA3, Self.sequence(extensions.flatMap(\.self))))
        return Self.sequence(
            Self.sequence(body) + algorithm + Self.element(0x03, [UInt8](repeating: 0, count: 65))
        )
    }

    private static func name(_ parts: [[Part]]) -> [UInt8] {
        sequence(
            parts.flatMap { set in
                element(0x31, set.flatMap { sequence(identifier($0.type) + element($0.value.tag, $0.value.bytes)) })
            }
        )
    }

    private static func principalName(_ text: Text) -> [UInt8] {
        element(0xA0, identifier("1.3.6.1.4.1.311.20.2.3") + element(0xA0, element(text.tag, text.bytes)))
    }

    private static func `extension`(_ type: String, _ value: [UInt8]) -> [UInt8] {
        sequence(identifier(type) + element(0x04, value))
    }

    private static func sequence(_ bytes: [UInt8]) -> [UInt8] { element(0x30, bytes) }

    private static func element(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        let count = bytes.count
        let length: [UInt8] =
            switch count {
            case 0..<0x80: [UInt8(count)]
            case 0x80..<0x100: [0x81, UInt8(count)]
            default: [0x82, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]
            }
        return [tag] + length + bytes
    }

    private static func identifier(_ text: String) -> [UInt8] {
        let numbers = text.split(separator: ".").compactMap { Int($0) }
        var bytes = [UInt8(numbers[0] * 40 + numbers[1])]
        for number in numbers.dropFirst(2) {
            var groups = [UInt8(number & 0x7F)]
            var rest = number >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            bytes += groups
        }
        return element(0x06, bytes)
    }
}
