// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(name: "gatehouse", path: ".."),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    ],
    targets: [
        // The C libraries whose functions the password checks are compared with.
        .systemLibrary(name: "CHashes"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CHashes",
                .product(name: "BuiltInRealms", package: "gatehouse"),
                .product(name: "LoginConf", package: "gatehouse"),
                .product(name: "Passwords", package: "gatehouse"),
                .product(name: "RealmConfiguration", package: "gatehouse"),
                .product(name: "RealmKit", package: "gatehouse"),
                .product(name: "RealmVerifier", package: "gatehouse"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // The lanes of Scripts/bench-realms.sh that need Swift.
        .executableTarget(
            name: "realm-benchmarks",
            dependencies: [
                .product(name: "BuiltInRealms", package: "gatehouse"),
                .product(name: "Passwords", package: "gatehouse"),
                .product(name: "RealmConfiguration", package: "gatehouse"),
                .product(name: "RealmKit", package: "gatehouse"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
