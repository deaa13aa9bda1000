// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The JSON body of a check, without copies of the secrets that are not wiped.
enum CheckRequestBody {
    /// Returns the body; nil if no server reads it: a secret is not UTF-8, or contains NUL, or the body is too long.
    static func make(username: Username, password: Secret, codes: [Secret], service: String) -> Secret? {
        let secrets = [password] + codes
        guard secrets.allSatisfy({ secret in secret.withBytes { $0.isUTF8 && !$0.containsNUL } }) else { return nil }
        let name = Secret(utf8: username.text)
        let serviceName = Secret(utf8: service)
        let strings = [name, password, serviceName] + codes
        let capacity = strings.reduce(96) { $0 + JSONEscapes.capacity(for: $1.count) + 1 }
        let body = Secret(capacity: capacity) { output in
            append("{\"username\":", name, to: &output)
            append(",\"password\":", password, to: &output)
            append(",\"service\":", serviceName, to: &output)
            for (index, code) in codes.enumerated() { append(index == 0 ? ",\"codes\":[" : ",", code, to: &output) }
            for byte in (codes.isEmpty ? "}" : "]}").utf8 { output.append(byte) }
        }
        return body.count <= APIRequestBody.maximumBytes ? body : nil
    }

    private static func append(_ text: String, _ secret: Secret, to output: inout OutputSpan<UInt8>) {
        for byte in text.utf8 { output.append(byte) }
        secret.withBytes { JSONEscapes.required.append($0, to: &output) }
    }
}
