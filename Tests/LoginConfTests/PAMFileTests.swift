// SPDX-License-Identifier: Apache-2.0

import LoginConf
import RealmKit
import SeededRandom
import Testing

/// Tests the language of pam.d files; the conformance tests compare it with the recorded answers of libpam.
@Suite struct PAMFileTests {
    @Test(arguments: mistakes)
    func `a mistake is reported once, at its place, with a hint`(_ mistake: Mistake) {
        let parsed = PAMFile.parse(SourceText(name: "sshd", mistake.text, names: PAMFile.names))
        #expect(parsed.diagnostics.map(Mistake.summary) == mistake.diagnostics)
    }

    static let mistakes = [
        Mistake(
            "auht required pam_unix.so",
            "1:1+4 there is no type `auht` | did you mean `auth`?"
        ),
        Mistake(
            "sshd auth required pam_unix.so",
            "1:1+0 there is no type of this name | the lines of a file in pam.d do not begin with a service"
        ),
        Mistake(
            "-  auth required x.so",
            "1:1+0 there is no type of this name | the lines of a file in pam.d do not begin with a service"
        ),
        Mistake(
            "secret=x required pam_unix.so",
            "1:1+7 there is no type of this name | the types are auth, account, password, session"
        ),
        Mistake(
            "auth",
            "1:5+1 the control is missing | as in: auth required pam_unix.so"
        ),
        Mistake(
            "auth sufficient",
            "1:16+1 the module is missing | as in: auth required pam_unix.so"
        ),
        Mistake(
            "auth requird pam_unix.so",
            "1:6+7 there is no control `requird` | did you mean `required`?"
        ),
        Mistake(
            "auth binding pam_unix.so",
            "1:6+3 there is no control of this name"
                + " | the controls are required, requisite, sufficient, optional, include, substack, or [value=action ...]"
        ),
        Mistake(
            "auth success=1 default=ignore pam_unix.so",
            "1:6+8 a control without brackets | put the pairs in brackets, as in [success=1 default=ignore]"
        ),
        Mistake(
            "auth [] pam_unix.so",
            "1:6+3 a control without pairs | as in [success=ok default=die]"
        ),
        Mistake(
            "auth [sucess=ok] m.so",
            "1:7+6 there is no value `sucess` | did you mean `success`?"
        ),
        Mistake(
            "auth [SUCCESS=ok] m.so",
            "1:7+7 there is no value `SUCCESS` | did you mean `success`?"
        ),
        Mistake(
            "auth [success=okay] m.so",
            "1:15+3 there is no action of this name"
                + " | the actions are ok, done, bad, die, ignore, reset, or a number of entries to skip"
        ),
        Mistake(
            "auth [success=ok,default=bad] m.so",
            "1:17+1 a comma in a control | pairs are separated by blanks"
        ),
        Mistake(
            "auth [success=0] m.so",
            "1:15+3 this is not a number of entries to skip"
                + " | a jump skips 1 to 255 entries; write `ignore` to skip none"
        ),
        Mistake(
            "auth [success=256] m.so",
            "1:15+3 this is not a number of entries to skip"
                + " | a jump skips 1 to 255 entries; write `ignore` to skip none"
        ),
        Mistake(
            "auth [success=-1] m.so",
            "1:15+3 there is no action of this name"
                + " | the actions are ok, done, bad, die, ignore, reset, or a number of entries to skip"
        ),
        Mistake(
            "auth [success] m.so",
            "1:7+7 missing `=` after `success` | as in [success=ignore]"
        ),
        Mistake(
            "auth [success=] m.so",
            "1:7+8 missing action of `success`"
                + " | the actions are ok, done, bad, die, ignore, reset, or a number of entries to skip"
        ),
        Mistake(
            "auth [success ok] m.so",
            "1:7+7 missing `=` after `success` | as in [success=ignore]"
        ),
        Mistake(
            "auth [default=ok default=bad] m.so",
            "1:18+11 a second `default` in this control | libpam uses the first one"
        ),
        Mistake(
            "auth [auth_err=ok auth_err=bad] m.so",
            "1:19+12 warning: `auth_err` occurs twice in this control | libpam uses the last one"
        ),
        Mistake(
            "auth [success=ok m.so",
            "1:6+1 this bracket is not closed | close it with `]`"
        ),
        Mistake(
            "auth required m.so [a # b]",
            "1:20+0 this bracket is not closed | close it with `]`; `#` begins a comment in brackets too"
        ),
        Mistake(
            "auth required m.so x#y",
            "1:20+0 `#` begins a comment within a word"
                + " | put a blank before the comment; an argument cannot have a `#`"
        ),
        Mistake(
            "auth required m.so \\ # x",
            "1:20+0 a line with a comment is not continued | put the comment on a line of its own"
        ),
        Mistake(
            "auth required m.so \\",
            "1:20+0 the line that `\\` continues is missing | remove the `\\`"
        ),
        Mistake(
            "auth required \\\n\n m.so",
            "2:1+0 an empty line or a comment continues a line"
                + " | remove the `\\` of the line before it: libpam 1.5 and 1.7 read this in two ways",
            "3:2+0 there is no type of this name | the types are auth, account, password, session"
        ),
        Mistake(
            "auth required m.so \\\n# x\n",
            "2:1+0 an empty line or a comment continues a line"
                + " | remove the `\\` of the line before it: libpam 1.5 and 1.7 read this in two ways"
        ),
        Mistake(
            "auth include",
            "1:13+1 the name of the file is missing | as in: include common-auth"
        ),
        Mistake(
            "auth include a b",
            "1:16+0 a word after the name of an included file"
                + " | libpam ignores what follows the name of the file"
        ),
        Mistake(
            "@include",
            "1:9+1 the name of the file is missing | as in: @include common-auth"
        ),
        Mistake(
            "@include a b",
            "1:12+0 a word after the name of an included file"
                + " | libpam ignores what follows the name of the file"
        ),
        Mistake(
            "auth required /",
            "1:15+3 this names no module | as in pam_unix.so"
        ),
        Mistake(
            "auth required .so",
            "1:15+3 this names no module | as in pam_unix.so"
        ),
        Mistake(
            "\u{FEFF}auth required m.so",
            "1:1+0 a byte order mark (U+FEFF) | save the file as UTF-8 without a byte order mark"
        ),
        Mistake(
            "auth required m.so a\r\n",
            "1:21+0 a carriage return, which is a part of the word for libpam"
                + " | save the file with the line ends of Unix"
        ),
        Mistake(
            "auth\u{0C}required m.so",
            "1:5+3 an invisible character (U+000C), which is a part of the word for libpam"
                + " | replace it with a space"
        ),
        Mistake(
            "auth required m.so a\u{A0}b",
            "1:21+0 an invisible character (U+00A0), which is a part of the word for libpam"
                + " | replace it with a space"
        ),
        Mistake(
            "auth required m.so \"two words\"",
            "1:20+0 warning: a quotation mark is a part of the argument, and groups nothing"
                + " | write the whole argument in brackets, as in [name=two words]",
            "1:25+0 warning: a quotation mark is a part of the argument, and groups nothing"
                + " | write the whole argument in brackets, as in [name=two words]"
        ),
        Mistake(
            "auth required m.so a=[two words]",
            "1:20+2 warning: a bracket within an argument groups nothing"
                + " | write the whole argument in brackets, as in [name=two words]"
        ),
        Mistake(
            "auth required m.so \\\n" + String(repeating: "x", count: 1100),
            "1:1+4 warning: libpam before 1.6 cuts so long a line"
        ),
    ]

    @Test func `a line of pam conf begins with the name of its service, in upper or lower case`() throws {
        let text = "SSHD auth required pam_unix.so\nother -Account include common\n"
        let lines = try PAMFile.parse(SourceText(name: "pam.conf", text), form: .conf).get().lines
        #expect(lines.map(\.service) == ["sshd", "other"])
        #expect(lines.map(\.type) == [.auth, .account])
        #expect(lines.map(\.isSilent) == [false, true])
        #expect(lines[1].target == .include("common"))
    }

    @Test func `the words for a control are the tables of pam conf`() {
        let required = PAMControl(.required)
        #expect(PAMCode.allCases.filter { required[$0] == .ok } == [.success, .newAuthtokReqd])
        #expect(PAMCode.allCases.filter { required[$0] == .ignore } == [.ignore])
        #expect(PAMCode.allCases.filter { required[$0] == .bad }.count == 29)
        #expect(PAMCode.allCases.allSatisfy { (PAMControl(.requisite)[$0] == .die) == (required[$0] == .bad) })
        #expect(PAMCode.allCases.filter { PAMControl(.sufficient)[$0] == .done } == [.success, .newAuthtokReqd])
        #expect(PAMCode.allCases.filter { PAMControl(.optional)[$0] == .ignore }.count == 30)
    }

    @Test func `authinfo_unavail is an outage and no overload, which a user can cause`() throws {
        let text = "auth [success=done authinfo_unavail=ignore acct_expired=2 default=die] pam_sss.so"
        let lines = try PAMFile.parse(SourceText(name: "sshd", text)).get().lines
        guard case .module(_, let control) = lines[0].target else { return #expect(Bool(false)) }
        #expect(control.table[.success] == .done)
        #expect(control.table[.ignored] == .die)
        #expect(control.table[.failure(.unavailable)] == .ignore)
        #expect(control.table[.failure(.overloaded)] == .die)
        #expect(control.table[.failure(.disabled)] == .jump(2))
        #expect(control.table[.failure(.accountExpired)] == .jump(2))
    }

    @Test func `a file that is written from random lines is read as the same lines`() throws {
        var random = Random(seed: 37)
        let words = [
            "pam_unix.so", "/lib/security/pam_x.so", "a b", "", "[x", "x]y", "a=b c=d", "don't", "\"q", "é ü", "]",
        ]
        let actions = ["ok", "done", "bad", "die", "ignore", "reset", "1", "255"]
        for _ in 0..<2_000 {
            var lines: [String] = []
            var expected: [(PAMType, [String])] = []
            for _ in 0..<random.below(6) {
                let type = random.pick(PAMType.allCases)
                var control = random.pick(["required", "REQUISITE", "sufficient", "optional"])
                if random.below(2) == 0 {
                    let codes = PAMCode.allCases.map(\.name).shuffled(using: &random).prefix(1 + random.below(4))
                    let pairs = codes.map { "\($0)=\(random.pick(actions))" }
                    control = "[\(pairs.joined(separator: random.pick([" ", "", "  ", "\t"])))]"
                }
                let arguments = (0..<random.below(4)).map { _ in random.pick(words) }
                let module = try #require(PAMModule(path: "pam_m.so", arguments: arguments))
                let gap = random.pick([" ", "\t", " \\\n  "])
                lines.append("\(type)\(gap)\(control)\(gap)\(module.text)")
                expected.append((type, arguments))
            }
            let text = lines.map { $0 + random.pick(["\n", "\n\n", " # end\n", "\n# a comment\n"]) }.joined()
            let parsed = PAMFile.parse(SourceText(name: "random", text))
            let file = try #require(parsed.value, "\(text)\n\(parsed.diagnostics)")
            #expect(file.lines.map(\.type) == expected.map(\.0))
            let again = try PAMFile.parse(SourceText(name: "again", file.lines.map { $0.text + "\n" }.joined())).get()
            #expect(again.lines.map(\.target) == file.lines.map(\.target), "\(text)")
            for (line, arguments) in zip(file.lines, expected.map(\.1)) {
                guard case .module(let module, _) = line.target else { return #expect(Bool(false)) }
                #expect(module.arguments == arguments, "\(text)")
            }
        }
    }
}
