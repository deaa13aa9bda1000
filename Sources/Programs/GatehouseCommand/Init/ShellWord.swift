// SPDX-License-Identifier: Apache-2.0

/// Words of commands that are printed for a shell.
enum ShellWord {
    /// Returns a word as a POSIX shell reads it: unchanged, or in single quotes.
    ///
    /// - Parameter word: The word.
    /// - Returns: The text for the shell.
    static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+:@%,=".utf8.contains(byte)
            }
        }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
}
