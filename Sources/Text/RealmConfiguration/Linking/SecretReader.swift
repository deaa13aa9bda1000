// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import LoginConf

/// Reads secrets of a configuration, and notes the files with them.
///
/// A secret is never converted to a `String`, whose memory is not wiped.
struct SecretReader {
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
        let bytes = try expand(builder.expansion)
        builder.noteReferences(as: .secret, at: range, in: text)
        // A secret with other text beside its references is partly in this file.
        if !bytes.isEmpty, !text.consistsOfReferences(in: range) { warnReadable(text) }
        return bytes
    }

    /// Warns if all users of the machine can read a configuration with a secret.
    private func warnReadable(_ text: SourceText) {
        let findings = builder.loader.files.findings(text.name, .secret, nil)
        guard findings.contains(where: { $0.danger == .everyoneReads }) else { return }
        builder.log.add(
            text.warning(
                at: .none,
                "all users of this machine can read this file, which contains a secret",
                hint: "chmod o-r, or keep the secret in a file of its own and write ${file:PATH}"
            )
        )
    }
}
