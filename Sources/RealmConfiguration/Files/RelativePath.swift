// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Paths in configuration files: a relative path is relative to the folder of the file that names it.
enum FilePath {
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

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
