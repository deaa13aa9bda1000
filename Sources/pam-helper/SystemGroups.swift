// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if PAM
internal import Glibc
internal import PAMMessages

/// The groups of the system's users.
enum SystemGroups {
    /// The maximum length of an entry of a user or a group, in bytes.
    private static let maximumEntry = 1 << 24

    /// Finds the names of a user's groups.
    ///
    /// A group that has a number but no name is left out, and one whose name is too long or not UTF-8.
    ///
    /// - Parameter user: The user's name.
    /// - Returns: The result, and the names if the user is known.
    static func names(of user: String) -> (GroupsAnswer, [[UInt8]]) {
        var group: gid_t = 0
        switch findGroup(of: user, number: &group) {
        case 0: break
        case let error: return (isMissing(error) ? .unknownUser : .unavailable, [])
        }
        var count = Int32(PAMMessage.maximumGroups)
        var numbers = [gid_t](repeating: 0, count: Int(count))
        let status = unsafe getgrouplist(user, group, &numbers, &count)
        // With more groups than the limit the first ones are given.
        let found = numbers.prefix(status < 0 ? numbers.count : Int(count))
        var names: [[UInt8]] = []
        var total = 0
        for number in found {
            var name: [UInt8] = []
            let error = findName(ofGroup: number, name: &name)
            if isMissing(error) { continue }
            guard error == 0 else { return (.unavailable, []) }
            guard name.count <= PAMMessage.maximumText, String(validating: name, as: UTF8.self) != nil else { continue }
            total += name.count + 4
            guard total < PAMMessage.maximumBody / 2 else { break }
            if !names.contains(name) { names.append(name) }
        }
        return (.known, names)
    }

    /// Returns whether an error of a look-up means that there is no such entry; getpwnam(3) lists the numbers.
    private static func isMissing(_ error: Int32) -> Bool {
        error == ENOENT || error == ESRCH || error == EBADF || error == EPERM
    }

    /// Finds the first group of a user.
    ///
    /// - Parameters:
    ///   - user: The user's name.
    ///   - number: Gets the number of the group.
    /// - Returns: 0, ENOENT if there is no such user, or another errno.
    private static func findGroup(of user: String, number: inout gid_t) -> Int32 {
        var size = 4096
        while true {
            var entry = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            var buffer = [CChar](repeating: 0, count: size)
            let error = unsafe getpwnam_r(user, &entry, &buffer, size, &found)
            if error == ERANGE, size < maximumEntry {
                size *= 4
                continue
            }
            guard error == 0 else { return error }
            guard unsafe found != nil else { return ENOENT }
            number = unsafe entry.pw_gid
            return 0
        }
    }

    /// Finds the name of a group.
    ///
    /// - Parameters:
    ///   - group: The number of the group.
    ///   - name: Gets the name.
    /// - Returns: 0, ENOENT if there is no such group, or another errno.
    private static func findName(ofGroup group: gid_t, name: inout [UInt8]) -> Int32 {
        var size = 4096
        while true {
            var entry = unsafe Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe buffer.deallocate() }
            let error = unsafe getgrgid_r(group, &entry, buffer, size, &found)
            if error == ERANGE, size < maximumEntry {
                size *= 4
                continue
            }
            guard error == 0 else { return error }
            guard unsafe found != nil, let text = unsafe entry.gr_name else { return ENOENT }
            name = unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
            return 0
        }
    }
}
#endif
