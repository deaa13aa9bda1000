// SPDX-License-Identifier: Apache-2.0

extension MistakesTests {
    private static let validRealm = login + realm
    private static let host = "is not a host that can be protected"

    private static let hostsWithAsterisk = ["*.*.a", "*.", "app.*", "www*.a.example", "*a.example", "a.*.example"]

    private static let patterns: [(path: String, character: String, parent: String)] = [
        ("/admin/*", "*", "/admin"), ("/admin/**", "*", "/admin"), ("/a/b*", "*", "/a"), ("/*", "*", "/"),
        ("/*.jsp", "*", "/"), ("/a/(b|c)/d", "(", "/a"), ("/a|b", "|", "/"), ("/a/b)", ")", "/a"),
        ("/a/[0-9]", "[", "/a"), ("/a/9]", "]", "/a"), ("/a/b?", "?", "/a"), ("/admin$", "$", "/"),
        ("/^admin", "^", "/"),
        ("/users/<id>/x", "<", "/users"), ("/users/:id", ":", "/users"),
    ]

    private static let badPaths = [
        (path: "/a%20b", hint: "requests are decoded before they are compared: write the character itself"),
        (path: "/a/../b", hint: "remove . and ..: a request with them is rejected"),
        (path: "/./a", hint: "remove . and ..: a request with them is rejected"),
        (path: "/a//b", hint: "one / is enough: a request with // is rejected"),
        (path: "/a?x=1", hint: "a rule is for a path with any query: remove ? and the query"),
        (path: "admin", hint: "a path begins with /, also after a host: /welcome, app.example.com/, *.example.com/"),
        (
            path: "app.example.com",
            hint: "a path begins with /, also after a host: /welcome, app.example.com/, *.example.com/"
        ),
        (path: "*.jsp", hint: "a path begins with /, also after a host: /welcome, app.example.com/, *.example.com/"),
        (
            path: "/é",
            hint: "use visible ASCII without # ; \\ \" and blanks; for other paths write a rule for the path above them"
        ),
    ]

    static let rules: [Mistake] = [
        Mistake(
            "protect /a { open; realm xtech; }",
            "etc/realms.conf:1:20: error: open and realm exclude each other"
        ),
        Mistake(
            "protect /a { nobody; auth basic; require any; networks ::1; open; }",
            "etc/realms.conf:1:22: error: nobody and auth exclude each other",
            "etc/realms.conf:1:34: error: nobody and require exclude each other",
            "etc/realms.conf:1:47: error: nobody and networks exclude each other",
            "etc/realms.conf:1:61: error: nobody and open exclude each other"
        ),
        Mistake("protect /a { open up; }", "etc/realms.conf:1:19: error: open takes no words | end it with ;"),
        Mistake(
            "protect /a { open\n nosuch; }",
            "etc/realms.conf:2:2: error: a ; is missing before this word | open takes no words"
        ),
        Mistake(
            "protect /a { nobody\n methods GET; }",
            "etc/realms.conf:2:2: error: a ; is missing before methods | quote it if it is meant as a word of nobody"
        ),
        Mistake("protect /a { open { } }", "etc/realms.conf:1:14: error: open takes no block | end it with ;"),
        Mistake(
            "protect = { open; }",
            "etc/realms.conf:1:1: error: protect takes one word before its block"
        ),
        Mistake(
            "protect =/a { open; }",
            "etc/realms.conf:1:9: error: = \(host) | write a blank after ="
        ),
        Mistake(
            "protect [::1]/a { open; }",
            "etc/realms.conf:1:9: error: [::1] \(host) | IPv6 addresses are not supported here"
        ),
        Mistake(
            "protect a.example:8443/a { open; }",
            "etc/realms.conf:1:9: error: a.example:8443 \(host) | a rule is for all ports of a host: remove the port"
        ),
        Mistake(
            "protect https://a.example/a { open; }",
            "etc/realms.conf:1:9: error: https://a.example/a is a URL | write the host and the path only: a.example/a"
        ),
        Mistake(
            "protect http://a.example:8080?x=1 { open; }",
            "etc/realms.conf:1:9: error: http://a.example:8080?x=1 is a URL | write the host and the path only: a.example/"
        ),
        Mistake(
            "protect 'a.example/a' { open; }",
            "etc/realms.conf:1:9: error: the quotation mark ' does not begin a quoted text | replace it and the quotation mark that closes it with \""
        ),
        Mistake(
            "protect ~ /admin { open; }\nprotect ^~ /admin/ { open; }",
            "etc/realms.conf:1:9: error: ~ is an operator for patterns, and patterns are not supported | /admin is for that path and all paths below it; = /admin is for that path only",
            "etc/realms.conf:2:9: error: ^~ is an operator for patterns, and patterns are not supported | /admin is for that path and all paths below it; = /admin is for that path only"
        ),
        Mistake(
            hostsWithAsterisk.map { "protect \($0)/a { open; }" }.joined(separator: "\n"),
            diagnostics: hostsWithAsterisk.enumerated().map { index, name in
                "etc/realms.conf:\(index + 1):9: error: \(name) \(host) | * is allowed only at the beginning, as in *.example.com for all hosts below a domain"
            }
        ),
        Mistake(
            patterns.map { "protect \($0.path) { open; }" }.joined(separator: "\n"),
            diagnostics: patterns.enumerated().map { index, pattern in
                "etc/realms.conf:\(index + 1):9: error: \(pattern.path) contains \(pattern.character), and patterns are not supported | "
                    + "\(pattern.parent) is for all paths below it; quote the path if \(pattern.character) is a part of its name"
            }
        ),
        Mistake(
            "protect a.example/b/* { open; }",
            "etc/realms.conf:1:9: error: /b/* contains *, and patterns are not supported | /b is for all paths below it; quote the path if * is a part of its name"
        ),
        Mistake("protect \"/admin/*\" { open; }\nprotect \"/a(b|c)[d]$^<e>\" { open; }\nprotect \"/a/:b\" { open; }"),
        Mistake(
            badPaths.map { "protect \($0.path) { open; }" }.joined(separator: "\n"),
            diagnostics: badPaths.enumerated().map { index, bad in
                "etc/realms.conf:\(index + 1):9: error: \(bad.path) is not a path that can be protected | \(bad.hint)"
            }
        ),
        Mistake(
            validRealm + "protect /a { realm xtech; require group Staff; require any; }",
            "etc/realms.conf:3:48: error: require any cannot be combined with another require | a user needs to meet one requirement only, and every user meets any: remove require any or the others"
        ),
        Mistake(
            validRealm + "protect /a { realm xtech; require any; require any; require user ann; }",
            "etc/realms.conf:3:27: error: require any cannot be combined with another require | a user needs to meet one requirement only, and every user meets any: remove require any or the others"
        ),
        Mistake(
            validRealm + "protect /a { realm xtech; require user * \"*\"; require group Adm?n; }",
            "etc/realms.conf:3:40: error: * is a pattern, and patterns are not supported | for every user of the realms write require any; quote the word if it is a name",
            "etc/realms.conf:3:61: error: Adm?n is a pattern, and patterns are not supported | for every user of the realms write require any; quote the word if it is a name"
        ),
        Mistake("protect */a { open; }", "etc/realms.conf:1:9: error: * \(host) | for all hosts, write the path only"),
        Mistake(
            ["a_b", "a..b", "-a", "a-", "été.example", String(repeating: "a", count: 64)]
                .map { "protect \($0)/a { open; }" }.joined(separator: "\n"),
            diagnostics: ["a_b", "a..b", "-a", "a-", "été.example", String(repeating: "a", count: 64)]
                .enumerated().map { index, name in
                    "etc/realms.conf:\(index + 1):9: error: \(name) \(host) | use ASCII letters, digits, - and ., "
                        + "as in app.example.com/admin or *.example.com/"
                }
        ),
        Mistake(
            "protect a.example//a { open; }",
            "etc/realms.conf:1:9: error: //a is not a path that can be protected | one / is enough: a request with // is rejected"
        ),
        Mistake(
            "protect a.example/ { open; }\nprotect A.example./ { nobody; }",
            "etc/realms.conf:2:9: error: a second rule for a.example/ | the first one is at etc/realms.conf:1:9"
        ),
        Mistake(
            "protect /a { open; methods GET; }\nprotect /a { nobody; }",
            "etc/realms.conf:2:9: error: a second rule for /a | the first one is at etc/realms.conf:1:9; if a path has several rules, each needs methods"
        ),
        Mistake(
            "protect = /a { open; methods GET PUT; }\nprotect = /a { nobody; methods POST PUT; }",
            "etc/realms.conf:2:11: error: a second rule for PUT = /a | the first one is at etc/realms.conf:1:11"
        ),
        Mistake(
            "protect /a { open; methods GET; }\nprotect /a { nobody; methods HEAD; }",
            "etc/realms.conf:2:9: error: a second rule for HEAD /a | the first one is at etc/realms.conf:1:9; GET includes HEAD"
        ),
        Mistake(
            "protect /a { open; methods get GET GET \"\" M-SEARCH; }",
            "etc/realms.conf:1:28: error: get is not a method | methods are in capital letters: GET",
            "etc/realms.conf:1:36: error: GET occurs twice in methods",
            "etc/realms.conf:1:40: error:  is not a method | a method has 1 to 32 characters, A to Z and -, such as GET"
        ),
        Mistake(
            "protect /a { open; methods; networks; }",
            "etc/realms.conf:1:20: error: methods takes at least one word",
            "etc/realms.conf:1:29: error: networks takes at least one word"
        ),
        Mistake(
            "protect /a { open; networks 10.0.0.1/8 ::1 here; }",
            "etc/realms.conf:1:29: error: networks takes the first address of a block; 10.0.0.1 is not the first address of 10.0.0.1/8",
            "etc/realms.conf:1:44: error: networks takes addresses such as 10.0.0.0/8, 127.0.0.1 or 2001:db8::/32, not here | names are not resolved here: write addresses or networks, as in 127.0.0.1 or 10.0.0.0/8"
        ),
        Mistake(
            validRealm + "protect /a { realm xtech xtec xtech; require any; auth form basic form; }",
            "etc/realms.conf:3:67: error: form occurs twice in auth",
            "etc/realms.conf:3:26: error: there is no realm xtec | did you mean xtech?",
            "etc/realms.conf:3:31: error: xtech occurs twice in realm"
        ),
        Mistake(
            validRealm + "protect /a { realm xtech; require user ann methods GET; }",
            "etc/realms.conf:3:44: warning: methods is read as a name | names are separated by blanks, statements end with ; (quote the word if it is a name)"
        ),
    ]

    static let roles: [Mistake] = [
        Mistake(
            validRealm + "protect /a { realm xtech; realm xtech; require any; open; }",
            "etc/realms.conf:3:27: error: a second realm | the first one is at etc/realms.conf:3:14",
            "etc/realms.conf:3:14: error: open and realm exclude each other",
            "etc/realms.conf:3:40: error: open and require exclude each other"
        ),
        Mistake(
            validRealm + "role admin { user ann; }\nprotect /a { realm xtech; require role admni; }",
            "etc/realms.conf:4:40: error: there is no role admni | did you mean admin?",
            "etc/realms.conf:3:6: warning: no rule requires the role admin | if the code of your server requires it, write required-by code; in the role"
        ),
        Mistake(
            "role admin { user ann; }",
            "etc/realms.conf:1:6: warning: no rule requires the role admin | if the code of your server requires it, write required-by code; in the role"
        ),
        Mistake(
            validRealm + "protect /account { nobody; }\nprotect /session/x { open; }\n"
                + "protect /a { realm xtech; auth form; require any; }",
            "etc/realms.conf:3:9: warning: the rule has no effect: /account is a sign-in page | set another path for the pages with server { sign-in { prefix /gatehouse; } }",
            "etc/realms.conf:4:9: warning: the rule has no effect: /session is a sign-in page | set another path for the pages with server { sign-in { prefix /gatehouse; } }"
        ),
        Mistake(
            "role admin { }",
            "etc/realms.conf:1:6: error: the role admin has no group or user | as in: group Admins;  or: user ann;",
            "etc/realms.conf:1:6: warning: no rule requires the role admin | if the code of your server requires it, write required-by code; in the role"
        ),
        Mistake(
            "role admin;",
            "etc/realms.conf:1:1: error: role needs a block in { }",
            "etc/realms.conf:1:6: warning: no rule requires the role admin | if the code of your server requires it, write required-by code; in the role"
        ),
        Mistake(
            validRealm + "role a { user ann; }\nrole a { user zed; }\nprotect /a { realm xtech; require role a; }",
            "etc/realms.conf:4:6: error: a second role a | the first one is at etc/realms.conf:3:6"
        ),
        Mistake(
            validRealm
                + "role a { realm xtec; usr x; user \"\"; realm xtech; }\nprotect /a { realm xtech; require role a; }",
            "etc/realms.conf:3:22: error: unknown statement usr in role | did you mean user?",
            "etc/realms.conf:3:38: error: a second realm | the first one is at etc/realms.conf:3:10",
            "etc/realms.conf:3:16: error: there is no realm xtec | did you mean xtech?",
            "etc/realms.conf:3:34: error: a name must not be empty"
        ),
    ]

    static let proxies: [Mistake] = [
        Mistake(
            "server { forwarded-host yes; }",
            "etc/realms.conf:1:25: error: forwarded-host is on or off, not yes"
        ),
        Mistake(
            "server { forwarded-host on; }",
            "etc/realms.conf:1:25: warning: forwarded-host has no effect without trusted-proxies | name the addresses of the proxies"
        ),
        Mistake(
            "server { cors-preflights api.example.com; }",
            "etc/realms.conf:1:10: warning: cors-preflights has no effect without trusted-proxies | name the addresses of the proxies"
        ),
        Mistake(
            "server { trusted-proxies 10.0.0.1; cors-preflights a.example/x \"\" *; }",
            "etc/realms.conf:1:52: error: \"a.example/x\" is not a host | write hosts only, as in: cors-preflights api.example.com *.example.org;",
            "etc/realms.conf:1:64: error: \"\" is not a host | write hosts only, as in: cors-preflights api.example.com *.example.org;",
            "etc/realms.conf:1:67: error: \"*\" is not a host | write hosts only, as in: cors-preflights api.example.com *.example.org;"
        ),
        Mistake(
            "server { sign-in { host auth.example.com; } }",
            "etc/realms.conf:1:10: warning: https://auth.example.com signs users in for other hosts, but no proxy is trusted: each check of a proxy gets 403 | name the addresses of the proxies, or write trusted-proxies none; if there is no proxy"
        ),
        Mistake(
            "protect /a { nobody; ambiguous-paths allow; }",
            "etc/realms.conf:1:22: error: nobody and ambiguous-paths exclude each other"
        ),
        Mistake(
            "protect /a { open; ambiguous-paths allowed; }",
            "etc/realms.conf:1:36: error: ambiguous-paths is one of refuse, allow, not allowed | did you mean allow?"
        ),
        Mistake(
            "server { trusted-proxies none 10.0.0.1; }",
            "etc/realms.conf:1:26: error: trusted-proxies takes addresses such as 10.0.0.0/8, 127.0.0.1 or 2001:db8::/32, not none | names are not resolved here: write addresses or networks, as in 127.0.0.1 or 10.0.0.0/8"
        ),
        Mistake(
            "server { trusted-proxies; }",
            "etc/realms.conf:1:10: error: trusted-proxies takes at least one word"
        ),
        Mistake(
            "server { trusted-proxies 0.0.0.0/1 ::/0 10.0.0.0/8; }",
            "etc/realms.conf:1:26: warning: all clients in 0.0.0.0/1 are trusted as proxies, and can forge the address and the URL of their requests | write only the addresses of the proxies",
            "etc/realms.conf:1:36: warning: all clients in ::/0 are trusted as proxies, and can forge the address and the URL of their requests | write only the addresses of the proxies"
        ),
    ]

    static let sessions: [Mistake] = [
        Mistake(
            "server { sessions on; }",
            "etc/realms.conf:1:10: error: sessions takes a block and no words | as in: sessions { idle 30m; absolute 12h; }"
        ),
        Mistake(
            "server { sessions { idle 9s; absolute 401d; warning 2d; per-user 0; total 10000001; } }",
            "etc/realms.conf:1:26: error: idle is a time from 10s to 168h",
            "etc/realms.conf:1:39: error: absolute is a time from 60s to 9600h",
            "etc/realms.conf:1:53: error: warning is a time from 0ms to 24h",
            "etc/realms.conf:1:66: error: per-user is a whole number from 1 to 1000, not 0",
            "etc/realms.conf:1:75: error: total is a whole number from 1 to 10000000, not 10000001"
        ),
        Mistake(
            "server { sessions { idle 1h; absolute 30m; warning 1h; } }",
            "etc/realms.conf:1:39: error: absolute must not be shorter than idle | the default of idle is 30m, and of absolute 12h",
            "etc/realms.conf:1:52: error: warning must be shorter than idle | the default of idle is 30m"
        ),
        Mistake(
            "server { sessions { idle 1d; } }",
            "etc/realms.conf:1:26: error: absolute must not be shorter than idle | the default of idle is 30m, and of absolute 12h"
        ),
        Mistake(
            "server { sessions { streams -1; streams-per-session 1001; idel 3m; } }",
            "etc/realms.conf:1:59: error: unknown statement idel in sessions | did you mean idle?",
            "etc/realms.conf:1:53: error: streams-per-session is a whole number from 0 to 1000, not 1001",
            "etc/realms.conf:1:29: error: streams is a whole number from 0 to 1000000, not -1"
        ),
    ]

    static let signIn: [Mistake] = [
        Mistake(
            "server { sign-in on; }",
            "etc/realms.conf:1:10: error: sign-in takes a block and no words | as in: sign-in { prefix /gatehouse; }"
        ),
        Mistake(
            validRealm + "server { sign-in { prefix gate; realm xtec; time 9s; waiting 0; } }",
            "etc/realms.conf:3:27: error: gate is not a path that can be protected | a path begins with /, also after a host: /welcome, app.example.com/, *.example.com/",
            "etc/realms.conf:3:39: error: there is no realm xtec | did you mean xtech?",
            "etc/realms.conf:3:50: error: time is a time from 10s to 24h",
            "etc/realms.conf:3:62: error: waiting is a whole number from 1 to 1000000, not 0"
        ),
        Mistake(
            "server { sign-in { return-to\n" + badOrigins.joined(separator: "\n") + "\n; } }",
            diagnostics: badOrigins.enumerated().map { index, origin in
                "etc/realms.conf:\(index + 2):1: error: \(origin) is not an origin | write https://HOST or https://HOST:PORT, without a path or a user"
            }
        ),
        Mistake(
            "server { sign-in { return-to https://a.example https://A.example.:443; } }",
            "etc/realms.conf:1:48: error: https://a.example occurs twice in return-to"
        ),
    ]

    private static let badOrigins = [
        "http://a.example", "https:a.example", "https://", "https://a.example/", "https://u@a.example",
        "https://a.example:", "https://a.example:0", "https://a.example:+443", "https://a.example:65536",
        "https://[::1]", "a.example", "https://*.example", "https://a.example?x", "https://a\\@b.example",
    ]
}
