// swift-tools-version: 6.2
import PackageDescription

// The RPC layer, what asks other servers on it, and their tests alone, so that each sanitizer builds that much and not the whole system. See run.sh. The targets
// are links to those of the package above, which says why they are built as they are.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: name, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["MutexOrder"], path: name, swiftSettings: settings)
}

let package = Package(
    name: "sanitizers",
    dependencies: [
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CCurl", path: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "CNghttp2", path: "CNghttp2", pkgConfig: "libnghttp2"),
        .systemLibrary(name: "COpenSSL", path: "COpenSSL", pkgConfig: "openssl"),
        .target(
            name: "CRPC",
            dependencies: ["CNghttp2", "COpenSSL"],
            path: "CRPC",
            exclude: ["README.md"],
            cSettings: [.unsafeFlags(["-std=c11"]), .define("_GNU_SOURCE"), .headerSearchPath(".")],
            linkerSettings: [.linkedLibrary("z")]
        ),
        .target(
            name: "CCrash",
            path: "CCrash",
            cSettings: [.unsafeFlags(["-std=c11"]), .define("_GNU_SOURCE")]
        ),
        library("RPC", [protobuf, tracing]),
        library("HTTP", ["RPC", httpTypes]),
        library("RPCTransport", ["CCrash", "CRPC", "HTTP", "RPC", httpTypes, lifecycle, protobuf, tracing]),
        library("API", ["RPC", protobuf]),
        library("OutgoingHTTP", ["CCurl", "COpenSSL", "RPCTransport"]),
        library("TestCertificates", ["RPCTransport"]),
        library("ScriptedHTTP", []),
        library("TestWaits", []),
        .target(name: "MutexOrder", path: "MutexOrder"),
        tests("RPCTests", ["RPC", protobuf]),
        tests(
            "OutgoingHTTPTests",
            ["OutgoingHTTP", "RPC", "RPCTransport", "ScriptedHTTP", "TestCertificates", "TestWaits"]
        ),
        tests(
            "RPCTransportTests",
            [
                "API", "HTTP", "RPC", "RPCTransport", "TestCertificates", "TestWaits", httpTypes, lifecycle, logging,
                protobuf,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
