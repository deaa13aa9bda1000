// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import LoginConf
internal import Synchronization

extension ConfigurationBuilder {
    /// Returns the path in a word, relative to the folder of the configuration file.
    ///
    /// A path that a shell would expand is an error, because the file would not be the one that the shell means.
    func filePath(_ word: RealmsConfWord, as use: FileTrust.Use) -> String? {
        guard let path = expanded(word), isPlainPath(path, at: word) else { return nil }
        let file = RelativePath.resolve(path, beside: text.name)
        note(file, as: use, at: word.range, in: text)
        return file
    }

    /// Notes a file for ``checkFiles(stateFolder:)``.
    func note(_ path: String, as use: FileTrust.Use, at range: SourceRange, in text: SourceText) {
        log.files.append(DiagnosticLog.NamedFile(path: path, use: use, range: range, text: text))
    }

    /// Notes the files that the references of a value have named.
    func noteReferences(as use: FileTrust.Use, at range: SourceRange, in text: SourceText) {
        for path in references.take() { note(path, as: use, at: range, in: text) }
    }

    /// Reports what other users of the machine could do to the noted files, once for each file and folder.
    func checkFiles(stateFolder: Located<String>) {
        note(stateFolder.value, as: .settings, at: stateFolder.range, in: text)
        var reported: Set<String> = []
        for file in log.files {
            // The store checks the folder itself.
            let isOfStore = file.path.hasBytes(of: stateFolder.value)
            for finding in loader.files.findings(file.path, file.use, stateFolder.value)
            where !isOfStore || finding.isOnTheWay {
                guard reported.insert("\(finding.culprit) \(finding.danger) \(finding.isError)").inserted else {
                    continue
                }
                log.add(
                    finding.isError
                        ? file.text.error(at: file.range, finding.message, hint: finding.hint)
                        : file.text.warning(at: file.range, finding.message, hint: finding.hint)
                )
            }
        }
    }

    /// Reports a path that begins with `~` or `$NAME`, or has a line break.
    func isPlainPath(_ path: String, at word: RealmsConfWord) -> Bool {
        guard !path.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
            let hint = "write the path of a file; ${file:PATH} is replaced by the content of the file"
            error(at: word.range, "a path has no line break", hint: hint)
            return false
        }
        guard let beginning = UnexpandedPath.beginning(of: path) else { return true }
        let rest = path[beginning.endIndex...]
        let hint: String
        if beginning.utf8.first == UInt8(ascii: "$") {
            hint = "write \"${env:\(beginning.dropFirst())}\(rest)\""
        } else if rest.isEmpty || rest.hasPrefix("/") {
            hint = "write \"${env:HOME}\(rest)\", or the whole path"
        } else {
            hint = "write the whole path"
        }
        let message = "\(beginning) is not expanded in \(path)"
        error(at: word.range, message, hint: "\(hint); a file of this name is ./\(path)")
        return false
    }
}

/// The files that references `${file:PATH}` have named.
final class FileReferences: Sendable {
    private let paths = Mutex<[String]>([])

    func add(_ path: String) { paths.withLock { $0.append(path) } }

    /// Returns the files, and forgets them.
    func take() -> [String] {
        paths.withLock { paths in
            defer { paths = [] }
            return paths
        }
    }
}
