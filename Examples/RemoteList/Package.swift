// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "remote-list",
    dependencies: [
        // In a package of your own this is the address of the Gatehouse repository.
        .package(name: "gatehouse", path: "../..")
    ],
    targets: [
        .target(
            name: "RemoteList",
            dependencies: [
                .product(name: "HTTPSClient", package: "gatehouse"),
                .product(name: "RealmKit", package: "gatehouse"),
            ]
        ),
        .executableTarget(
            name: "remote-list",
            dependencies: [
                "RemoteList",
                .product(name: "HTTPSClient", package: "gatehouse"),
                .product(name: "OpenSSLKit", package: "gatehouse"),
                .product(name: "RealmKit", package: "gatehouse"),
            ]
        ),
        .testTarget(
            name: "RemoteListTests",
            dependencies: [
                "RemoteList",
                .product(name: "HTTPSClient", package: "gatehouse"),
                .product(name: "OpenSSLKit", package: "gatehouse"),
                .product(name: "RealmKit", package: "gatehouse"),
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
