// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The JSON body of a check, without copies of the secrets that are not wiped.
enum CheckBody {
    /// The maximum length of a body that a server reads, in bytes; see docs/realm-api.md.
    static let maximumBytes = 32_768

    /// Returns the body; nil if no server reads it: a secret is not UTF-8, or contains NUL, or the body is too long.
    ///
    /// - Parameters:
    ///   - username: The user name.
    ///   - password: The password.
    ///   - codes: The answers to further questions.
    ///   - service: The service that the user signs in to.
    /// - Returns: The body or nil.
    static func make(username: Username, password: Secret, codes: [Secret], service: String) -> Secret? {
        guard ([password] + codes).allSatisfy(isUsable) else { return nil }
        let name = Secret(utf8: username.text)
        let serviceName = Secret(utf8: service)
        // An escape sequence has at most six bytes.
        let strings = [name, password, serviceName] + codes
        let capacity = strings.reduce(96) { $0 + 6 * $1.count + 3 }
        let body = Secret(capacity: capacity) { output in
            append("{\"username\":", to: &output)
            append(name, to: &output)
            append(",\"password\":", to: &output)
            append(password, to: &output)
            append(",\"service\":", to: &output)
            append(serviceName, to: &output)
            if !codes.isEmpty {
                append(",\"codes\":[", to: &output)
                for (index, code) in codes.enumerated() {
                    if index > 0 { output.append(UInt8(ascii: ",")) }
                    append(code, to: &output)
                }
                append("]", to: &output)
            }
            append("}", to: &output)
        }
        return body.count <= maximumBytes ? body : nil
    }

    private static func isUsable(_ secret: Secret) -> Bool {
        secret.withBytes { bytes in
            UTF8Text(validating: bytes) != nil && !bytes.indices.contains { bytes[$0] == 0 }
        }
    }

    private static func append(_ text: StaticString, to output: inout OutputSpan<UInt8>) {
        for byte in text.description.utf8 { output.append(byte) }
    }

    /// Appends a secret as a JSON string.
    private static func append(_ secret: Secret, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\""))
        secret.withBytes { bytes in
            for index in bytes.indices {
                let byte = bytes[index]
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    output.append(UInt8(ascii: "\\"))
                    output.append(byte)
                case 0..<0x20:
                    append("\\u00", to: &output)
                    for digit in [byte >> 4, byte & 15] {
                        output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                    }
                default: output.append(byte)
                }
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
