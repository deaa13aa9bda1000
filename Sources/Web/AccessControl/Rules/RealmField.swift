// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import RealmKit

/// The realms of a rule and its choice of `when-unavailable`, as the beginning of a message of the credential cache.
///
/// Users of a later realm who were accepted because an earlier one was unavailable must not be accepted where no further
/// realm is used. So both are in the message.
struct RealmField: Sendable {
    /// The longest field that is used as it is; a longer one is replaced by its digest.
    private static let maximumCount = 256

    let bytes: [UInt8]

    init(_ realms: [String], _ whenUnavailable: WhenUnavailable) {
        var bytes: [UInt8] = []
        func append(_ number: Int) {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        append(realms.count)
        append(whenUnavailable == .stop ? 1 : 0)
        for realm in realms {
            append(realm.utf8.count)
            bytes += realm.utf8
        }
        if bytes.count > Self.maximumCount {
            do throws(OpenSSLError) {
                // No number of realms is negative, so a digest is never read as a list.
                bytes = try [UInt8](repeating: 0xFF, count: 8) + Digest.sha256(bytes).bytes
            } catch {
                // The list as it is works too; it only takes longer.
            }
        }
        self.bytes = bytes
    }
}
