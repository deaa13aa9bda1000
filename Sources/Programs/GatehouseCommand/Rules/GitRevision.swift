// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Glibc
internal import LoginConf
internal import RealmConfiguration

/// A configuration in a revision of a git repository, as in `HEAD:realms.conf`, or in its index, as in `:realms.conf`.
struct GitRevision {
    /// The revision, with the colon; a colon alone for the index.
    private let prefix: String
    /// The path of realms.conf, which begins with the prefix; so do those of the files that it names.
    let path: String

    /// Creates a value for `REVISION:PATH`, whose path is relative to the current folder; nil for a name without a colon.
    ///
    /// A file with such a name is written with its folder, such as `./a:b.conf`: otherwise a change could add a file of the
    /// name `HEAD:realms.conf`, which would be compared instead of the revision.
    init?(_ name: String) {
        let isPath = ["/", "./", "../"].contains { name.utf8.starts(with: $0.utf8) }
        guard !isPath, let colon = name.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let path = name[name.utf8.index(after: colon)...]
        prefix = String(name[...colon])
        // git takes a path without a folder as relative to the root of the repository.
        self.path = prefix + (path.hasPrefix("./") ? "" : "./") + path
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
        // No shell: a name is that of a file in a change that is not trusted.
        let words = ["git", "-c", "core.fsmonitor=false", "cat-file", "blob", "--", name]
        guard !name.utf8.contains(0) else { return .failure(Expansion.UnreadableFile("its name contains NUL")) }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return .failure(Expansion.UnreadableFile("\(SystemError.last)")) }
        defer { close(ends[0]) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_addclose(&actions, ends[0])
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addclose(&actions, ends[1])
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var process: pid_t = 0
        let error = unsafe posix_spawnp(&process, "git", &actions, nil, &arguments, environ)
        unsafe arguments.forEach { unsafe free($0) }
        unsafe posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        guard error == 0 else {
            return .failure(Expansion.UnreadableFile("git cannot be started: \(SystemError(number: error))"))
        }
        var bytes: [UInt8] = []
        var part = Array(repeating: UInt8(0), count: 65_536)
        while true {
            let count = unsafe read(ends[0], &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            if bytes.count <= ConfigurationFiles.maximumSize { bytes += part[..<count] }
        }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            // git ends with 128 after an error of its own.
            let isMissing = status == 128 << 8
            return .failure(
                Expansion.UnreadableFile("git finds no such file in a repository here", isMissing: isMissing)
            )
        }
        guard bytes.count <= ConfigurationFiles.maximumSize else {
            return .failure(Expansion.UnreadableFile("it has more than \(ConfigurationFiles.maximumSize) bytes"))
        }
        return .success(bytes)
    }
}
