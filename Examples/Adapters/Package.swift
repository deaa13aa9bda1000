// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

func gatehouse(_ name: String) -> Target.Dependency { .product(name: name, package: "gatehouse") }
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

let package = Package(
    name: "adapters",
    dependencies: [
        // In a package of your own this is the address of the Gatehouse repository.
        .package(name: "gatehouse", path: "../..", traits: ["GRPC"]),
        .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.4.3"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "checker",
            dependencies: [gatehouse("BuiltInRealms"), gatehouse("RealmVerifier"), logging]
        ),
        .executableTarget(
            name: "greeter",
            dependencies: [
                gatehouse("NIORealms"), gatehouse("RealmVerifier"), logging, serviceLifecycle,
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "rpc",
            dependencies: [
                gatehouse("GRPCRealms"), gatehouse("RealmVerifier"), logging, serviceLifecycle,
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCInProcessTransport", package: "grpc-swift-2"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The other packages of this repository turn on features to come, which would make the pages longer.
for target in package.targets { target.swiftSettings = [.treatAllWarnings(as: .error)] }
