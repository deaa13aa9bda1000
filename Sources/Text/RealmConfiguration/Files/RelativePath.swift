// SPDX-License-Identifier: Apache-2.0

/// Resolves relative paths in configuration files.
///
/// A path is relative to the folder of the file that contains it.
enum RelativePath {
    /// Returns the folder of a file.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the path in a text such as `sqlite:users.db`; nil if the text does not begin with the scheme.
    static func path(in text: String, scheme: String) -> String? {
        text.utf8.starts(with: "\(scheme):".utf8) ? String(text.utf8.dropFirst(scheme.utf8.count + 1)) : nil
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
