// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The part of hummingbird-auth 2.5 that docs/swift/hummingbird.md uses, for machines that cannot resolve hummingbird-auth.
let package = Package(
    name: "hummingbird-auth",
    products: [.library(name: "HummingbirdAuth", targets: ["HummingbirdAuth"])],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1", traits: [])
    ],
    targets: [
        .target(name: "HummingbirdAuth", dependencies: [.product(name: "Hummingbird", package: "hummingbird")])
    ]
)
