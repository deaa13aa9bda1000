// SPDX-License-Identifier: Apache-2.0

package import LibC

/// The file at the end of a path, and the folders and symbolic links on the way to it, the first of which is `/`.
struct FileWay {
    struct Place {
        let path: String
        let status: FileStatus
    }

    /// The number of links after which Linux gives up (path_resolution(7)).
    private static let maximumLinks = 40

    private(set) var folders: [Place] = []
    /// Nil if it is missing.
    private(set) var file: Place?

    init(to path: String) {
        var rest = Self.parts(path)
        if !path.hasPrefix("/"), let folder = FilePath.current { rest = Self.parts(folder) + rest }
        var folder: [Substring] = []
        var links = 0
        // The way ends where the system says nothing of a place.
        if let status = try? FileStatus(ofLink: "/") { folders.append(Place(path: "/", status: status)) }
        while !rest.isEmpty {
            let part = rest.removeFirst()
            guard part != ".." else {
                _ = folder.popLast()
                continue
            }
            let place = "/" + (folder + [part]).joined(separator: "/")
            guard let status = try? FileStatus(ofLink: place) else { return }
            if !status.isLink, rest.isEmpty {
                file = Place(path: place, status: status)
                return
            }
            folders.append(Place(path: place, status: status))
            guard status.isLink else {
                folder.append(part)
                continue
            }
            links += 1
            guard links <= Self.maximumLinks, let target = Self.target(of: place) else { return }
            if target.hasPrefix("/") { folder = [] }
            rest = Self.parts(target) + rest
        }
    }

    private static func parts(_ path: String) -> [Substring] { path.split(separator: "/").filter { $0 != "." } }

    private static func target(of link: String) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(link, &text, text.count)
        return count > 0 ? String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}

/// The users and groups of the system.
package enum SystemAccount {
    /// Returns the name of a user; nil if the system has no user of the number.
    package static func name(_ user: uid_t) -> String? {
        var entry = unsafe passwd()
        var found = unsafe UnsafeMutablePointer<passwd>?.none
        var buffer = [CChar](repeating: 0, count: 16_384)
        let result = unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &found)
        guard result == 0, case .some = unsafe found, let name = unsafe entry.pw_name else { return nil }
        return unsafe String(cString: name)
    }

    /// Returns whether the group of a file has the name of the file's owner and no other members; false for root.
    static func isPrivateGroup(of status: FileStatus) -> Bool {
        guard status.owner != 0, let owner = name(status.owner) else { return false }
        var entry = unsafe group()
        var found = unsafe UnsafeMutablePointer<group>?.none
        var buffer = [CChar](repeating: 0, count: 16_384)
        let result = unsafe getgrgid_r(status.group, &entry, &buffer, buffer.count, &found)
        guard result == 0, case .some = unsafe found, let name = unsafe entry.gr_name,
            unsafe String(cString: name).utf8.elementsEqual(owner.utf8), var member = unsafe entry.gr_mem
        else { return false }
        while let text = unsafe member.pointee {
            guard unsafe String(cString: text).utf8.elementsEqual(owner.utf8) else { return false }
            unsafe member += 1
        }
        return true
    }
}
