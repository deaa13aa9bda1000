// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import Synchronization

/// Reads secrets of a configuration, and warns if all users of the machine can read them.
///
/// A secret is never converted to a `String`, whose memory is not wiped.
struct SecretReader {
    /// The paths of files that the references of a value have named.
    private final class Paths: Sendable {
        private let paths = Mutex<[String]>([])

        var list: [String] { paths.withLock { $0 } }

        func add(_ path: String) { paths.withLock { $0.append(path) } }
    }

    let builder: ConfigurationBuilder

    /// Reads a secret of a realms.conf.
    ///
    /// - Parameter word: The word that is the secret, or refers to it.
    /// - Returns: The bytes.
    /// - Throws: The error if a reference cannot be replaced.
    func bytes(of word: RealmsConfWord) throws(Diagnostic) -> [UInt8] {
        try bytes(at: word.range, in: builder.text) { expansion throws(Diagnostic) in
            try word.expandedBytes(by: expansion, in: builder.text)
        }
    }

    /// Reads a secret.
    ///
    /// - Parameters:
    ///   - range: The place of the secret, or of the references to it.
    ///   - text: The text of the configuration.
    ///   - expand: Returns the value with its references replaced.
    /// - Returns: The bytes.
    /// - Throws: The error of `expand`.
    func bytes(
        at range: SourceRange,
        in text: SourceText,
        _ expand: (Expansion) throws(Diagnostic) -> [UInt8]
    ) throws(Diagnostic) -> [UInt8] {
        let readable = Paths()
        let expansion = builder.loader.expansion(for: builder.text.name) { path, contents in
            if contents.isReadableByAll { readable.add(path) }
        }
        let bytes = try expand(expansion)
        for path in readable.list { builder.warnReadable(path, at: range, in: text) }
        // A secret with other text beside its references is partly in this file.
        if !bytes.isEmpty, !text.consistsOfReferences(in: range) { warnReadable(text) }
        return bytes
    }

    /// Warns if all users of the machine can read a configuration with a secret.
    private func warnReadable(_ text: SourceText) {
        guard case .success(let contents) = builder.loader.files.read(text.name), contents.isReadableByAll else {
            return
        }
        builder.log.add(
            text.warning(
                at: .none,
                "all users of this machine can read this file, which contains a secret",
                hint: "chmod o-r, or keep the secret in a file of its own and write ${file:PATH}"
            )
        )
    }
}

extension ConfigurationBuilder {
    /// Warns if all users of the machine can read a file that must be secret.
    ///
    /// - Parameter file: The file; if it cannot be read, there is no warning.
    func warnIfReadable(_ file: Located<String>) {
        guard case .success(let contents) = loader.files.read(file.value), contents.isReadableByAll else { return }
        warnReadable(file.value, at: file.range, in: text)
    }

    /// Warns that all users of the machine can read a file.
    fileprivate func warnReadable(_ path: String, at range: SourceRange, in text: SourceText) {
        log.add(
            text.warning(
                at: range,
                "all users of this machine can read \(path), which must be secret",
                hint: "chmod o-r \(path)"
            )
        )
    }
}
