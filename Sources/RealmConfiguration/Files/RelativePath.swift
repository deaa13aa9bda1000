// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Resolves relative paths in configuration files.
///
/// A path is relative to the folder of the file that contains it.
enum RelativePath {
    /// Returns the folder of a file.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns a path relative to the folder of a file; an absolute path is not changed.
    static func resolve(_ path: String, beside file: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        let folder = folder(of: file)
        switch folder {
        case ".": return path
        case "/": return "/" + path
        default: return "\(folder)/\(path)"
        }
    }
}
