// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf

extension ConfigurationBuilder {
    /// Returns the path in a word, relative to the folder of the configuration file.
    ///
    /// A path that a shell would expand is an error, because the file would not be the one that the shell means.
    func filePath(_ word: RealmsConfWord) -> String? {
        guard let path = expanded(word), isPlainPath(path, at: word) else { return nil }
        return RelativePath.resolve(path, beside: text.name)
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
