// SPDX-License-Identifier: Apache-2.0

import Testing

extension MistakesTests {
    /// Addresses that cannot be used together.
    static let addresses = [
        Mistake(
            "server { listen 127.0.0.1:18500; metrics { listen 127.0.0.1:18500; } }",
            "etc/realms.conf:1:51: error: a second 127.0.0.1:18500 | the first one is at etc/realms.conf:1:17; choose another port"
        ),
        Mistake(
            "server { metrics { listen 127.0.0.1:18500; } listen 127.0.0.1:18500; }",
            "etc/realms.conf:1:53: error: a second 127.0.0.1:18500 | the first one is at etc/realms.conf:1:27; choose another port"
        ),
        Mistake(
            "server { listen a:1 b:1; listen A:1; }",
            "etc/realms.conf:1:33: error: a second A:1 | the first one is at etc/realms.conf:1:17; choose another port"
        ),
        Mistake(
            "server { metrics { listen 127.0.0.1:1 127.0.0.2:1 127.0.0.1:1; } }",
            "etc/realms.conf:1:51: error: a second 127.0.0.1:1 | the first one is at etc/realms.conf:1:27; choose another port"
        ),
        Mistake(
            "server { listen 0.0.0.0:8443 127.0.0.1:8443; }",
            "etc/realms.conf:1:30: error: 0.0.0.0:8443 includes 127.0.0.1:8443 | the other one is at etc/realms.conf:1:17; remove one of them, or choose another port"
        ),
        Mistake(
            "server { listen 127.0.0.1:8443 *:8443; }",
            "etc/realms.conf:1:32: error: 0.0.0.0:8443 includes 127.0.0.1:8443 | the other one is at etc/realms.conf:1:17; remove one of them, or choose another port"
        ),
        Mistake(
            "server { listen [::]:8443 127.0.0.1:8443; }",
            "etc/realms.conf:1:27: error: [::]:8443 includes 127.0.0.1:8443 | the other one is at etc/realms.conf:1:17; remove one of them, or choose another port"
        ),
        Mistake(
            "server { listen [::1]:8443 [::]:8443; }",
            "etc/realms.conf:1:28: error: [::]:8443 includes [::1]:8443 | the other one is at etc/realms.conf:1:17; remove one of them, or choose another port"
        ),
        Mistake(
            "server { listen [::]:8443 localhost:8443; }",
            "etc/realms.conf:1:27: error: [::]:8443 includes localhost:8443 | the other one is at etc/realms.conf:1:17; remove one of them, or choose another port"
        ),
        Mistake(
            "server { listen [::1]:8443 [0:0:0:0:0:0:0:1]:8443; }",
            "etc/realms.conf:1:28: error: a second [0:0:0:0:0:0:0:1]:8443 | the first one is at etc/realms.conf:1:17; choose another port"
        ),
        Mistake(
            "server { listen 127.0.0.1:9464; metrics { } }",
            "etc/realms.conf:1:33: error: a second 127.0.0.1:9464 | the first one is at etc/realms.conf:1:17; choose another port"
        ),
        Mistake(
            "server { metrics { listen 127.0.0.1:8443; } }",
            "etc/realms.conf:1:27: error: a second 127.0.0.1:8443 | the server listens on 127.0.0.1:8443 if there is no listen statement; choose another port"
        ),
        // With port 0 the system chooses a port for each address, and these addresses can be bound together.
        Mistake("server { listen 127.0.0.1:0 127.0.0.1:0 0.0.0.0:0; metrics { listen 127.0.0.1:0; } }"),
        Mistake("server { listen 127.0.0.1:1 127.0.0.2:1 [::1]:1 127.0.0.1:2 [fe80::1%a]:1 [fe80::1%b]:1; }"),
        Mistake("server { listen 0.0.0.0:1 [::1]:1; }"),
        // The name may be that of an IPv6 address.
        Mistake("server { listen 0.0.0.0:1 localhost:1; }"),
        // Where an IPv6 socket never takes IPv4 connections, both wildcards can be bound.
        Mistake(
            "server { listen [::]:1 0.0.0.0:1 127.0.0.1:2; }",
            files: ["/proc/sys/net/ipv6/bindv6only": "1\n"]
        ),
        Mistake(
            "server { listen [::]:1 0.0.0.0:1; }",
            files: ["/proc/sys/net/ipv6/bindv6only": "0\n"],
            "etc/realms.conf:1:24: error: [::]:1 includes 0.0.0.0:1 | the other one is at etc/realms.conf:1:17; remove one of them, or choose another port"
        ),
    ]
}
