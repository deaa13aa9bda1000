// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// In a package of your own this is the address of the Gatehouse repository.
let gatehouse = Package.Dependency.package(name: "gatehouse", path: "../..")
let realms = Target.Dependency.product(name: "HummingbirdRealms", package: "gatehouse")
let accessControl = Target.Dependency.product(name: "AccessControl", package: "gatehouse")
let realmConfiguration = Target.Dependency.product(name: "RealmConfiguration", package: "gatehouse")
let realmKit = Target.Dependency.product(name: "RealmKit", package: "gatehouse")
let builtInRealms = Target.Dependency.product(name: "BuiltInRealms", package: "gatehouse")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")

let package = Package(
    name: "chat",
    dependencies: [
        gatehouse,
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
    ],
    targets: [
        .target(
            name: "ChatSite",
            dependencies: [realms, accessControl, realmKit, hummingbird, httpTypes, nioCore]
        ),
        .executableTarget(
            name: "chat",
            dependencies: ["ChatSite", builtInRealms, realms, hummingbird, logging]
        ),
        .testTarget(
            name: "ChatSiteTests",
            dependencies: [
                "ChatSite", builtInRealms, realms, realmConfiguration, realmKit, hummingbird, httpTypes, logging,
                nioCore,
                nioEmbedded,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
    ]
}
