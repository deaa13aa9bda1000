// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

extension Secret {
    /// The bytes as text, in memory that is not wiped; nil if they are not UTF-8.
    var utf8Text: String? {
        withBytes { bytes in
            do throws(UTF8.ValidationError) {
                return String(copying: try UTF8Span(validating: bytes))
            } catch {
                return nil
            }
        }
    }

    /// Whether the bytes are UTF-8; no copy is made to find out.
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
