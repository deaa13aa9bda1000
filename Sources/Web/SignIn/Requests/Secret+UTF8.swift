// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

extension Secret {
    /// The bytes as text; nil if they are not UTF-8.
    ///
    /// The text is a copy whose memory is not wiped.
    var utf8Text: UTF8Text? { withBytes { UTF8Text(validating: $0) } }

    /// The secret without ASCII spaces: many applications show a one-time code as `314 159`.
    var withoutSpaces: Secret {
        let bytes = withBytes { bytes in bytes.indices.map { bytes[$0] }.filter { $0 != UInt8(ascii: " ") } }
        return Secret(bytes)
    }

    /// True if the bytes are UTF-8.
    ///
    /// The check does not copy the bytes.
    var isUTF8: Bool {
        withBytes { bytes in
            do throws(UTF8.ValidationError) {
                _ = try UTF8Span(validating: bytes)
                return true
            } catch {
                return false
            }
        }
    }
}
