// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import PackageDescription

// Products of other packages, named once.
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let deques = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

// The commit for --version. `make install` and `make package` set it; it is no part of other builds.
let commit = Context.environment["GATEHOUSE_COMMIT"].flatMap { text in
    (7...40).contains(text.utf8.count) && text.allSatisfy(\.isHexDigit) ? text : nil
}

let package = Package(
    name: "gatehouse",
    products: [
        // For realm authors.
        .library(name: "RealmKit", targets: ["RealmKit"]),
        .library(name: "RealmTesting", targets: ["RealmTesting"]),
        .library(name: "Passwords", targets: ["Passwords"]),
        // For executables of one's own: the built-in realms, the store, the two commands, the server.
        .library(name: "BuiltInRealms", targets: ["BuiltInRealms"]),
        .library(name: "RealmsWithoutStore", targets: ["RealmsWithoutStore"]),
        .library(name: "StoreServices", targets: ["StoreServices"]),
        .library(name: "AuthcheckCommand", targets: ["AuthcheckCommand"]),
        .library(name: "AuthcheckRemote", targets: ["AuthcheckRemote"]),
        .library(name: "GatehouseCommand", targets: ["GatehouseCommand"]),
        .library(name: "AccessControl", targets: ["AccessControl"]),
        .library(name: "Gatehouse", targets: ["Gatehouse"]),
        // For servers of one's own: their routes, protected.
        .library(name: "HummingbirdRealms", targets: ["HummingbirdRealms"]),
        // For those who only want the parts.
        .library(name: "LoginConf", targets: ["LoginConf"]),
        .library(name: "RealmConfiguration", targets: ["RealmConfiguration"]),
        .library(name: "OpenSSLKit", targets: ["OpenSSLKit"]),
        .library(name: "NIOOpenSSL", targets: ["NIOOpenSSL"]),
        .library(name: "HTTPSClient", targets: ["HTTPSClient"]),
        .executable(name: "gatehouse", targets: ["gatehouse-server"]),
        .executable(name: "authcheck", targets: ["authcheck"]),
        .executable(name: "gatehouse-pam-helper", targets: ["pam-helper"]),
        .executable(name: "conformance", targets: ["conformance"]),
    ],
    traits: [
        .trait(name: "LDAP", description: "LDAPRealm; needs libldap-dev."),
        .trait(name: "PAM", description: "PAMRealm and its helper program; needs libpam0g-dev."),
        .trait(name: "PostgreSQL", description: "SQLRealm with PostgreSQL databases; needs libpq-dev."),
        .default(enabledTraits: ["LDAP", "PAM", "PostgreSQL"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        // No traits and only the product Hummingbird: it then compiles no second TLS library.
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1", traits: []),
    ],
    targets: [
        // Text, bytes and the check of files, as several targets need them.
        .target(name: "Bytes"),
        // A strict reader of JSON.
        .target(name: "JSONReading", dependencies: ["Bytes"]),
        // The version, for --version.
        .target(
            name: "CGatehouseBuild",
            path: "Sources/System/CGatehouseBuild",
            cSettings: commit.map { [.define("GATEHOUSE_COMMIT", to: "\"\($0)\"")] } ?? []
        ),
        .target(name: "GatehouseVersion", dependencies: ["CGatehouseBuild"]),
        // The vocabulary and the engine.
        .target(name: "RealmKit", dependencies: ["Bytes", "WorkerThreads"]),
        .target(name: "LoginConf", dependencies: ["RealmKit"]),
        .target(name: "Throttle", dependencies: ["Bytes", "RealmKit"]),
        .target(name: "Sessions", dependencies: ["Bytes", "OpenSSLKit", "RealmKit"]),
        // Signed statements for applications about their users.
        .target(name: "IdentityTokens", dependencies: ["Bytes", "OpenSSLKit", "RealmKit"]),
        .target(
            name: "RealmConfiguration",
            dependencies: [
                "Bytes", "HTTPLimits", "LoginConf", "OpenSSLKit", "Passwords", "RealmKit", "Sessions", "Throttle",
            ]
        ),
        .target(name: "RealmTesting", dependencies: ["Passwords", "RealmKit"]),

        // One target per kind of realm; adding one is a target here and a line in RealmsWithoutStore or BuiltInRealms.
        .target(name: "RealmStack", dependencies: ["RealmKit"], path: "Sources/Realms/Stack"),
        .target(
            name: "RealmStore",
            dependencies: ["Bytes", "OpenSSLKit", "Passwords", "RealmKit", "Store"],
            path: "Sources/Realms/Store"
        ),
        .target(
            name: "RealmAggregate",
            dependencies: ["Bytes", "OpenSSLKit", "RealmKit"],
            path: "Sources/Realms/Aggregate"
        ),
        .target(
            name: "RealmFile",
            dependencies: ["Bytes", "OpenSSLKit", "Passwords", "RealmKit"],
            path: "Sources/Realms/File"
        ),
        .target(
            name: "RealmCertificate",
            dependencies: ["Bytes", "OpenSSLKit", "RealmKit"],
            path: "Sources/Realms/Certificate"
        ),
        .target(name: "RealmStartWith", dependencies: ["RealmKit"], path: "Sources/Realms/StartWith"),
        .target(
            name: "RealmExec",
            dependencies: ["Bytes", "HelperProcesses", "RealmKit", "Slots", "WorkerThreads"],
            path: "Sources/Realms/Exec"
        ),
        .target(
            name: "RealmRemote",
            dependencies: [
                "Bytes", "HTTPSClient", "JSONReading", "OpenSSLKit", "RealmKit", "ServerConnections", "Slots",
            ],
            path: "Sources/Realms/Remote"
        ),
        // Users in SQL databases: SQLite, and PostgreSQL with its trait.
        .systemLibrary(
            name: "CPostgres",
            path: "Sources/System/CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"])]
        ),
        .target(
            name: "RealmSQL",
            dependencies: [
                "Bytes", .target(name: "CPostgres", condition: .when(traits: ["PostgreSQL"])), "OpenSSLKit",
                "Passwords", "RealmKit", "ServerConnections", "Slots", "WorkerThreads", grdb,
            ],
            path: "Sources/Realms/SQL"
        ),
        .target(
            name: "RealmsWithoutStore",
            dependencies: [
                "RealmAggregate", "RealmCertificate", "RealmExec", "RealmFile", "RealmKit", "RealmStack",
                "RealmStartWith",
            ]
        ),
        // Directories, by the system's libldap.
        .systemLibrary(name: "CLDAP", path: "Sources/System/CLDAP", providers: [.apt(["libldap-dev"])]),
        .target(
            name: "RealmLDAP",
            dependencies: [
                "Bytes", .target(name: "CLDAP", condition: .when(traits: ["LDAP"])), "OpenSSLKit", "RealmKit",
                "ServerConnections", "Slots", "WorkerThreads",
            ],
            path: "Sources/Realms/LDAP"
        ),
        // PAM. libpam is in the helper program only.
        .systemLibrary(name: "CPAM", path: "Sources/System/CPAM", providers: [.apt(["libpam0g-dev"])]),
        .target(name: "PAMMessages", path: "Sources/Realms/PAMMessages"),
        .target(
            name: "RealmPAM",
            dependencies: ["Bytes", "HelperProcesses", "PAMMessages", "RealmKit", "Slots", "WorkerThreads"],
            path: "Sources/Realms/PAM"
        ),
        .executableTarget(
            name: "pam-helper",
            dependencies: [
                .target(name: "CPAM", condition: .when(traits: ["PAM"])), "GatehouseVersion", "PAMMessages",
            ]
        ),
        .target(
            name: "BuiltInRealms",
            dependencies: [
                "RealmKit", .target(name: "RealmLDAP", condition: .when(traits: ["LDAP"])),
                .target(name: "RealmPAM", condition: .when(traits: ["PAM"])), "RealmRemote", "RealmSQL", "RealmStore",
                "RealmsWithoutStore",
            ]
        ),

        // TLS by the system's OpenSSL.
        .systemLibrary(
            name: "COpenSSL",
            path: "Sources/System/COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]
        ),
        .target(name: "OpenSSLKit", dependencies: ["Bytes", "COpenSSL"]),
        .target(name: "NIOOpenSSL", dependencies: ["OpenSSLKit", nioCore]),
        // A client of HTTPS services, by the system's OpenSSL.
        .target(
            name: "HTTPSClient",
            dependencies: ["Bytes", "NIOOpenSSL", "OpenSSLKit", "RealmKit", deques, nioCore, nioHTTP1, nioPosix]
        ),

        // Password hashes, by the system's libraries, and the slots in which they are computed.
        .systemLibrary(name: "CArgon2", path: "Sources/System/CArgon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CCrypt", path: "Sources/System/CCrypt", providers: [.apt(["libcrypt-dev"])]),
        .target(
            name: "Passwords",
            dependencies: ["Bytes", "CArgon2", "CCrypt", "OpenSSLKit", "RealmKit", "Slots", "WorkerThreads"]
        ),

        // Slots for calls and checks, with a bounded queue in which the sources take turns.
        .target(name: "Slots", dependencies: ["Bytes", "WorkerThreads", deques]),
        // Threads for work that blocks.
        .target(name: "WorkerThreads"),
        // Connections to servers of users, each with a thread, with fail-over between servers.
        .target(
            name: "ServerConnections",
            dependencies: ["Bytes", "OpenSSLKit", "RealmKit", "Slots", "WorkerThreads", deques]
        ),
        // Programs of their own that answer requests of realms.
        .target(name: "CHelperSpawn", path: "Sources/System/CHelperSpawn"),
        .target(
            name: "HelperProcesses",
            dependencies: ["Bytes", "CHelperSpawn", "RealmKit", "Slots", "WorkerThreads"]
        ),

        // What a program keeps: users, lock-outs.
        .target(name: "Store", dependencies: ["Bytes", "OpenSSLKit", "RealmKit", "Sessions", "Throttle", grdb]),

        // The protocols of systemd for services: notification, watchdog, sockets.
        .target(name: "SystemdNotify"),

        // HTTP over TLS: requests, responses, limits; no realms.
        .target(name: "HTTPLimits"),
        .target(
            name: "HTTPServer",
            dependencies: [
                "Bytes", "HTTPLimits", "NIOOpenSSL", "OpenSSLKit", hummingbirdCore, httpTypes, nioCore, nioHPACK,
                nioHTTP2, nioPosix,
            ]
        ),

        // Decisions about requests: rules, HTTP Basic, the credential cache. No pages, no server.
        .target(
            name: "AccessControl",
            dependencies: ["Bytes", "OpenSSLKit", "RealmConfiguration", "RealmKit", "Sessions", "Slots", httpTypes]
        ),
        // The sign-in pages, the session API and the account page, in whatever server.
        .target(
            name: "SignIn",
            dependencies: [
                "AccessControl", "Bytes", "IdentityTokens", "LoginConf", "OpenSSLKit", "Passwords",
                "RealmConfiguration", "RealmKit", "Sessions", "Store", "Throttle", coreMetrics, hummingbirdCore,
                httpTypes,
                logging, mustache, nioCore,
            ],
            resources: ["icon.svg", "session.js", "sign-in.js", "style.css"].map { .embedInCode("Assets/\($0)") }
        ),
        // The TLS of a configuration: its certificates, or one for development.
        .target(
            name: "ConfiguredTLS",
            dependencies: ["Bytes", "LoginConf", "OpenSSLKit", "RealmConfiguration", "RealmKit", "Store"]
        ),

        // Metrics as text for Prometheus. No server.
        .target(name: "PrometheusMetrics", dependencies: ["Bytes", coreMetrics]),
        // The server.
        .target(
            name: "Gatehouse",
            dependencies: [
                "AccessControl", "Bytes", "ConfiguredTLS", "HTTPLimits", "HTTPServer", "IdentityTokens", "LoginConf",
                "NIOOpenSSL", "OpenSSLKit", "PrometheusMetrics", "RealmConfiguration", "RealmKit", "Sessions", "SignIn",
                "SystemdNotify", coreMetrics, hummingbird, hummingbirdCore, httpTypes, lifecycle, logging, nioCore,
                nioHTTP1,
                nioPosix, signals,
            ]
        ),
        // Middleware for other Swift servers.
        .target(
            name: "HummingbirdRealms",
            dependencies: [
                "AccessControl", "Bytes", "ConfiguredTLS", "HostServices", "LoginConf", "NIOOpenSSL", "OpenSSLKit",
                "RealmConfiguration", "RealmKit", "Sessions", "SignIn", "StoreServices", coreMetrics, hummingbird,
                hummingbirdCore, httpTypes, lifecycle, logging, nioCore,
            ]
        ),
        // The commands.
        .target(name: "HostServices", dependencies: ["Passwords", "RealmConfiguration", "RealmKit"]),
        // Apart, so that a program without a store builds without GRDB.
        .target(name: "StoreServices", dependencies: ["HostServices", "RealmKit", "Store", "Throttle"]),
        .target(
            name: "GatehouseCommand",
            dependencies: [
                "AccessControl", "Bytes", "CommandSupport", "ConfiguredTLS", "Gatehouse", "GatehouseVersion",
                "HTTPSClient", "HelperProcesses", "HostServices", "LogReader", "LoginConf", "OpenSSLKit", "Passwords",
                "ProxyFiles", "RealmConfiguration", "RealmKit", "Sessions", "SignIn", "Store", "StoreServices",
                "SystemdNotify", "Throttle", "UserImports",
                arguments, lifecycle, logging, signals,
            ]
        ),
        .target(name: "LogReader", dependencies: ["Bytes"]),
        // Users in files of other products.
        .target(name: "UserImports", dependencies: ["Bytes", "JSONReading", "RealmKit", yams]),
        // The files of docs/forward-auth, for `gatehouse init`.
        .target(
            name: "ProxyFiles",
            exclude: ["Files/envoy.yaml", "Files/traefik.yml"],
            resources: [
                "caddy/Caddyfile", "caddy/gatehouse.caddy", "haproxy/gatehouse.lua", "haproxy/haproxy.cfg",
                "haproxy/hosts.map", "nginx/app.conf", "nginx/gatehouse-application.conf",
                "nginx/gatehouse-server.conf", "nginx/gatehouse.conf", "nginx/sign-in-host.conf", "unavailable.html",
            ].map { .embedInCode("Files/\($0)") }
        ),
        .target(
            name: "CommandSupport",
            dependencies: ["Bytes", "HostServices", "LoginConf", "RealmConfiguration", "RealmKit", arguments]
        ),
        .target(
            name: "AuthcheckCommand",
            dependencies: [
                "Bytes", "CommandSupport", "GatehouseVersion", "HelperProcesses", "HostServices", "JSONReading",
                "LoginConf", "OpenSSLKit", "RealmConfiguration", "RealmKit", arguments,
            ]
        ),
        // The HTTPS client of `authcheck --server`, apart from the command that programs of one's own link.
        .target(name: "AuthcheckRemote", dependencies: ["AuthcheckCommand", "HTTPSClient", "OpenSSLKit"]),
        .executableTarget(name: "gatehouse-server", dependencies: ["BuiltInRealms", "GatehouseCommand"]),
        .executableTarget(
            name: "authcheck",
            dependencies: ["AuthcheckCommand", "AuthcheckRemote", "BuiltInRealms", "StoreServices"]
        ),
        .executableTarget(
            name: "conformance",
            dependencies: ["LoginConf", "RealmConfiguration", "RealmKit", "RealmStack"]
        ),
        // A benchmark of functions that other packages cannot call: make bench-growth.
        .executableTarget(
            name: "growth-benchmark",
            dependencies: [
                "AccessControl", "BuiltInRealms", "HostServices", "RealmConfiguration", "RealmKit", "Sessions",
                "StoreServices",
            ],
            path: "Benchmarks/Growth"
        ),

        // Tests.
        .testTarget(name: "BytesTests", dependencies: ["Bytes", "SeededRandom"]),
        .testTarget(name: "JSONReadingTests", dependencies: ["JSONReading", "SeededRandom"]),
        .testTarget(
            name: "RealmKitTests",
            dependencies: ["Passwords", "RealmKit", "RealmTesting", "SeededRandom", "TestTools"]
        ),
        .testTarget(
            name: "RealmConfigurationTests",
            dependencies: [
                "BuiltInRealms", "Bytes", "HTTPLimits", "LoginConf", "OpenSSLKit", "RealmConfiguration", "RealmKit",
                "RealmTesting", "SeededRandom", "Sessions", "Throttle",
            ]
        ),
        .testTarget(
            name: "ThrottleTests",
            dependencies: ["RealmKit", "RealmTesting", "SeededRandom", "TestTools", "Throttle"]
        ),
        .testTarget(
            name: "RealmCertificateTests",
            dependencies: ["OpenSSLKit", "RealmCertificate", "RealmKit", "RealmTesting", "SeededRandom", "TLSTesting"]
        ),
        .testTarget(name: "RealmStartWithTests", dependencies: ["RealmKit", "RealmStartWith", "RealmTesting"]),
        .testTarget(
            name: "PasswordsTests",
            dependencies: ["OpenSSLKit", "Passwords", "RealmKit", "SeededRandom", "TestTools", "WorkerThreads"]
        ),
        .testTarget(
            name: "ServerConnectionsTests",
            dependencies: ["RealmKit", "ServerConnections", "Slots", "TestTools", "WorkerThreads"]
        ),
        .testTarget(name: "HelperProcessesTests", dependencies: ["HelperProcesses", "RealmKit", "Slots", "TestTools"]),
        .testTarget(
            name: "RealmExecTests",
            dependencies: ["RealmExec", "RealmKit", "RealmTesting", "SeededRandom", "TestTools"]
        ),
        .testTarget(
            name: "RealmPAMTests",
            dependencies: [
                "RealmKit", "RealmPAM", "RealmTesting", "SeededRandom", "TestTools", "pam-helper",
            ]
        ),
        .testTarget(
            name: "StoreTests",
            dependencies: ["OpenSSLKit", "RealmKit", "RealmTesting", "Sessions", "Store", "Throttle", grdb]
        ),
        .testTarget(
            name: "SessionsTests",
            dependencies: ["OpenSSLKit", "RealmKit", "RealmTesting", "SeededRandom", "Sessions", "TestTools"]
        ),
        .testTarget(
            name: "RealmStoreTests",
            dependencies: ["Passwords", "RealmKit", "RealmStore", "RealmTesting", "Store"]
        ),
        // Changes a file of users from a process of its own.
        .executableTarget(
            name: "filewriter",
            dependencies: ["RealmFile", "RealmKit"],
            path: "Tests/Durability/filewriter"
        ),
        .testTarget(
            name: "RealmFileTests",
            dependencies: ["Passwords", "RealmFile", "RealmKit", "RealmTesting", "SeededRandom", "filewriter"]
        ),
        .testTarget(
            name: "RealmAggregateTests",
            dependencies: [
                "RealmAggregate", "RealmFile", "RealmKit", "RealmStack", "RealmTesting", "SeededRandom",
                "TestTools",
            ]
        ),
        .testTarget(name: "RealmStackTests", dependencies: ["RealmKit", "RealmStack", "RealmTesting"]),
        .testTarget(
            name: "AuthcheckCommandTests",
            dependencies: [
                "AuthcheckCommand", "BuiltInRealms", "CommandSupport", "OpenSSLKit", "RealmKit", "RealmTesting",
                arguments,
            ]
        ),
        .testTarget(
            name: "ConformanceTests",
            dependencies: ["conformance", "RealmKit", "RealmTesting"],
            exclude: ["Cases"]
        ),
        .testTarget(
            name: "LoginConfTests",
            dependencies: ["LoginConf", "RealmKit", "SeededRandom", "TestTools"],
            exclude: ["Oracle"]
        ),
        // Numbers that are the same in every run.
        .target(name: "SeededRandom", path: "Tests/SeededRandom"),
        // What tests measure and wait with.
        .target(name: "TestTools", path: "Tests/TestTools"),
        // Certificates of an authority of their own, for the tests of three targets.
        .target(name: "TLSTesting", dependencies: ["OpenSSLKit"], path: "Tests/TLSTesting"),
        // An HTTPS service with scripted responses.
        .target(
            name: "HTTPSTesting",
            dependencies: ["NIOOpenSSL", "OpenSSLKit", "TestTools", nioCore, nioPosix],
            path: "Tests/HTTPSTesting"
        ),
        // Directory servers: OpenLDAP and Samba.
        .target(name: "DirectoryTesting", dependencies: ["TLSTesting", "TestTools"], path: "Tests/DirectoryTesting"),
        .testTarget(name: "DirectoryTestingTests", dependencies: ["DirectoryTesting", "TestTools"]),
        .testTarget(
            name: "RealmLDAPTests",
            dependencies: [
                "Bytes", "DirectoryTesting", "OpenSSLKit", "RealmKit", "RealmLDAP", "RealmTesting", "SeededRandom",
                "ServerConnections", "Slots", "TLSTesting", "TestTools", "WorkerThreads",
            ]
        ),
        .testTarget(name: "SlotsTests", dependencies: ["Bytes", "SeededRandom", "Slots", "TestTools"]),
        .testTarget(
            name: "RealmRemoteTests",
            dependencies: [
                "Bytes", "HTTPSClient", "HTTPSTesting", "OpenSSLKit", "RealmKit", "RealmRemote", "RealmTesting",
                "SeededRandom", "TLSTesting", "TestTools",
            ]
        ),
        // A server of PostgreSQL in a private folder.
        .target(name: "DatabaseTesting", dependencies: ["COpenSSL", "TestTools"], path: "Tests/DatabaseTesting"),
        .testTarget(
            name: "RealmSQLTests",
            dependencies: [
                "DatabaseTesting", "OpenSSLKit", "Passwords", "RealmKit", "RealmSQL", "RealmTesting", "SeededRandom",
                "ServerConnections", "TLSTesting", "WorkerThreads", grdb,
            ]
        ),
        .testTarget(
            name: "HTTPSClientTests",
            dependencies: [
                "HTTPSClient", "HTTPSTesting", "OpenSSLKit", "RealmKit", "SeededRandom", "TLSTesting", "TestTools",
            ]
        ),
        .testTarget(name: "IdentityTokensTests", dependencies: ["Bytes", "IdentityTokens", "OpenSSLKit", "RealmKit"]),
        .testTarget(name: "OpenSSLKitTests", dependencies: ["Bytes", "OpenSSLKit", "TLSTesting"]),
        .testTarget(
            name: "NIOOpenSSLTests",
            dependencies: ["NIOOpenSSL", "OpenSSLKit", "SeededRandom", "TLSTesting", nioCore, nioEmbedded, nioPosix]
        ),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "Bytes", "HTTPLimits", "HTTPServer", "NIOOpenSSL", "OpenSSLKit", "SeededRandom", "TLSTesting",
                "TestTools", hummingbirdCore, httpTypes, nioCore, nioEmbedded, nioHPACK, nioPosix,
            ]
        ),
        .testTarget(
            name: "AccessControlTests",
            dependencies: [
                "AccessControl", "BuiltInRealms", "Bytes", "LoginConf", "OpenSSLKit", "RealmCertificate",
                "RealmConfiguration", "RealmKit", "RealmTesting", "SeededRandom", "Sessions", "TLSTesting",
            ]
        ),
        .testTarget(name: "PrometheusMetricsTests", dependencies: ["PrometheusMetrics", coreMetrics]),
        .testTarget(
            name: "SignInTests",
            dependencies: [
                "AccessControl", "Bytes", "OpenSSLKit", "RealmConfiguration", "RealmKit", "RealmTesting",
                "SeededRandom", "Sessions", "SignIn", "TLSTesting", "Throttle", logging, nioCore,
            ]
        ),
        .testTarget(
            name: "ConfiguredTLSTests",
            dependencies: [
                "BuiltInRealms", "ConfiguredTLS", "LoginConf", "OpenSSLKit", "RealmConfiguration", "RealmKit",
                "RealmTesting", "TLSTesting",
            ]
        ),
        .testTarget(
            name: "GatehouseTests",
            dependencies: [
                "AccessControl", "BuiltInRealms", "Bytes", "Gatehouse", "HTTPLimits", "HTTPServer", "IdentityTokens",
                "LogReader", "NIOOpenSSL", "OpenSSLKit", "RealmConfiguration", "RealmKit", "RealmTesting",
                "SeededRandom", "Sessions", "SignIn", "Store", "TestTools", "Throttle", httpTypes, hummingbirdCore,
                logging, nioCore, nioEmbedded, nioPosix,
            ]
        ),
        .testTarget(
            name: "HummingbirdRealmsTests",
            dependencies: [
                "BuiltInRealms", "HummingbirdRealms", "LoginConf", "NIOOpenSSL", "OpenSSLKit", "Passwords",
                "RealmConfiguration", "RealmKit", "SeededRandom", "TLSTesting", "TestTools", hummingbird, httpTypes,
                lifecycle, logging, nioCore, nioEmbedded, nioPosix,
            ]
        ),
        .testTarget(name: "SystemdNotifyTests", dependencies: ["SystemdNotify"]),
        .testTarget(name: "LogReaderTests", dependencies: ["Bytes", "LogReader", "SeededRandom"]),
        .testTarget(
            name: "UserImportsTests",
            dependencies: ["RealmKit", "SeededRandom", "TestTools", "UserImports"],
            exclude: ["readers.py"]
        ),
        .testTarget(
            name: "GatehouseCommandTests",
            dependencies: ["CommandSupport", "GatehouseCommand", "OpenSSLKit", "RealmKit", "Sessions"]
        ),
        .testTarget(name: "EndToEndTests", dependencies: ["DirectoryTesting", "TestTools"], exclude: ["Mistakes"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
    ]
}
