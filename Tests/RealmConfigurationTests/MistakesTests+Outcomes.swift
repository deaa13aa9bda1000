// SPDX-License-Identifier: Apache-2.0

extension MistakesTests {
    private static func table(_ table: String, _ diagnostics: String...) -> Mistake {
        Mistake("login c { DenyLoginModule \(table); PermitLoginModule required; }", diagnostics: diagnostics)
    }

    static let outcomes = [
        table("[success=ok default=bad]"),
        table(
            "[success=ok",
            "etc/realms.conf:1:27: error: the table of outcomes is not closed | as in: [success=done unavailable=ignore default=die]"
        ),
        table(
            "[]",
            "etc/realms.conf:1:27: error: the table of outcomes is empty | as in: [success=done unavailable=ignore default=die]"
        ),
        table(
            "[success]",
            "etc/realms.conf:1:28: error: `success` is not an outcome with an action | as in: [success=done unavailable=ignore default=die]"
        ),
        table(
            "[success=ok=bad]",
            "etc/realms.conf:1:28: error: `success=ok=bad` is not an outcome with an action | as in: [success=done unavailable=ignore default=die]"
        ),
        table("[sucess=ok]", "etc/realms.conf:1:28: error: there is no outcome `sucess` | did you mean `success`?"),
        table(
            "[success=fine]",
            "etc/realms.conf:1:28: error: there is no action `fine` | the actions are ok, done, bad, die, ignore, reset, or the number of modules to skip, from 1 to 255"
        ),
        table(
            "[success=0]",
            "etc/realms.conf:1:28: error: there is no action `0` | the actions are ok, done, bad, die, ignore, reset, or the number of modules to skip, from 1 to 255"
        ),
        table("[success=ok success=done]", "etc/realms.conf:1:39: error: `success` occurs twice in the table"),
        table("[default=bad default=die]", "etc/realms.conf:1:40: error: `default` occurs twice in the table"),
        table(
            "[disabled=die acct_expired=bad]",
            "etc/realms.conf:1:41: error: `acct_expired` occurs twice in the table"
        ),
        table(
            "[unavailable=done]",
            "etc/realms.conf:1:28: error: `unavailable=done` would count a failure as a success | only a success can count as one: write success=done, and ignore, bad or die for the others"
        ),
        table(
            "[default=ok]",
            "etc/realms.conf:1:28: error: `default=ok` would count a failure as a success | only a success can count as one: write success=ok, and ignore, bad or die for the others"
        ),
        table(
            "[ignored=ok]",
            "etc/realms.conf:1:28: error: `ignored=ok` would count a failure as a success | only a success can count as one: write success=ok, and ignore, bad or die for the others"
        ),
        Mistake(
            "login c { DenyLoginModule [success=2]; PermitLoginModule required; }\nrealm r { class StackRealm; jaas-context c; }",
            "etc/realms.conf:1:28: error: there is no module after a jump over 2, because only 1 follow | a jump must lead to a module of this context"
        ),
        Mistake(
            "login-config login.conf;",
            files: ["etc/login.conf": "c { DenyLoginModule [success=ok]; };"],
            "etc/login.conf:1:21: error: a table of outcomes is not a control flag | login.conf has no tables; write this entry as a login block of realms.conf. the flags are required, requisite, sufficient, optional"
        ),
    ]
    static let cache = [
        Mistake(
            login + "realm xtech { class StartWithRealm; cache 60s; }",
            "etc/realms.conf:2:37: error: cache takes a block and no words | as in: cache { ttl 60s; stale-if-unavailable 10m; }"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; cache { time 60s; } }",
            "etc/realms.conf:2:45: error: unknown statement time in cache | known names: stale-if-unavailable, ttl"
        ),
        Mistake(
            login + "realm xtech { class StartWithRealm; cache { ttl 2h; stale-if-unavailable 2d; } }",
            "etc/realms.conf:2:49: error: ttl is a time from 0ms to 1h",
            "etc/realms.conf:2:74: error: stale-if-unavailable is a time from 0ms to 24h"
        ),
        Mistake(login + "realm xtech { class StartWithRealm; cache { ttl 1h; stale-if-unavailable 1d; } }"),
    ]
}
