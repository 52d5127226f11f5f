// swift-tools-version: 6.2
import PackageDescription

// The peer of the edge's benchmark: a package of its own, so that nothing of ours depends on it.
let package = Package(
    name: "json-peer",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        .executableTarget(
            name: "json-peer",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/JSONPeer",
            swiftSettings: [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]
        )
    ],
    swiftLanguageModes: [.v6]
)
