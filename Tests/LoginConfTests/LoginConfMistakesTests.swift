// SPDX-License-Identifier: Apache-2.0

import LoginConf
import Testing

/// Tests the diagnostics of common mistakes in login.conf: place, underline, message and hint.
@Suite struct LoginConfMistakesTests {
    @Test(arguments: mistakes)
    func `a mistake is reported once, at its place, with a hint`(_ mistake: Mistake) {
        let parsed = LoginConf.parse(SourceText(name: "login.conf", mistake.text, names: .ofTests), expansion: .none)
        #expect(parsed.diagnostics.map(Mistake.summary) == mistake.diagnostics)
    }

    static let mistakes = [
        Mistake(
            "A { M \"é\n; };",
            "1:7+3 this quoted text is not closed | close it with `\"`; it cannot continue on the next line"
        ),
        Mistake(
            "A { M required a=\"",
            "1:18+3 this quoted text is not closed | close it with `\"`; it cannot continue on the next line"
        ),
        Mistake(
            "A { M required a=\"é",
            "1:18+3 this quoted text is not closed | close it with `\"`; it cannot continue on the next line"
        ),
        Mistake(
            "A {\n M required;\n}\nB { N required; };",
            "3:2+1 missing `;` after `}` | write `};`"
        ),
        Mistake(
            "A { M required; }",
            "1:18+1 missing `;` after `}` | write `};`"
        ),
        Mistake(
            "A {\n M required\n N required;\n};",
            "2:12+1 missing `;` after the module | every module ends with `;`, and `N` begins the next module"
        ),
        Mistake(
            "A {\n M required a=b\n N optional c=d;\n};",
            "2:16+1 missing `;` after the module | every module ends with `;`, and `N` begins the next module"
        ),
        Mistake(
            "A { M required debug=\"true\"; refresh=\"60\"; x=1; };",
            "1:30+7 the option `refresh` is not in a module | options are separated by white space, and follow the class and the flag; a `;` ends the module",
            "1:44+1 the option `x` is not in a module | options are separated by white space, and follow the class and the flag; a `;` ends the module"
        ),
        Mistake(
            "A { M required url=ldap://h:389; };",
            "1:20+12 `:` is not allowed in an unquoted option value | write \"ldap://h:389\""
        ),
        Mistake(
            "A { M required port=8080; };",
            "1:21+4 an unquoted option value cannot begin with `8` | write \"8080\""
        ),
        Mistake(
            "A { M required p=C:\\x; };",
            "1:18+4 `:` is not allowed in an unquoted option value | write \"C:\\\\x\""
        ),
        Mistake(
            "A { M required mail=u@R; };",
            "1:21+3 `@` is not allowed in an unquoted option value | write \"u@R\""
        ),
        Mistake(
            "A { M required base=ou=people,dc=x; };",
            "1:21+14 `=` is not allowed in an unquoted option value | write \"ou=people,dc=x\""
        ),
        Mistake(
            "A { M required list=a,b; };",
            "1:21+3 `,` is not allowed in an unquoted option value | write \"a,b\""
        ),
        Mistake(
            "A { M required file=/etc/passwd; };",
            "1:21+11 an unquoted option value cannot begin with `/` | write \"/etc/passwd\""
        ),
        Mistake(
            "A { M required file=etc/passwd; };",
            "1:21+10 `/` is not allowed in an unquoted option value | write \"etc/passwd\""
        ),
        Mistake(
            "A { M required a=b, c=d; };",
            "1:19+1 unexpected `,` | options are separated by white space"
        ),
        Mistake(
            "A { M requierd; };",
            "1:7+8 `requierd` is not a control flag | did you mean `required`?"
        ),
        Mistake(
            "A { M mandatory x=y; };",
            "1:7+9 `mandatory` is not a control flag | the flags are required, requisite, sufficient, optional"
        ),
        Mistake(
            "A { M debug=true; };",
            "1:6+1 the control flag of `M` is missing | the flags are required, requisite, sufficient, optional"
        ),
        Mistake(
            "A { M ; };",
            "1:6+1 the control flag of `M` is missing | the flags are required, requisite, sufficient, optional"
        ),
        Mistake(
            "A { M };",
            "1:6+1 the control flag of `M` is missing | the flags are required, requisite, sufficient, optional"
        ),
        Mistake(
            "# c\nA { # d\n M required; };",
            "1:1+0 `#` does not begin a comment here | comments of login contexts are `// ...` and `/* ... */`",
            "2:5+3 `#` does not begin a comment here | comments of login contexts are `// ...` and `/* ... */`"
        ),
        Mistake(
            "A { M required a='b'; };\n'B c' { M required; };",
            "1:18+3 single quotes around the option value | write \"b\"",
            "2:1+5 single quotes around the context name | write \"B c\""
        ),
        Mistake(
            "A { M required; };;",
            "1:19+1 unexpected `;` | a login context is NAME { MODULES };"
        ),
        Mistake(
            "A { M required;; };",
            "1:16+1 unexpected `;` | a module is CLASS FLAG, its options KEY=VALUE and one `;`"
        ),
        Mistake(
            "A { M include; };",
            "1:7+3 `include` is not a control flag | `include` is a word of PAM, not of JAAS; the flags are required, requisite, sufficient, optional"
        ),
        Mistake(
            "A { M substack common; };",
            "1:7+3 `substack` is not a control flag | `substack` is a word of PAM, not of JAAS; the flags are required, requisite, sufficient, optional"
        ),
        Mistake(
            "A M required; };",
            "1:2+1 missing `{` after the context name `A` | write `A {`; a name with a space needs double quotes"
        ),
        Mistake(
            "A;",
            "1:2+1 missing `{` after the context name `A` | write `A {`; a name with a space needs double quotes"
        ),
        Mistake(
            "A",
            "1:2+1 missing `{` after the context name `A` | write `A {`; a name with a space needs double quotes"
        ),
        Mistake(
            "A {\n M required;\n",
            "2:13+1 the block of `A` is not closed | the block begins at login.conf:1:3; close it with `};`"
        ),
        Mistake(
            "A {\n M required;\n ;",
            "3:2+1 the block of `A` is not closed | the block begins at login.conf:1:3; close it with `};`"
        ),
        Mistake(
            "A {\n M required;\nB {\n N required;\n};",
            "3:1+1 the block of `A` is not closed | the block begins at login.conf:1:3; close it with `};`"
        ),
        Mistake(
            "A {\n M required a=b\nB {\n N required;\n};",
            "3:1+1 the block of `A` is not closed | the block begins at login.conf:1:3; close it with `};`"
        ),
        Mistake(
            "A { { M required; }; };",
            "1:5+1 unexpected `{` | a module is CLASS FLAG, its options KEY=VALUE and one `;`"
        ),
        Mistake(
            "A { M required x=${t.x}; };",
            "1:18+6 `{` is not allowed in an unquoted option value | write \"${t.x}\""
        ),
        Mistake(
            "A { M required x=\"${t.x}\"; };",
            "1:19+6 the property `t.x` is not defined"
        ),
        Mistake(
            "A { M required x=\"${env:HOME}\"; };",
            "1:19+11 the property `env:HOME` is not defined | `${env:...}` and `${file:...}` work in realms.conf only"
        ),
        Mistake(
            "A { M required x=\"${}\"; };",
            "1:19+3 `${}` has no name"
        ),
        Mistake(
            "A { M required a=\"x;\n N optional;\n };",
            "1:18+3 this quoted text is not closed | close it with `\"`; it cannot continue on the next line"
        ),
        Mistake(
            "A { M required a=\"x\n y\"; };",
            "1:18+3 this quoted text is not closed | close it with `\"`; it cannot continue on the next line"
        ),
        Mistake(
            "A { M required a=\"x",
            "1:18+3 this quoted text is not closed | close it with `\"`; it cannot continue on the next line"
        ),
        Mistake(
            "A { M required; }; /* c",
            "1:20+0 this comment is not closed | close it with `*/`"
        ),
        Mistake(
            "﻿A { M required; };\nB﻿ { M required; };",
            "1:1+0 a byte order mark (U+FEFF) | save the file as UTF-8 without a byte order mark",
            "2:2+0 a byte order mark (U+FEFF) | save the file as UTF-8 without a byte order mark"
        ),
        Mistake(
            "A { M requıred; };",
            "1:7+8 `requıred` is not a control flag | did you mean `required`?"
        ),
        Mistake(
            "A { };",
            "1:1+1 the context `A` has no modules | the JDK ignores an empty context and uses `other`; remove it or add a module"
        ),
        Mistake(
            "A { \"\" required; };",
            "1:5+0 the class name is empty"
        ),
        Mistake(
            "A { com . foo . M required; };",
            "1:9+1 `.` is not a control flag | the flags are required, requisite, sufficient, optional"
        ),
        Mistake(
            "A { com/foo/M required; };",
            "1:5+9 `/` is not allowed in an unquoted class name | write \"com/foo/M\""
        ),
        Mistake(
            "include \"x.conf\";\nA { M required; };",
            "1:1+0 login.conf has no `include` | name each file in a `login-config` statement of realms.conf"
        ),
        Mistake(
            "my app { M required; };",
            "1:3+1 missing `{` after the context name `my` | write `my {`; a name with a space needs double quotes"
        ),
        Mistake(
            "my:app { M required; };",
            "1:1+6 `:` is not allowed in an unquoted context name | write \"my:app\""
        ),
        Mistake(
            "1app { M required; };",
            "1:1+4 an unquoted context name cannot begin with `1` | write \"1app\""
        ),
        Mistake(
            "{ M required; };",
            "1:1+1 unexpected `{` | a login context is NAME { MODULES };"
        ),
        Mistake(
            "auth required pam_unix.so\naccount required pam_unix.so\n",
            "1:5+1 missing `{` after the context name `auth` | write `auth {`; a name with a space needs double quotes"
        ),
        Mistake(
            "A { M required debug; };",
            "1:16+5 the option `debug` has no value | write debug=\"true\", for example"
        ),
        Mistake(
            "A { M required debug=; };",
            "1:16+5 the option `debug` has no value | write debug=\"true\", for example"
        ),
        Mistake(
            "A { M required a b; };",
            "1:17+1 missing `=` after the option key `a` | an option is KEY=VALUE"
        ),
        Mistake(
            "A { M required a=b\"c\"; };",
            "1:19+3 a quoted text touches another word | put white space between them, or write one quoted text"
        ),
        Mistake(
            "A { M required 5=\"x\"; };",
            "1:16+1 an unquoted option key cannot begin with `5` | write \"5\""
        ),
        Mistake(
            "A { M required; / c\n };",
            "1:17+1 `/` does not begin a comment here | comments of login contexts are `// ...` and `/* ... */`"
        ),
        Mistake(
            "A { refresh=\"60\"; };",
            "1:5+7 the option `refresh` is not in a module | options are separated by white space, and follow the class and the flag; a `;` ends the module"
        ),
        Mistake(
            "A { M\n N required;\n};",
            "1:6+1 the control flag of `M` is missing | the flags are required, requisite, sufficient, optional"
        ),
        Mistake(
            "A { M required; };\nB { M required; };\n\"A\" { M required; };",
            "3:1+0 a second login context `A` | the first one is at login.conf:1:1"
        ),
        Mistake(
            "A { M required a=b x=y a=c; };",
            "1:24+1 warning: the option `a` is set twice in this module | the last value is used; the earlier one is at login.conf:1:16"
        ),
        Mistake(
            "A { M required a=(x); };",
            "1:18+3 an unquoted option value cannot begin with `(` | write \"(x)\""
        ),
        Mistake(
            "A { M required } ;",
            "1:15+1 missing `;` after the module | every module ends with `;`"
        ),
        Mistake(
            "A = { M required; };",
            "1:2+1 missing `{` after the context name `A` | write `A {`; a name with a space needs double quotes"
        ),
        Mistake(
            "A { M required; }; }",
            "1:20+1 unexpected `}` | a login context is NAME { MODULES };"
        ),
        Mistake(
            "A { M required a=b {c}; };",
            "1:20+1 unexpected `{` | an option is KEY=VALUE"
        ),
        Mistake(
            "A { M required }\nB { N mandatory; };\nC { O required x=1 y=2; };",
            "1:15+1 missing `;` after the module | every module ends with `;`",
            "1:17+1 missing `;` after `}` | write `};`",
            "2:7+9 `mandatory` is not a control flag | the flags are required, requisite, sufficient, optional",
            "3:18+1 an unquoted option value cannot begin with `1` | write \"1\""
        ),
        Mistake(
            "A { M required key:1=x; };",
            "1:16+5 `:` is not allowed in an unquoted option key | write \"key:1\""
        ),
        Mistake(
            "A { M required don't=x; };",
            "1:16+5 `'` is not allowed in an unquoted option key | write \"don't\""
        ),
        Mistake(
            "A { M required x=don't; };",
            "1:18+5 `'` is not allowed in an unquoted option value | write \"don't\""
        ),
        Mistake(
            "A { M required x==y; };",
            "1:18+2 an unquoted option value cannot begin with `=` | write \"=y\""
        ),
        Mistake(
            "A { M required x={y}; };",
            "1:18+3 an unquoted option value cannot begin with `{` | write \"{y}\""
        ),
        Mistake(
            "<config>\n <a b=\"c\"/>\n</config>",
            "1:1+8 an unquoted context name cannot begin with `<` | write \"<config>\""
        ),
    ]
}
