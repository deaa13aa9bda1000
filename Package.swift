// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// What we use of other packages.
let products = [
    "GRDB.swift": ["GRDB"], "Yams": ["Yams"], "grpc-swift-2": ["GRPCCore"],
    "hummingbird": ["Hummingbird", "HummingbirdCore"],
    "swift-argument-parser": ["ArgumentParser"], "swift-collections": ["DequeModule"],
    "swift-distributed-tracing": ["InMemoryTracing", "Instrumentation", "Tracing"], "swift-http-types": ["HTTPTypes"],
    "swift-log": ["Logging"], "swift-metrics": ["CoreMetrics", "MetricsTestKit"], "swift-mustache": ["Mustache"],
    "swift-nio": ["NIOCore", "NIOEmbedded", "NIOHTTP1", "NIOPosix"], "swift-nio-http2": ["NIOHPACK", "NIOHTTP2"],
    "swift-service-lifecycle": ["ServiceLifecycle", "UnixSignals"],
]
// What is built with a trait only.
let traits = [
    "CLDAP": "LDAP", "CPAM": "PAM", "CPostgres": "PostgreSQL", "GRPCCore": "GRPC", "RealmLDAP": "LDAP",
    "RealmPAM": "PAM",
]

// The commit for --version. `make install` and `make package` set it; it is no part of other builds.
let commit = Context.environment["GATEHOUSE_COMMIT"].flatMap { text in
    (7...40).contains(text.utf8.count) && text.allSatisfy(\.isHexDigit) ? text : nil
}

/// A library of the system: a module map and a shim header.
///
/// On a Mac, Homebrew has it by another name.
func systemLibrary(_ name: String, package: String, brew: String? = nil, pkgConfig: String? = nil) -> Target {
    let providers: [SystemPackageProvider] = [.apt([package])] + (brew.map { [.brew([$0])] } ?? [])
    return .systemLibrary(name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: providers)
}

/// A target or product of this name.
func dependency(_ name: String) -> Target.Dependency {
    let condition = traits[name].flatMap { TargetDependencyCondition.when(traits: [$0]) }
    if let package = products.first(where: { $0.value.contains(name) })?.key {
        return .product(name: name, package: package, condition: condition)
    }
    return .target(name: name, condition: condition)
}

let system = [
    systemLibrary("CArgon2", package: "libargon2-dev", brew: "argon2", pkgConfig: "libargon2"),
    systemLibrary("CCrypt", package: "libcrypt-dev", brew: "libxcrypt", pkgConfig: "libxcrypt"),
    systemLibrary("CLDAP", package: "libldap-dev"),
    systemLibrary("COpenSSL", package: "libssl-dev", brew: "openssl@3", pkgConfig: "openssl"),
    systemLibrary("CPAM", package: "libpam0g-dev"),
    systemLibrary("CPostgres", package: "libpq-dev", pkgConfig: "libpq"),
    .target(
        name: "CGatehouseBuild",
        path: "Sources/System/CGatehouseBuild",
        cSettings: commit.map { [.define("GATEHOUSE_COMMIT", to: "\"\($0)\"")] } ?? []
    ),
    .target(name: "CHelperSpawn", path: "Sources/System/CHelperSpawn"),
]

// The targets of each folder, and what a target uses: targets of its own floor and of those above it here; none of Realms uses one of
// Text, or the other way round. CONTRIBUTING.md says what is in each target, and `make lint` compares.
let folders: KeyValuePairs<String, KeyValuePairs<String, [String]>> = [
    "Sources/Base": [
        "Bytes": [],
        "Files": ["LibC"],
        "GatehouseVersion": ["CGatehouseBuild"],
        "HTTPLimits": [],
        "LibC": [],
        "NIOOpenSSL": ["OpenSSLKit", "NIOCore"],
        "OpenSSLKit": ["Bytes", "COpenSSL"],
        "Workers": ["LibC"],
    ],
    "Sources/Core": [
        "AccessControl": ["Bytes", "OpenSSLKit", "RealmKit", "Sessions", "Throttle", "Workers", "HTTPTypes"],
        "Passwords": ["Bytes", "CArgon2", "CCrypt", "LibC", "OpenSSLKit", "RealmKit", "Workers"],
        "Prover": ["AccessControl", "RealmKit"],
        "RealmKit": ["Bytes", "Files", "LibC", "Workers"],
        "Sessions": ["Bytes", "OpenSSLKit", "RealmKit"],
        "Store": ["Bytes", "Files", "OpenSSLKit", "RealmKit", "Sessions", "Throttle", "GRDB"],
        "Throttle": ["Bytes", "RealmKit"],
    ],
    "Sources/Realms": [
        "BuiltInRealms": [
            "RealmKit", "RealmLDAP", "RealmPAM", "RealmRemote", "RealmSQL", "RealmStore", "RealmsWithoutStore", "Store",
        ],
        "HTTPSClient": [
            "Bytes", "LibC", "NIOOpenSSL", "OpenSSLKit", "RealmKit", "DequeModule", "NIOCore", "NIOHTTP1", "NIOPosix",
        ],
        "HelperProcesses": ["Bytes", "CHelperSpawn", "Files", "RealmKit", "Workers"],
        "PAMMessages": [],
        "RealmBasics": ["Bytes", "Files", "OpenSSLKit", "RealmKit"],
        "RealmExec": ["Bytes", "Files", "HelperProcesses", "RealmKit", "Workers"],
        "RealmFile": ["Bytes", "Files", "LibC", "OpenSSLKit", "Passwords", "RealmKit"],
        "RealmLDAP": ["Bytes", "CLDAP", "Files", "OpenSSLKit", "RealmKit", "ServerConnections", "Workers"],
        "RealmPAM": ["Bytes", "Files", "HelperProcesses", "PAMMessages", "RealmKit", "Workers"],
        "RealmRemote": ["Bytes", "Files", "HTTPSClient", "OpenSSLKit", "RealmKit", "ServerConnections", "Workers"],
        "RealmSQL": [
            "Bytes", "CPostgres", "Files", "OpenSSLKit", "Passwords", "RealmKit", "ServerConnections", "Workers",
            "GRDB",
        ],
        "RealmStore": ["Bytes", "OpenSSLKit", "Passwords", "RealmKit", "Store"],
        "RealmsWithoutStore": ["RealmBasics", "RealmExec", "RealmFile", "RealmKit"],
        "ServerConnections": ["Bytes", "Files", "OpenSSLKit", "RealmKit", "Workers"],
    ],
    "Sources/Text": [
        "LoginConf": ["Bytes", "RealmKit"],
        "RealmConfiguration": [
            "AccessControl", "Bytes", "Files", "HTTPLimits", "LoginConf", "OpenSSLKit", "Passwords", "Prover",
            "RealmKit", "Sessions", "Throttle", "CoreMetrics", "Logging",
        ],
    ],
    "Sources/Web": [
        "ConfiguredTLS": ["Bytes", "Files", "LoginConf", "OpenSSLKit", "RealmConfiguration", "RealmKit"],
        "Gatehouse": [
            "AccessControl", "Bytes", "ConfiguredTLS", "HTTPLimits", "HTTPServer", "LoginConf", "NIOOpenSSL",
            "OpenSSLKit", "RealmConfiguration", "RealmKit", "Sessions", "SignIn", "CoreMetrics", "HTTPTypes",
            "ServiceLifecycle", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "UnixSignals",
        ],
        "GRPCRealms": ["RealmKit", "RealmVerifier", "GRPCCore", "Instrumentation"],
        "GatehouseClient": ["Bytes", "Files", "HTTPSClient", "LibC", "OpenSSLKit", "RealmKit"],
        "HTTPServer": [
            "Bytes", "HTTPLimits", "NIOOpenSSL", "OpenSSLKit", "HTTPTypes", "NIOCore", "NIOHPACK", "NIOHTTP2",
            "NIOPosix",
        ],
        "HummingbirdRealms": [
            "AccessControl", "Bytes", "ConfiguredTLS", "LoginConf", "NIOOpenSSL", "OpenSSLKit", "RealmConfiguration",
            "RealmKit", "Sessions", "SignIn", "CoreMetrics", "Hummingbird", "HummingbirdCore", "HTTPTypes",
            "ServiceLifecycle", "Logging", "NIOCore", "UnixSignals",
        ],
        "NIORealms": ["AccessControl", "Bytes", "RealmKit", "RealmVerifier", "NIOCore", "NIOHTTP1"],
        "RealmVerifier": [
            "AccessControl", "Bytes", "Files", "LoginConf", "OpenSSLKit", "RealmConfiguration", "RealmKit", "Sessions",
            "Throttle", "CoreMetrics", "Instrumentation", "Logging", "ServiceLifecycle", "Tracing",
        ],
        "SignIn": [
            "AccessControl", "Bytes", "Files", "LoginConf", "OpenSSLKit", "Passwords", "RealmConfiguration", "RealmKit",
            "Sessions", "Throttle", "CoreMetrics", "HTTPTypes", "Logging", "Mustache", "NIOCore",
        ],
    ],
    "Sources/Programs": [
        "AuthcheckCommand": [
            "AccessControl", "Bytes", "CommandSupport", "LoginConf", "OpenSSLKit", "Prover", "RealmConfiguration",
            "RealmKit", "ArgumentParser",
        ],
        // Apart from the command, so that programs of one's own need no client of HTTPS.
        "AuthcheckRemote": [
            "AuthcheckCommand", "Bytes", "CommandSupport", "Files", "GatehouseClient", "HTTPSClient", "LoginConf",
            "OpenSSLKit", "RealmConfiguration", "RealmKit",
        ],
        "CommandSupport": [
            "Bytes", "GatehouseVersion", "HelperProcesses", "LoginConf", "OpenSSLKit", "RealmConfiguration", "RealmKit",
            "ArgumentParser",
        ],
        "GatehouseCommand": [
            "AccessControl", "Bytes", "CommandSupport", "ConfiguredTLS", "Files", "Gatehouse", "HTTPSClient",
            "LoginConf", "Passwords", "Prover", "RealmConfiguration", "RealmKit", "Sessions", "SignIn", "Store",
            "Throttle", "ArgumentParser", "ServiceLifecycle", "Logging", "UnixSignals", "Yams",
        ],
        "authcheck": ["AuthcheckCommand", "AuthcheckRemote", "BuiltInRealms", "Store"],
        "gatehouse-server": ["BuiltInRealms", "GatehouseCommand"],
        "pam-helper": ["CPAM", "GatehouseVersion", "PAMMessages"],
    ],
    "Sources/Testing": [
        "RealmTesting": ["Bytes", "Passwords", "RealmKit"]
    ],
    "Tests": [
        "DatabaseTesting": ["COpenSSL", "TestTools"],
        "DirectoryTesting": ["TLSTesting", "TestTools"],
        "HTTPSTesting": ["NIOOpenSSL", "OpenSSLKit", "TestTools", "NIOCore", "NIOPosix"],
        "SeededRandom": [],
        "TLSTesting": ["COpenSSL", "OpenSSLKit"],
        "TestTools": [],
        "conformance": ["LoginConf", "RealmBasics", "RealmConfiguration", "RealmKit"],
        "filewriter": ["RealmFile", "RealmKit"],
        "fuzz": [
            "AccessControl", "Bytes", "GatehouseClient", "GatehouseCommand", "HTTPLimits", "HTTPServer", "LoginConf",
            "NIOCore", "NIOHPACK", "OpenSSLKit", "PAMMessages", "Passwords", "RealmBasics", "RealmExec", "RealmFile",
            "RealmKit", "RealmLDAP", "RealmSQL", "Sessions", "SignIn",
        ],
    ],
    "Benchmarks": [
        // Measures functions that other packages cannot call: make bench-growth.
        "growth-benchmark": ["AccessControl", "BuiltInRealms", "RealmConfiguration", "RealmKit", "Sessions", "Store"]
    ],
]

let sources: [Target] = folders.flatMap { folder, targets in
    targets.map { name, uses in
        let (path, dependencies) = ("\(folder)/\(name)", uses.map(dependency))
        // The names of programs begin in lower case.
        return name.first?.isLowercase == true
            ? .executableTarget(name: name, dependencies: dependencies, path: path)
            : .target(name: name, dependencies: dependencies, path: path)
    }
}

// The tests of targets. They may import the target, what it uses, the libraries for all tests, and what is named here.
let tested: KeyValuePairs<String, [String]> = [
    "AccessControl": ["BuiltInRealms", "LoginConf", "RealmBasics", "RealmConfiguration", "TLSTesting"],
    "AuthcheckCommand": ["AuthcheckRemote", "BuiltInRealms", "HTTPSClient"],
    "Bytes": [],
    "ConfiguredTLS": ["BuiltInRealms", "TLSTesting"],
    "DirectoryTesting": [],
    "Files": [],
    "Gatehouse": ["BuiltInRealms", "GatehouseCommand", "Store", "Throttle", "NIOEmbedded"],
    "GatehouseClient": ["Gatehouse", "HTTPSTesting", "SignIn", "TLSTesting", "HTTPTypes"],
    "GatehouseCommand": ["OpenSSLKit"],
    "HTTPSClient": ["HTTPSTesting", "TLSTesting"],
    "HTTPServer": ["TLSTesting", "NIOEmbedded"],
    "HelperProcesses": [],
    "HummingbirdRealms": [
        "BuiltInRealms", "Passwords", "RealmsWithoutStore", "Store", "TLSTesting", "NIOEmbedded", "NIOPosix",
    ],
    "LoginConf": [],
    "NIOOpenSSL": ["TLSTesting", "NIOEmbedded", "NIOPosix"],
    "NIORealms": ["Logging", "NIOEmbedded", "NIOPosix"],
    "OpenSSLKit": ["TLSTesting"],
    "Passwords": [],
    "Prover": ["BuiltInRealms", "RealmConfiguration"],
    "RealmBasics": ["RealmFile", "TLSTesting"],
    "RealmConfiguration": ["BuiltInRealms"],
    "RealmExec": [],
    "RealmFile": ["filewriter"],
    "RealmKit": ["Passwords", "Throttle"],
    "RealmLDAP": ["DirectoryTesting", "TLSTesting"],
    "RealmPAM": ["pam-helper"],
    "RealmRemote": ["HTTPSTesting", "TLSTesting"],
    "RealmSQL": ["DatabaseTesting", "TLSTesting"],
    "RealmStore": [],
    "RealmVerifier": ["BuiltInRealms", "DirectoryTesting", "InMemoryTracing", "MetricsTestKit"],
    "ServerConnections": [],
    "Sessions": [],
    "SignIn": ["TLSTesting"],
    "Store": [],
    "Throttle": [],
    "Workers": [],
]
let tests: [Target] = tested.map { name, others in
    let used = folders.flatMap(\.value).first { $0.key == name }?.value ?? []
    let all = Set(used + others + [name, "RealmTesting", "SeededRandom", "TestTools"])
    return .testTarget(name: "\(name)Tests", dependencies: all.sorted().map(dependency))
}

let package = Package(
    name: "gatehouse",
    platforms: [.macOS(.v26)],
    products: [
        // For realm authors.
        "RealmKit", "RealmTesting", "Passwords",
        // For executables of one's own: the built-in realms, the store, the two commands, the server.
        "BuiltInRealms", "RealmsWithoutStore", "Store", "AuthcheckCommand", "AuthcheckRemote", "GatehouseCommand",
        "AccessControl", "Gatehouse",
        // For programs of one's own: a check of credentials; the requests of a server, protected.
        "RealmVerifier", "GRPCRealms", "HummingbirdRealms", "NIORealms",
        // For applications behind a server: its identity tokens, its realm API.
        "GatehouseClient",
        // For those who only want the parts.
        "LoginConf", "RealmConfiguration", "OpenSSLKit", "NIOOpenSSL", "HTTPSClient",
    ].map { .library(name: $0, targets: [$0]) } + [
        .executable(name: "gatehouse", targets: ["gatehouse-server"]),
        .executable(name: "authcheck", targets: ["authcheck"]),
        .executable(name: "gatehouse-pam-helper", targets: ["pam-helper"]),
        .executable(name: "conformance", targets: ["conformance"]),
    ],
    traits: [
        .trait(name: "GRPC", description: "GRPCRealms, for servers of gRPC Swift 2."),
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
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        // Resolved only with the trait GRPC (decision 0070).
        .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.4.3"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        // No traits and only the product Hummingbird: it then compiles no second TLS library.
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1", traits: []),
    ],
    targets: system + sources + tests + [
        .testTarget(name: "ConformanceTests", dependencies: ["conformance", "RealmKit", "RealmTesting"]),
        .testTarget(name: "FuzzTests", dependencies: ["SeededRandom", "fuzz"]),
        .testTarget(name: "EndToEndTests", dependencies: ["DirectoryTesting", "TestTools"]),
    ],
    swiftLanguageModes: [.v6]
)

// Files that become constants in the code of a target, and files that are no part of it.
let embedded = [
    "AccessControl": ["de.conf", "en.conf", "fr.conf"].map { "Languages/\($0)" },
    "SignIn": ["icon.svg", "session.js", "sign-in.js", "style.css"].map { "Assets/\($0)" },
    "GatehouseCommand": [
        "caddy/Caddyfile", "caddy/gatehouse.caddy", "haproxy/gatehouse.lua", "haproxy/haproxy.cfg", "haproxy/hosts.map",
        "nginx/app.conf", "nginx/gatehouse-application.conf", "nginx/gatehouse-server.conf", "nginx/gatehouse.conf",
        "nginx/sign-in-host.conf", "unavailable.html",
    ].map { "ProxyFiles/Files/\($0)" },
]
let excluded = [
    "GatehouseCommand": ["ProxyFiles/Files/envoy.yaml", "ProxyFiles/Files/traefik.yml"],
    "ConformanceTests": ["Cases"], "EndToEndTests": ["Mistakes"], "FuzzTests": ["Corpus"],
    "GatehouseCommandTests": ["UserImports/readers.py"], "LoginConfTests": ["Oracle"],
]

let features = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
// Only the compiler may know of the sanitizer: for the linker, it would bring a function `main` of libFuzzer.
let fuzzing = [
    "-enable-testing", "-DFUZZING", "-enable-experimental-feature", "Extern", "-Xfrontend", "-sanitize=fuzzer",
]

for target in package.targets where target.type != .system {
    target.resources = embedded[target.name]?.map { .embedInCode($0) }
    target.exclude = excluded[target.name] ?? []
    target.swiftSettings = features.map { .enableUpcomingFeature($0) }
    target.swiftSettings?.append(contentsOf: [.strictMemorySafety(), .treatAllWarnings(as: .error)])
    if Context.environment["GATEHOUSE_FUZZING"] != nil { target.swiftSettings?.append(.unsafeFlags(fuzzing)) }
}
