// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import LoginConf
internal import RealmKit
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

    /// Returns a value in which the path, if there is one, is relative to the folder of a file; notes the file of the path.
    func resolved(
        _ value: PropertyValue,
        of property: Property,
        at range: SourceRange,
        in text: SourceText
    ) -> PropertyValue {
        guard case .string(let written) = value, let path = RelativePath.path(in: value, of: property) else {
            return value
        }
        let file = RelativePath.resolve(path, beside: text.name)
        note(file, as: property.fileUse, at: range, in: text)
        return .string(String(Substring(written.utf8.dropLast(path.utf8.count))) + file)
    }

    /// Returns the bytes of a file that a word names; reports a file that cannot be read.
    func contents(of path: String, at range: SourceRange, as name: String? = nil, hint: String? = nil) -> [UInt8]? {
        do throws(Expansion.UnreadableFile) {
            return try loader.files.read(path).get()
        } catch {
            self.error(at: range, "\(name ?? path) cannot be read: \(error.reason)", hint: hint)
            return nil
        }
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
    func checkFiles(stateFolder: Located<String>?) {
        if let stateFolder { note(stateFolder.value, as: .settings, at: stateFolder.range, in: text) }
        guard !loader.isForProof else { return }
        var reported: Set<String> = []
        for file in log.files {
            // The store checks the folder itself.
            let isOfStore = stateFolder.map { file.path.hasBytes(of: $0.value) } ?? false
            for finding in loader.files.findings(file.path, file.use, stateFolder?.value)
            where !isOfStore || finding.isOnTheWay {
                let isNew = reported.insert("\(finding.culprit) \(finding.danger) \(finding.isError)").inserted
                guard isNew else { continue }
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
        let hint =
            if beginning.utf8.first == UInt8(ascii: "$") {
                "write \"${env:\(beginning.dropFirst())}\(rest)\""
            } else if rest.isEmpty || rest.hasPrefix("/") {
                "write \"${env:HOME}\(rest)\", or the whole path"
            } else {
                "write the whole path"
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

// MARK: Secrets

// A secret is never converted to a `String`, whose memory is not wiped.
extension ConfigurationBuilder {
    /// Reads a secret of a realms.conf, and notes the files with it.
    func secret(_ word: RealmsConfWord) throws(Diagnostic) -> [UInt8] {
        try secret(at: word.range, in: text) { expansion throws(Diagnostic) in
            try word.expandedBytes(by: expansion, in: text)
        }
    }

    /// Reads a secret, which `expand` returns, and notes the files with it.
    func secret(
        at range: SourceRange,
        in text: SourceText,
        _ expand: (Expansion) throws(Diagnostic) -> [UInt8]
    ) throws(Diagnostic) -> [UInt8] {
        let bytes: [UInt8]
        do throws(Diagnostic) {
            bytes = try expand(expansion)
        } catch {
            // No secret is used in a proof.
            guard loader.isForProof else { throw error }
            bytes = Array("unknown".utf8)
        }
        noteReferences(as: .secret, at: range, in: text)
        // A secret with other text beside its references is partly in this file.
        if !bytes.isEmpty, !text.consistsOfReferences(in: range) { warnReadable(text) }
        return bytes
    }

    /// Warns if all users of the machine can read a configuration with a secret.
    private func warnReadable(_ text: SourceText) {
        let findings = loader.files.findings(text.name, .secret, nil)
        guard findings.contains(where: { $0.danger == .everyoneReads }) else { return }
        let message = "all users of this machine can read this file, which contains a secret"
        let hint = "chmod o-r, or keep the secret in a file of its own and write ${file:PATH}"
        log.add(text.warning(at: .none, message, hint: hint))
    }
}

// MARK: Paths

/// Resolves relative paths in configuration files: a path is relative to the folder of the file that contains it.
enum RelativePath {
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the path in a value, such as that of `sqlite:users.db`; nil if the value has no path.
    static func path(in value: PropertyValue, of property: Property) -> String? {
        guard case .string(let text) = value else { return nil }
        switch property.kind {
        case .path: return text
        case .location(let scheme) where text.utf8.starts(with: "\(scheme):".utf8):
            return String(text.utf8.dropFirst(scheme.utf8.count + 1))
        default: return nil
        }
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

extension Configuration {
    /// The folder that relative paths of the configuration begin with; `.` for the current folder.
    package var folder: String { RelativePath.folder(of: file) }
}

/// Paths that a shell would expand, and that this program takes as they are.
package enum UnexpandedPath {
    /// Returns the beginning of a path that a shell would expand: `~` or `$NAME`; nil if there is none.
    package static func beginning(of path: String) -> Substring? {
        if path.utf8.first == UInt8(ascii: "~") { return path.prefix(1) }
        guard path.utf8.first == UInt8(ascii: "$") else { return nil }
        let name = path.dropFirst().prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
        return name.isEmpty ? nil : path[..<name.endIndex]
    }
}
