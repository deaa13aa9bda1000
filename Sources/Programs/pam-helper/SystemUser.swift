// SPDX-License-Identifier: Apache-2.0

#if PAM
internal import Glibc
internal import PAMMessages

/// The full name and the groups of a user of the system.
struct SystemUser {
    /// The maximum length of an entry of a user or a group, in bytes.
    private static let maximumEntry = 1 << 24

    private var fullName: [UInt8] = []
    private var groups: [[UInt8]] = []

    func append(to writer: inout MessageWriter) {
        writer.append(text: fullName)
        for group in groups { writer.append(text: group) }
    }

    /// Finds a user; a group without a name, or whose name is too long or not UTF-8, is left out.
    static func find(_ user: String) -> (UserAnswer, SystemUser) {
        var found = SystemUser()
        var group: gid_t = 0
        switch findGroup(of: user, number: &group, fullName: &found.fullName) {
        case 0: break
        case let error: return (isMissing(error) ? .unknownUser : .unavailable, SystemUser())
        }
        var count = Int32(PAMMessage.maximumGroups)
        var numbers = [gid_t](repeating: 0, count: Int(count))
        let status = unsafe getgrouplist(user, group, &numbers, &count)
        // With more groups than the limit the first ones are given.
        let first = numbers.prefix(status < 0 ? numbers.count : Int(count))
        var total = 0
        for number in first {
            var name: [UInt8] = []
            let error = findName(ofGroup: number, name: &name)
            if isMissing(error) { continue }
            guard error == 0 else { return (.unavailable, SystemUser()) }
            guard name.count <= PAMMessage.maximumText, String(validating: name, as: UTF8.self) != nil else { continue }
            total += name.count + 4
            guard total < PAMMessage.maximumBody / 2 else { break }
            if !found.groups.contains(name) { found.groups.append(name) }
        }
        return (.known, found)
    }

    /// Returns whether an error of a look-up means that there is no such entry; getpwnam(3) lists the numbers.
    private static func isMissing(_ error: Int32) -> Bool {
        error == ENOENT || error == ESRCH || error == EBADF || error == EPERM
    }

    /// Finds the first group of a user, and the full name in the first part of the field GECOS, before rooms and telephone
    /// numbers; returns 0, ENOENT if there is no such user, or another errno.
    private static func findGroup(of user: String, number: inout gid_t, fullName: inout [UInt8]) -> Int32 {
        unsafe withBuffer { buffer, size in
            var entry = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            let error = unsafe getpwnam_r(user, &entry, buffer, size, &found)
            guard error == 0 else { return error }
            guard unsafe found != nil else { return ENOENT }
            number = unsafe entry.pw_gid
            if let gecos = unsafe entry.pw_gecos {
                let part = unsafe bytes(of: gecos).prefix { $0 != UInt8(ascii: ",") }
                fullName = part.count > PAMMessage.maximumText ? [] : Array(part)
            }
            return 0
        }
    }

    /// Finds the name of a group; returns 0, ENOENT if there is no such group, or another errno.
    private static func findName(ofGroup group: gid_t, name: inout [UInt8]) -> Int32 {
        unsafe withBuffer { buffer, size in
            var entry = unsafe Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            let error = unsafe getgrgid_r(group, &entry, buffer, size, &found)
            guard error == 0 else { return error }
            guard unsafe found != nil, let text = unsafe entry.gr_name else { return ENOENT }
            name = unsafe bytes(of: text)
            return 0
        }
    }

    /// Calls a look-up with more memory for its entry as long as it needs more.
    private static func withBuffer(_ lookUp: (UnsafeMutablePointer<CChar>, Int) -> Int32) -> Int32 {
        var size = 4096
        while true {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe buffer.deallocate() }
            let error = unsafe lookUp(buffer, size)
            guard error == ERANGE, size < maximumEntry else { return error }
            size *= 4
        }
    }

    private static func bytes(of text: UnsafeMutablePointer<CChar>) -> [UInt8] {
        unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
    }
}
#endif
