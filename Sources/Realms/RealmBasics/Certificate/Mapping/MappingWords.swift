// SPDX-License-Identifier: Apache-2.0

/// The words of a line of a mapping file.
enum MappingWords {
    /// A word with its column, from 1, in bytes.
    struct Word: Sendable {
        let text: String
        let column: Int
    }

    /// Reads the words of a line; a comment begins with `#` at the start of a word.
    static func read(_ line: ArraySlice<UInt8>, at place: MappingFault.Place) throws(MappingFault) -> [Word] {
        var words: [Word] = []
        var index = line.startIndex
        func column(_ index: Int) -> Int { index - line.startIndex + 1 }
        if let control = line.firstIndex(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
            throw place.fault("there is a control character", at: column(control))
        }
        while index < line.endIndex {
            if isBlank(line[index]) {
                index += 1
                continue
            }
            if line[index] == UInt8(ascii: "#") { break }
            let start = index
            var bytes: [UInt8] = []
            if line[index] == UInt8(ascii: "\"") {
                index += 1
                while true {
                    guard index < line.endIndex else {
                        throw place.fault("the quotes are not closed", at: column(start))
                    }
                    if line[index] == UInt8(ascii: "\"") { break }
                    if line[index] == UInt8(ascii: "\\") {
                        index += 1
                        guard index < line.endIndex, [0x22, 0x5C].contains(line[index]) else {
                            throw place.fault("\\ must be followed by \" or \\", at: column(index))
                        }
                    }
                    bytes.append(line[index])
                    index += 1
                }
                index += 1
                guard index == line.endIndex || isBlank(line[index]) else {
                    throw place.fault("a blank is missing after the quotes", at: column(index))
                }
            } else {
                while index < line.endIndex, !isBlank(line[index]) {
                    guard line[index] != UInt8(ascii: "\"") else {
                        throw place.fault("quotes must be around the whole word", at: column(index))
                    }
                    bytes.append(line[index])
                    index += 1
                }
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw place.fault("the word is not UTF-8", at: column(start))
            }
            words.append(Word(text: text, column: column(start)))
        }
        return words
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
