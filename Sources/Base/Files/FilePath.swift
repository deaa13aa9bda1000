// SPDX-License-Identifier: Apache-2.0

package import LibC

/// Paths, and the folders on their way.
package enum FilePath {
    /// The folder in which the program runs; nil if it was removed.
    package static var current: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// The folders of a path, from its first part to the whole.
    package static func parts(_ path: String) -> [String] {
        path.split(separator: "/").reduce(into: []) { parts, name in
            parts.append(parts.last.map { "\($0)/\(name)" } ?? (path.hasPrefix("/") ? "/\(name)" : String(name)))
        }
    }

    /// Makes a folder; false if something has its name.
    @discardableResult
    package static func makeFolder(_ path: String, mode: mode_t) throws(SystemError) -> Bool {
        if unsafe mkdir(path, mode) == 0 { return true }
        let error = SystemError.last
        // On network file systems another error may stand before EEXIST.
        guard error.number == EEXIST || (try? FileStatus(of: path))?.isFolder == true else { throw error }
        return false
    }

    /// Returns a path relative to a folder if it begins with the folder, otherwise the path; no file is looked at.
    package static func relative(_ path: Substring, to folder: String) -> String {
        guard path.utf8.starts(with: "\(folder)/".utf8) else { return String(path) }
        return String(path[path.utf8.index(path.startIndex, offsetBy: folder.utf8.count + 1)...])
    }

    /// Returns the path with links resolved.
    package static func resolve(_ path: String) throws(SystemError) -> String {
        guard let resolved = unsafe realpath(path, nil) else { throw .last }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    static func rename(_ old: String, to new: String) throws(SystemError) {
        try SystemError.check { unsafe LibC.rename(old, new) }
    }

    package static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let name = String(path[path.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }
}
