// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import OpenSSLKit
internal import RealmKit

/// The entries of a mapping file: certificates with their users and groups.
///
/// ```
/// # a comment
/// fingerprint 3A:4F:...:09 user ann groups Staff Admin
/// subject "CN=bob,O=Town" issuer "CN=Town CA,O=Town" user bob
/// ```
///
/// Each line has one entry. Words are separated by blanks; a word in quotes may contain blanks, `\"` and `\\`. An
/// entry with a fingerprint takes precedence over an entry with names.
struct CertificateMapping: Sendable {
    struct Entry: Sendable {
        let user: Username
        let groups: [String]
        /// From 1.
        let line: Int
    }

    private struct Names: Hashable {
        let subject: UTF8Text
        let issuer: UTF8Text
    }

    private var byFingerprint: [Digest: Entry] = [:]
    private var byNames: [Names: Entry] = [:]
    /// The names that no certificate has, with their places.
    private(set) var warnings: [FileFault] = []

    /// Throws the first error, with its place.
    init(_ bytes: [UInt8], path: String) throws(FileFault) {
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let place = MappingPlace(path: path, line: number)
            let words = try MappingWords.read(line.last == 0x0D ? line.dropLast() : line, at: place)
            if !words.isEmpty { try add(words, at: place) }
        }
    }

    subscript(certificate: Certificate) -> Entry? {
        if let entry = byFingerprint[certificate.digest] { return entry }
        return byNames[Names(subject: UTF8Text(certificate.subject), issuer: UTF8Text(certificate.issuer))]
    }

    /// The groups of all entries of a user, by entry.
    func groups(of user: Username) -> [[String]] {
        (Array(byFingerprint.values) + Array(byNames.values)).filter { $0.user == user }
            .sorted { $0.line < $1.line }.map(\.groups)
    }

    private mutating func add(_ words: [MappingWords.Word], at place: MappingPlace) throws(FileFault) {
        var rest = words[...]
        let first = rest.removeFirst()
        switch first.text {
        case "fingerprint":
            let word = try Self.value(of: first, in: &rest, at: place)
            guard let digest = Self.digest(word.text) else {
                throw place.fault("a fingerprint has 32 bytes in hexadecimal digits, as SHA-256", at: word.column)
            }
            let entry = try Self.entry(&rest, after: word, at: place)
            if let earlier = byFingerprint.updateValue(entry, forKey: digest) {
                throw place.fault("the fingerprint occurs on line \(earlier.line) too", at: word.column)
            }
        case "subject":
            let subject = try Self.value(of: first, in: &rest, at: place)
            guard let keyword = rest.popFirst(), keyword.text == "issuer" else {
                throw place.fault("issuer is missing after the subject", at: subject.column)
            }
            let issuer = try Self.value(of: keyword, in: &rest, at: place)
            for word in [subject, issuer] {
                guard let problem = SubjectForm.problem(of: word.text) else { continue }
                warnings.append(place.fault("no certificate has the name \(word.text): \(problem)", at: word.column))
            }
            let entry = try Self.entry(&rest, after: issuer, at: place)
            let names = Names(subject: UTF8Text(subject.text), issuer: UTF8Text(issuer.text))
            if let earlier = byNames.updateValue(entry, forKey: names) {
                throw place.fault("the subject and issuer occur on line \(earlier.line) too", at: subject.column)
            }
        default: throw place.fault("an entry begins with fingerprint or subject", at: first.column)
        }
    }

    /// Reads `user NAME`, and `groups NAME ...` if it follows.
    private static func entry(
        _ rest: inout ArraySlice<MappingWords.Word>,
        after last: MappingWords.Word,
        at place: MappingPlace
    ) throws(FileFault) -> Entry {
        guard let keyword = rest.popFirst(), keyword.text == "user" else {
            throw place.fault("user is missing", at: last.column)
        }
        let word = try value(of: keyword, in: &rest, at: place)
        let user = try Result { () throws(BadUsername) in try Username(word.text) }
            .mapError { place.fault("\($0)", at: word.column) }.get()
        guard let next = rest.popFirst() else { return Entry(user: user, groups: [], line: place.line) }
        guard next.text == "groups" else {
            throw place.fault("expected groups or the end of the line", at: next.column)
        }
        guard !rest.isEmpty else { throw place.fault("groups needs at least one name", at: next.column) }
        for group in rest where group.text.isEmpty {
            throw place.fault("a group has an empty name", at: group.column)
        }
        return Entry(user: user, groups: rest.map(\.text), line: place.line)
    }

    private static func value(
        of keyword: MappingWords.Word,
        in rest: inout ArraySlice<MappingWords.Word>,
        at place: MappingPlace
    ) throws(FileFault) -> MappingWords.Word {
        guard let word = rest.popFirst(), !word.text.isEmpty else {
            throw place.fault("\(keyword.text) needs a value", at: keyword.column)
        }
        return word
    }

    /// Reads a fingerprint with or without colons, in any case.
    private static func digest(_ text: String) -> Digest? {
        let all = Array(text.utf8)
        let pairs =
            all.contains(UInt8(ascii: ":"))
            ? all.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            : stride(from: 0, to: all.count, by: 2).map { all[$0...].prefix(2) }
        guard pairs.count == Digest.byteCount else { return nil }
        var bytes: [UInt8] = []
        for pair in pairs {
            let digits = pair.compactMap(Hexadecimal.value)
            guard digits.count == 2, pair.count == 2 else { return nil }
            bytes.append(digits[0] << 4 | digits[1])
        }
        return Digest(bytes: bytes)
    }
}

enum MappingWords {
    /// A word with its column, from 1, in bytes.
    struct Word: Sendable {
        let text: String
        let column: Int
    }

    /// Reads the words of a line; a comment begins with `#` at the start of a word.
    static func read(_ line: ArraySlice<UInt8>, at place: MappingPlace) throws(FileFault) -> [Word] {
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
