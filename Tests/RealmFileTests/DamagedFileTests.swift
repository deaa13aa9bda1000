// SPDX-License-Identifier: Apache-2.0

import Files
import RealmKit
import SeededRandom
import Testing

@testable import RealmFile

/// Tests with randomly damaged files: no crash, no user from a malformed line, and no additional groups.
struct DamagedFileTests {
    private static let rounds = 1500

    static let keyFile = """
        # a key file
        ann;\(KnownHashes.ssha);users,admins
        bob;\(KnownHashes.glassfish);users
        carl;!\(KnownHashes.lilac);users,staff
        dora;RESET;
        \u{E9}va o'x@y;\(KnownHashes.ssha);b b
        """
    static let htpasswd = """
        # users
        ann:\(KnownHashes.ssha)
        bob:\(KnownHashes.lilac):more
          carl:!\(KnownHashes.lilac)
        \u{E9}va:$apr1$lpFLuRBw$PbVX9bbUkk3MXjeYqX9Ht/
        """
    static let groupFile = """
        users: ann bob "carl" '\u{E9}va'
        admins: ann
        # c
        staff:\tcarl
        """

    func mutate(_ text: [UInt8], _ random: inout Random) -> [UInt8] {
        let pieces =
            [
                ";", ":", ",", "\n", "\r\n", "\r", "#", "!", ";;", "\\\n", "\"", "'", "\u{FEFF}", "\u{85}", "\u{2028}",
                " ", "\t",
                "ann", "admins", "RESET", "*", "{SSHA256}",
            ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0x01], [0x7F]]
        var text = text
        for _ in 0...random.below(4) {
            let index = random.below(text.count + 1)
            let end = min(text.count, index + random.below(10))
            switch random.below(6) {
            case 0: if index < text.count { text[index] ^= 1 << UInt8(random.below(8)) }
            case 1, 2: text.insert(contentsOf: random.pick(pieces), at: index)
            case 3: text.removeSubrange(index..<end)
            case 4: text.insert(contentsOf: Array(text[index..<end]), at: random.below(text.count + 1))
            default: text.replaceSubrange(index..<end, with: random.pick(pieces))
            }
        }
        return text
    }

    /// Returns the users of a file; nil if the file is rejected.
    private func table(_ bytes: [UInt8], _ format: KeyFileFormat, _ groups: [UInt8]?) -> UserTable? {
        do throws(FileFault) {
            try TextLine.checkText(bytes, path: "f")
            let lines = TextLine.lines(of: bytes)
            var detection = KeyFileFormat.Detection(path: "f")
            try? detection.read(bytes, lines: lines)
            let options = ReadOptions()
            let known = format == .htpasswd ? groups.map { GroupFile($0).groupsByUser(options.key) } ?? [:] : nil
            let reader = UserLineReader(format: format, groups: known, attributes: [:], readOptions: options)
            return UserTable(bytes, lines: lines, reader: reader, path: "f")
        } catch {
            return nil
        }
    }

    @Test(arguments: [11, 12])
    func `users of a damaged key file come from well-formed lines, with the groups of those lines`(seed: UInt64) {
        var random = Random(seed: seed)
        for round in 0..<Self.rounds {
            let bytes = mutate(Array(Self.keyFile.utf8), &random)
            guard let table = table(bytes, .glassfish, nil) else { continue }
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
                .map { String(decoding: $0.last == 0x0D ? $0.dropLast() : $0, as: UTF8.self) }
            for user in table.users {
                let groups = user.groups.joined(separator: ",")
                let stored = (user.isEnabled ? "" : "!") + user.stored
                let isThere = lines.contains { line in
                    var fields = line.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false).map(
                        String.init
                    )
                    while fields.count > 3, fields.last == "" { fields.removeLast() }
                    guard fields.count == 2 || fields.count == 3 else { return false }
                    let name =
                        fields[0].hasPrefix("\u{FEFF}") ? String(fields[0].unicodeScalars.dropFirst()) : fields[0]
                    let given = fields.count == 3 ? fields[2].unicodeScalars.split(separator: ",").map(String.init) : []
                    return name.utf8.elementsEqual(user.name.text.utf8) && fields[1].utf8.elementsEqual(stored.utf8)
                        && (user.isAmbiguous || Set(given) == Set(user.groups))
                }
                #expect(isThere, "seed \(seed), round \(round): \(user.name) \(groups)")
                let twins = lines.filter { $0.unicodeScalars.starts(with: "\(user.name);".unicodeScalars) }.count
                if twins > 1, user.usablePassword != nil {
                    // The other line was ignored with a warning, for another reason.
                    #expect(!table.warnings.isEmpty, "seed \(seed), round \(round): \(user.name) stands twice")
                }
            }
        }
    }

    @Test(arguments: [21, 22])
    func `the members of a group in a damaged group file are named on the group's line`(seed: UInt64) {
        var random = Random(seed: seed)
        for round in 0..<Self.rounds {
            let groups = mutate(Array(Self.groupFile.utf8), &random)
            let users = mutate(Array(Self.htpasswd.utf8), &random)
            guard let table = table(users, .htpasswd, groups) else { continue }
            let lines = groups.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
            for user in table.users {
                for group in user.groups {
                    let isThere = lines.contains { line in
                        line.contains("\(group):") && line.contains(user.name.text) && !line.hasPrefix("#")
                    }
                    #expect(
                        isThere || user.name.text.contains("\\"),
                        "seed \(seed), round \(round): \(user.name) in \(group)"
                    )
                }
            }
        }
    }

    /// Users on undamaged lines can still be read.
    @Test func `a damaged line does not affect the users on other lines`() {
        var random = Random(seed: 31)
        let lines = Self.keyFile.split(separator: "\n").map { Array($0.utf8) }
        for round in 0..<Self.rounds {
            var damaged = lines
            let index = random.below(lines.count)
            damaged[index] = mutate(damaged[index], &random).filter { $0 != 0x0A && $0 != 0 }
            guard index > 0 || !damaged[0].starts(with: [0xEF]) else { continue }
            let whole = table(Array(damaged.joined(separator: [0x0A])), .glassfish, nil)
            for (name, line) in [("ann", 1), ("bob", 2), ("carl", 3)] where line != index {
                guard let user = whole?.users.first(where: { $0.name.text == name }), !user.isAmbiguous else {
                    // The damage may have created a second line with the same name.
                    #expect(String(decoding: damaged[index], as: UTF8.self).contains(name), "round \(round): \(name)")
                    continue
                }
                #expect(user.line == line + 1 || String(decoding: damaged[index], as: UTF8.self).contains(name))
            }
        }
    }
}
