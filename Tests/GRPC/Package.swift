// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Apart from the tests of the root package, because another trait compiles all of its targets again.
let package = Package(
    name: "grpc-tests",
    dependencies: [
        .package(name: "gatehouse", path: "../..", traits: ["GRPC"]),
        .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.4.3"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    ],
    targets: [
        .testTarget(
            name: "GRPCRealmsTests",
            dependencies: [
                .product(name: "GRPCRealms", package: "gatehouse"),
                .product(name: "RealmKit", package: "gatehouse"),
                .product(name: "RealmVerifier", package: "gatehouse"),
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCInProcessTransport", package: "grpc-swift-2"),
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "GRPCRealmsTests",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .strictMemorySafety(),
                .treatAllWarnings(as: .error),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
