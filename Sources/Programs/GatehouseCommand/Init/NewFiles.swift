// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import FoundationEssentials
internal import Glibc

struct NewFile: Sendable {
    let path: String
    let bytes: [UInt8]
    var mode: mode_t = 0o644
}

/// New files that are all written, or none of them; a file that exists is never opened.
struct NewFiles {
    enum Fault: Error {
        /// A file, folder or symbolic link of this name exists.
        case exists(String)
        case other(String)

        /// The fault of a system call.
        fileprivate init(_ path: String, _ error: SystemError) {
            self = error.number == EEXIST ? .exists(path) : .other("\(path): \(error)")
        }
    }

    private var made: [String] = []
    private var madeFolders: [String] = []

    /// Checks that no file exists, and that what exists of the folders above them are folders.
    static func check(_ paths: [String]) throws(Fault) {
        for path in paths {
            for folder in folders(above: path) where exists(folder) && !isFolder(folder) {
                throw .other("\(folder) is not a folder")
            }
            if exists(path) { throw .exists(path) }
        }
    }

    /// True if a file, a folder or a symbolic link exists, also one that leads nowhere.
    static func exists(_ path: String) -> Bool { (try? FileStatus(ofLink: path)) != nil }

    /// True if a path is a folder, or a symbolic link to one.
    static func isFolder(_ path: String) -> Bool { (try? FileStatus(of: path))?.isFolder == true }

    /// Writes new files, and makes the folders above them; after an error all that it has made is removed.
    mutating func write(_ files: [NewFile]) throws(Fault) {
        do throws(Fault) {
            try Self.check(files.map(\.path))
            for file in files {
                try makeFolders(above: file.path)
                let new = try SystemError.mapping(OpenFile(file.path, .new(file.mode))) { Fault(file.path, $0) }
                made.append(file.path)
                try SystemError.mapping(new.write(file.bytes)) { Fault(file.path, $0) }
            }
        } catch {
            remove()
            throw error
        }
    }

    /// Removes the files and folders that ``write(_:)`` has made.
    mutating func remove() {
        for path in made { unsafe unlink(path) }
        for folder in madeFolders.reversed() { unsafe rmdir(folder) }
        (made, madeFolders) = ([], [])
    }

    /// Removes a folder with its files, if it was made after this command began.
    static func removeFolder(_ path: String) {
        // An error says that it was not made, or cannot be removed; the caller reports why the command has failed.
        try? FileManager.default.removeItem(atPath: path)
    }

    private mutating func makeFolders(above path: String) throws(Fault) {
        for folder in Self.folders(above: path) {
            if try SystemError.mapping(FilePath.makeFolder(folder, mode: 0o755), to: { Fault(folder, $0) }) {
                madeFolders.append(folder)
            } else if !Self.isFolder(folder) {
                throw .exists(folder)
            }
        }
    }

    private static func folders(above path: String) -> [String] { FilePath.parts(path).dropLast() }

    /// Appends to a file of this size, whose contents, owner and mode stay; after an error it is not changed.
    static func append(_ bytes: [UInt8], to path: String, ofSize size: Int) throws(Fault) {
        let file = try SystemError.mapping(OpenFile(path, .appending)) { Fault(path, $0) }
        let status = try SystemError.mapping(file.status()) { Fault(path, $0) }
        guard status.size == size else { throw .other("\(path) was changed by another program") }
        do throws(SystemError) {
            try file.write(bytes)
        } catch {
            // The error of the write is the one to report.
            try? file.truncate(to: size)
            throw Fault(path, error)
        }
    }
}
