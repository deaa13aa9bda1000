// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "custom-realm",
    dependencies: [
        // In a package of your own this is the address of the Gatehouse repository.
        .package(name: "gatehouse", path: "../..")
    ],
    targets: [
        .target(name: "RealmTeam", dependencies: [.product(name: "RealmKit", package: "gatehouse")]),
        // With the names authcheck and gatehouse, SwiftPM would build the programs of the Gatehouse package instead.
        .executableTarget(
            name: "team-authcheck",
            dependencies: [
                "RealmTeam",
                .product(name: "AuthcheckCommand", package: "gatehouse"),
                .product(name: "RealmsWithoutStore", package: "gatehouse"),
            ]
        ),
        .executableTarget(
            name: "team-gatehouse",
            dependencies: [
                "RealmTeam",
                .product(name: "BuiltInRealms", package: "gatehouse"),
                .product(name: "GatehouseCommand", package: "gatehouse"),
            ]
        ),
        .testTarget(
            name: "RealmTeamTests",
            dependencies: [
                "RealmTeam",
                .product(name: "RealmKit", package: "gatehouse"),
                .product(name: "RealmTesting", package: "gatehouse"),
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
