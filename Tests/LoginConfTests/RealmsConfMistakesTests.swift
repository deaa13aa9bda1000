// SPDX-License-Identifier: Apache-2.0

import LoginConf
import Testing

/// Tests the diagnostics of common mistakes in realms.conf: place, underline, message and hint.
@Suite struct RealmsConfMistakesTests {
    @Test(arguments: mistakes)
    func `a mistake is reported once, at its place, with a hint`(_ mistake: Mistake) {
        let parsed = RealmsConf.parse(SourceText(name: "realms.conf", mistake.text, names: .ofTests))
        #expect(parsed.diagnostics.map(Mistake.summary) == mistake.diagnostics)
    }

    static let mistakes = [
        Mistake(
            "realm x {\n    class A\n}\n",
            "2:12+1 missing `;` after the statement `class` | a statement ends with `;`"
        ),
        Mistake(
            "realm x {\n    class A;\n};\n",
            "3:2+1 unexpected `;` | a block needs no `;` after its `}`"
        ),
        Mistake(
            "a b;;\nc;",
            "1:5+1 unexpected `;` | a statement begins with its keyword"
        ),
        Mistake(
            "; a;",
            "1:1+1 unexpected `;` | a statement begins with its keyword"
        ),
        Mistake(
            "a b",
            "1:4+1 missing `;` after the statement `a` | a statement ends with `;`"
        ),
        Mistake(
            "realm x {\n    class A;\n",
            "2:13+1 the block of `realm` is not closed | the block begins at realms.conf:1:9; close it with `}`"
        ),
        Mistake(
            "a {\n  b {\n    c;\n",
            "3:7+1 the block of `b` is not closed | the block begins at realms.conf:2:5; close it with `}`"
        ),
        Mistake(
            "a; }\nb;",
            "1:4+1 unexpected `}` | no block is open here"
        ),
        Mistake(
            "{ a; }",
            "1:1+1 unexpected `{` | a block belongs to a statement: write KEYWORD { ... }"
        ),
        Mistake(
            "\"a\" b;",
            "1:1+0 a keyword in quotes | a statement begins with an unquoted word"
        ),
        Mistake(
            "a \"b\"c;",
            "1:3+3 a quoted text touches another word | put white space between them, or write one quoted text"
        ),
        Mistake(
            "a b\"c\"d \"e\";",
            "1:3+3 a quoted text touches another word | put white space between them, or write one quoted text"
        ),
        Mistake(
            "a \"b;\nc;",
            "1:3+3 this quoted text is not closed | close it with `\"`; it cannot continue on the next line"
        ),
        Mistake(
            "a \"b",
            "1:3+3 this quoted text is not closed | close it with `\"`; it cannot continue on the next line"
        ),
        Mistake(
            "a \"C:\\dir\";",
            "1:6+2 unknown escape `\\d` | only `\\\"` and `\\\\` are escapes; write `\\\\` for a backslash"
        ),
        Mistake(
            "a \"x\\é\" \"\\n\";",
            "1:5+2 unknown escape `\\é` | only `\\\"` and `\\\\` are escapes; write `\\\\` for a backslash",
            "1:10+2 unknown escape `\\n` | only `\\\"` and `\\\\` are escapes; write `\\\\` for a backslash"
        ),
        Mistake(
            "// c\na;",
            "1:1+0 `//` does not begin a comment here | comments are `# ...`, except in login blocks"
        ),
        Mistake(
            "/* c */ a;",
            "1:1+0 `/*` does not begin a comment here | comments are `# ...`, except in login blocks"
        ),
        Mistake(
            "state ${env:HOME};\nb;",
            "1:7+11 `${...}` outside of quotes | write \"${env:HOME}\""
        ),
        Mistake(
            "listen ${HOST}:${PORT};\nb;",
            "1:8+15 `${...}` outside of quotes | write \"${HOST}:${PORT}\", or \"${env:HOST}:${env:PORT}\" for the environment variable"
        ),
        Mistake(
            "state ${HOME}/x;\nb;",
            "1:7+9 `${...}` outside of quotes | write \"${HOME}/x\", or \"${env:HOME}/x\" for the environment variable"
        ),
        Mistake(
            "state x${a}y z;\nb;",
            "1:7+6 `${...}` outside of quotes | write \"x${a}y\""
        ),
        Mistake(
            "realm x { }",
            "1:6+0 an invisible character (U+00A0) in a word | replace it with a space, or put the word in double quotes"
        ),
        Mistake(
            "a ​b;",
            "1:3+1 an invisible character (U+200B) in a word | replace it with a space, or put the word in double quotes"
        ),
        Mistake(
            "a \u{07};",
            "1:3+3 an invisible character (U+0007) in a word | replace it with a space, or put the word in double quotes"
        ),
        Mistake(
            "﻿a;",
            "1:1+0 a byte order mark (U+FEFF) | save the file as UTF-8 without a byte order mark"
        ),
        Mistake(
            "login x;",
            "1:1+5 `login` without a block | write login NAME { ... }"
        ),
        Mistake(
            "login { M required; }",
            "1:1+5 a `login` block has one name | write login NAME { ... }"
        ),
        Mistake(
            "login a b { M required; }",
            "1:9+1 a `login` block has one name | write login NAME { ... }"
        ),
        Mistake(
            "server {\n  login x { M required; }\n}",
            "2:3+5 a `login` block within another block | move it to the top level"
        ),
        Mistake(
            "login x {\n  # c\n  M required;\n}",
            "2:3+0 `#` does not begin a comment here | comments of login contexts are `// ...` and `/* ... */`"
        ),
        Mistake(
            "login x { M requierd; };\na;",
            "1:13+8 `requierd` is not a control flag | did you mean `required`?"
        ),
        Mistake(
            "login x { }",
            "1:7+1 the context `x` has no modules | the JDK ignores an empty context and uses `other`; remove it or add a module"
        ),
        Mistake(
            "login x {\n  M required;\nrealm y {\n  class Z;\n}\n",
            "3:1+1 the block of `x` is not closed | the block begins at realms.conf:1:9; close it with `}`"
        ),
        Mistake(
            "login x {\n  M required;\nserver {\n  a;\n}\n",
            "3:1+1 the block of `x` is not closed | the block begins at realms.conf:1:9; close it with `}`"
        ),
        Mistake(
            "login x {\n  M required",
            "2:13+1 the block of `x` is not closed | the block begins at realms.conf:1:9; close it with `}`"
        ),
        Mistake(
            "login x { M required a=\"b }\nc;",
            "1:24+3 this quoted text is not closed | close it with `\"`; it cannot continue on the next line"
        ),
        Mistake(
            "login x { M required; /* c }\nc;",
            "1:23+0 this comment is not closed | close it with `*/`"
        ),
        Mistake(
            "login x { M required a=1; }\nb \"\\q\";\n",
            "1:24+1 an unquoted option value cannot begin with `1` | write \"1\"",
            "2:4+2 unknown escape `\\q` | only `\\\"` and `\\\\` are escapes; write `\\\\` for a backslash"
        ),
    ]
}
