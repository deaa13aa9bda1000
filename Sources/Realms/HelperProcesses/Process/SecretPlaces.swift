// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// Finds the secrets of a login in what a helper has written, so that they are not logged.
package enum SecretPlaces {
    /// Finds all places of secrets, also across lines: a password may contain a line feed.
    ///
    /// - Parameters:
    ///   - secrets: The secrets; an empty one is nowhere.
    ///   - bytes: The bytes that a helper has written.
    /// - Returns: The places, in no order.
    package static func places(of secrets: [Secret], in bytes: [UInt8]) -> [Range<Int>] {
        var places: [Range<Int>] = []
        for secret in secrets where !secret.isEmpty && secret.count <= bytes.count {
            for start in 0...(bytes.count - secret.count) where isPlace(start, of: secret, in: bytes) {
                places.append(start..<(start + secret.count))
            }
        }
        return places
    }

    private static func isPlace(_ start: Int, of secret: Secret, in bytes: [UInt8]) -> Bool {
        secret.withBytes { wanted in
            for index in wanted.indices where bytes[start + index] != wanted[index] { return false }
            return true
        }
    }
}
