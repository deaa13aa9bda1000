// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A user of the system that helpers run as, with the groups of this user.
package struct HelperAccount: Sendable, Hashable {
    /// The user's name.
    package let name: String
    let user: uid_t
    let group: gid_t
    let groups: [gid_t]

    /// Finds a user of the system.
    ///
    /// - Parameter name: The user's name.
    /// - Throws: ``HelperFault`` with code `unusableAccount` if there is no such user, or this program must not change to it.
    package init(_ name: String) throws(HelperFault) {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16384)
        let status = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        guard status == 0, unsafe found != nil else {
            throw HelperFault(.unusableAccount, "the system has no user \(name)")
        }
        self.name = name
        (user, group) = unsafe (entry.pw_uid, entry.pw_gid)
        var count: Int32 = 256
        var groups = [gid_t](repeating: 0, count: Int(count))
        guard unsafe getgrouplist(name, group, &groups, &count) >= 0 else {
            throw HelperFault(.unusableAccount, "the user \(name) has more than 256 groups")
        }
        self.groups = Array(groups.prefix(Int(count)))
        guard geteuid() == 0 || geteuid() == user else {
            throw HelperFault(
                .unusableAccount,
                "only a program that runs as root can start a helper as another user, such as \(name)"
            )
        }
    }

    /// True if the helper must change its user.
    var isOther: Bool { geteuid() == 0 && user != 0 }

    /// True if this program runs as root.
    package static var isRoot: Bool { geteuid() == 0 }
}
