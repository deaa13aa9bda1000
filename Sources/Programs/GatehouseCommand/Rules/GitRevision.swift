// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LoginConf
internal import RealmConfiguration

/// A configuration in a revision of a git repository, as in `HEAD:realms.conf`, or in its index, as in `:realms.conf`.
struct GitRevision {
    /// The revision, with the colon; a colon alone for the index.
    private let prefix: String
    /// The path of realms.conf, which begins with the prefix; so do those of the files that it names.
    let path: String

    /// Creates a value for `REVISION:PATH`, whose path is relative to the current folder; nil if this is the name of a file.
    init?(_ name: String) {
        guard let colon = name.utf8.lastIndex(of: UInt8(ascii: ":")), unsafe access(name, F_OK) != 0 else { return nil }
        let path = name[name.utf8.index(after: colon)...]
        prefix = String(name[...colon])
        // git takes a path without a folder as relative to the root of the repository.
        self.path = prefix + (path.hasPrefix("/") || path.hasPrefix("./") ? "" : "./") + path
    }

    /// The files of the revision, and those of the system for absolute paths.
    var files: ConfigurationFiles {
        ConfigurationFiles(
            read: { [prefix] path in
                guard path.utf8.starts(with: prefix.utf8) else { return ConfigurationFiles.system.read(path) }
                return Self.contents(of: path)
            },
            environment: ConfigurationFiles.system.environment
        )
    }

    /// Returns the content of a file as it was committed.
    private static func contents(of name: String) -> Result<[UInt8], Expansion.UnreadableFile> {
        // Within single quotes, a shell takes every character but this one as it is.
        let quoted = name.replacing("'", with: "'\\''")
        guard !name.utf8.contains(0), let git = unsafe popen("git cat-file blob '\(quoted)' 2>/dev/null", "re") else {
            return .failure(Expansion.UnreadableFile("git cannot be started"))
        }
        var bytes: [UInt8] = []
        var part = Array(repeating: UInt8(0), count: 65_536)
        var count = 1
        while count > 0, bytes.count <= ConfigurationFiles.maximumSize {
            count = unsafe fread(&part, 1, part.count, git)
            bytes += part[..<count]
        }
        guard unsafe pclose(git) == 0 else {
            return .failure(Expansion.UnreadableFile("git cat-file finds no such file in a repository here"))
        }
        return .success(bytes)
    }
}
