// swift-tools-version: 6.2
import PackageDescription

// The RPC layer's tests alone, so that each sanitizer builds that much and not the whole system. See run.sh.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let rpc: Target.Dependency = .product(name: "RPC", package: "vestibule")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")

let package = Package(
    name: "sanitizers",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "vestibule", path: "../.."),
        .package(url: "https://github.com/apple/swift-protobuf", .upToNextMinor(from: "1.39.0")),
    ],
    targets: [
        .target(name: "TestCertificates", dependencies: [rpc], path: "TestCertificates", swiftSettings: settings),
        .target(name: "MutexOrder", path: "MutexOrder"),
        .testTarget(
            name: "RPCTests",
            dependencies: [rpc, "MutexOrder", protobuf],
            path: "RPCTests",
            swiftSettings: settings
        ),
        .testTarget(
            name: "RPCTransportTests",
            dependencies: [rpc, "MutexOrder", "TestCertificates", protobuf],
            path: "RPCTransportTests",
            swiftSettings: settings
        ),
    ]
)
