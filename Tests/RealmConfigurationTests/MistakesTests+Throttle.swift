// SPDX-License-Identifier: Apache-2.0

extension MistakesTests {
    static let throttle: [Mistake] = [
        Mistake(
            "server { throttle on; }",
            "etc/realms.conf:1:10: error: throttle takes a block and no words | as in: throttle { failures 10; }"
        ),
        Mistake(
            "server { throttle { failure 3; } }",
            "etc/realms.conf:1:21: error: unknown statement failure in throttle | did you mean failures?"
        ),
        Mistake(
            "server { throttle { failures -1; source-failures 60001; } }",
            "etc/realms.conf:1:30: error: failures is a whole number from 0 to 10000, not -1",
            "etc/realms.conf:1:50: error: source-failures is a whole number from 0 to 60000, not 60001"
        ),
        Mistake(
            "server { throttle { window 0s; lock 8d; delay 2m; } }",
            "etc/realms.conf:1:28: error: window is a time from 1s to 168h",
            "etc/realms.conf:1:37: error: lock is a time from 1s to 168h",
            "etc/realms.conf:1:47: error: delay is a time from 0ms to 60s"
        ),
        Mistake(
            "server { throttle { delay 2s; longest-delay 1s; } }",
            "etc/realms.conf:1:45: error: longest-delay must not be shorter than delay | delay 0s turns delays off"
        ),
        Mistake(
            "server { throttle { accounts 10; sources 10; } }",
            "etc/realms.conf:1:30: error: accounts is a whole number from 1000 to 10000000, not 10",
            "etc/realms.conf:1:42: error: sources is a whole number from 1000 to 10000000, not 10"
        ),
        Mistake(
            "server { throttle { exempt 10.0.0.0/8 proxy 10.1.0.0/8; } }",
            "etc/realms.conf:1:39: error: exempt takes addresses such as 10.0.0.0/8, 127.0.0.1 or 2001:db8::/32, not proxy | names are not resolved here: write addresses or networks, as in 127.0.0.1 or 10.0.0.0/8",
            "etc/realms.conf:1:45: error: exempt takes the first address of a block; 10.1.0.0 is not the first address of 10.1.0.0/8"
        ),
        Mistake(
            "server { throttle { exempt 127.0.0.1 0.0.0.0/0; } }",
            "etc/realms.conf:1:38: warning: all clients in 0.0.0.0/0 can guess passwords without a lock of their address | write only the addresses of programs and proxies that you know"
        ),
        Mistake(
            "server { throttle { exempt; } }",
            "etc/realms.conf:1:21: error: exempt takes at least one word"
        ),
        Mistake(
            "server { throttle { failures 3; failures 4; } throttle { } }",
            "etc/realms.conf:1:47: error: a second throttle | the first one is at etc/realms.conf:1:10",
            "etc/realms.conf:1:33: error: a second failures | the first one is at etc/realms.conf:1:21"
        ),
    ]
}
