// swift-tools-version: 6.2
// Long because every target stands here.
import PackageDescription

/// Warnings are errors in CI and `make test`, which set WARNINGS_ARE_ERRORS: there they can be fixed. Elsewhere they stay
/// warnings, so that a new one of a newer compiler doesn't break a user's build.
let warningsAreErrors = Context.environment["WARNINGS_ARE_ERRORS"] != nil

/// Whether SwiftPM has fetched the package for another one that depends on it: it reads the manifest out of the repository first,
/// which it shows as `/`, and then in a folder `checkouts`.
let isFetched =
    Context.packageDirectory == "/" || Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts"

/// What an app doesn't need: with this trait off, SwiftPM asks for no dependency, and so for no version that an app may have in
/// another one. It is off where the package was fetched. A service that uses SessionVerifier has it by `traits: ["Server"]`; an app
/// that depends on a folder is without by `traits: []`.
let serverTrait = "Server"
let ofServer: TargetDependencyCondition? = .when(traits: [serverTrait])

let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])

/// Without the run time's checks that nothing is changed while it is read, in the modules that every call goes through.
/// With them in RPC and RPCTransport a unary echo takes 2.5 % more instructions (callgrind of allocation-count: medians of 793
/// against 774 million for its 12,000 calls); Postgres, as full of small accesses, was not measured apart. Everything else,
/// all that reads JSON, tokens and names of strangers among it, has the checks.
let unchecked: [SwiftSetting] =
    isFetched ? [] : [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// What keeps a fault in C from being used: canaries, and bounds that the C library looks at, which needs the optimizer.
/// `Tests/Supply/hardening.py` looks for them in what was built.
let hardenedFlags = ["-fstack-protector-strong", "-fstack-clash-protection"]
let warningFlags = ["-Wall", "-Wextra"] + (warningsAreErrors ? ["-Werror"] : [])

/// C of ours.
let strictC: [CSetting] =
    unsafeFlags(["-std=c11", "-Wshadow", "-Wconversion", "-Wstrict-prototypes"] + warningFlags + hardenedFlags) + [
        .define("_GNU_SOURCE"),
        .define("_FORTIFY_SOURCE", to: "3", .when(configuration: .release)),
    ]

/// SwiftPM takes no flags of its own from a package of a version: a service's warnings and hardening are the service's.
func unsafeFlags(_ flags: [String]) -> [CSetting] { isFetched ? [] : [.unsafeFlags(flags)] }

let argumentParser: Target.Dependency = .product(
    name: "ArgumentParser",
    package: "swift-argument-parser",
    condition: ofServer
)
let histogram: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift", condition: ofServer)
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types", condition: ofServer)
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log", condition: ofServer)
let lifecycle: Target.Dependency = .product(
    name: "ServiceLifecycle",
    package: "swift-service-lifecycle",
    condition: ofServer
)
let unixSignals: Target.Dependency = .product(
    name: "UnixSignals",
    package: "swift-service-lifecycle",
    condition: ofServer
)
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf", condition: ofServer)
let protobufPlugin: Target.Dependency = .product(
    name: "SwiftProtobufPluginLibrary",
    package: "swift-protobuf",
    condition: ofServer
)
let inMemoryTracing: Target.Dependency = .product(
    name: "InMemoryTracing",
    package: "swift-distributed-tracing",
    condition: ofServer
)
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing", condition: ofServer)

/// Exact versions, so that what is built is what was tested; for a service that uses SessionVerifier the least ones. Those that these
/// need in turn can't be named here without a warning that no target uses them: a release pins them by a Package.resolved (see
/// CONTRIBUTING, "Releases").
func dependency(_ url: String, _ version: Version) -> Package.Dependency {
    isFetched ? .package(url: url, from: version) : .package(url: url, exact: version)
}

func library(
    _ name: String,
    _ dependencies: [Target.Dependency] = [],
    exclude: [String] = [],
    embeds: String? = nil,
    isHot: Bool = false
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        exclude: exclude,
        // Files of pages: a part of the program, which needs no folder beside it.
        resources: embeds.map { [.embedInCode($0)] } ?? [],
        swiftSettings: strict + (isHot ? unchecked : [])
    )
}

/// In place of the C library's: calls in flight free more blocks of a size at once than its caches of seven hold, which
/// costs a fifth of the time of a call with a read. Not for debugging, where sanitizers bring their own.
let allocator: LinkerSetting = .linkedLibrary("mimalloc", .when(configuration: .release))

/// Tables that are read-only before the first line runs.
let hardenedLinking: [LinkerSetting] =
    isFetched
    ? []
    : [
        .unsafeFlags(
            ["relro", "now", "noexecstack"].flatMap { ["-Xlinker", "-z", "-Xlinker", $0] },
            .when(configuration: .release)
        )
    ]

func executable(_ name: String, path: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        path: path ?? "Sources/Executables/\(name)",
        swiftSettings: strict,
        linkerSettings: [allocator] + hardenedLinking
    )
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = [])
    -> Target
{
    .testTarget(
        name: name,
        dependencies: dependencies,
        exclude: exclude,
        resources: resources,
        swiftSettings: strict
    )
}

let package = Package(
    name: "vestibule",
    // Of VestibuleClient; the server runs on Linux.
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .executable(name: "identity", targets: ["identity"]),
        .executable(name: "profile", targets: ["profile"]),
        .executable(name: "invites", targets: ["invites"]),
        .executable(name: "gateway", targets: ["gateway"]),
        .executable(name: "simulator", targets: ["simulator"]),
        .executable(name: "vestibule", targets: ["vestibule"]),
        .executable(name: "protoc-gen-vestibule", targets: ["protoc-gen-vestibule"]),
        // For apps.
        .library(name: "VestibuleClient", targets: ["VestibuleClient"]),
        // For services of others: see the page of the module.
        .library(name: "SessionVerifier", targets: ["SessionVerifier"]),
    ],
    traits: isFetched
        ? [.trait(name: serverTrait, description: "The products for services: SessionVerifier.")]
        : [.default(enabledTraits: [serverTrait]), .trait(name: serverTrait)],
    dependencies: [
        dependency("https://github.com/apple/swift-argument-parser", "1.8.2"),
        dependency("https://github.com/apple/swift-distributed-tracing", "1.7.3"),
        dependency("https://github.com/apple/swift-http-types", "1.8.0"),
        dependency("https://github.com/apple/swift-log", "1.16.2"),
        // The generated code is compared with this version's output.
        dependency("https://github.com/apple/swift-protobuf", "1.39.0"),
        dependency("https://github.com/HdrHistogram/hdrhistogram-swift", "0.2.0"),
        dependency("https://github.com/swift-server/swift-service-lifecycle", "2.13.0"),
    ],
    targets: [
        // C
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CTimerFD"),
        .systemLibrary(name: "CTimex"),
        .target(name: "CCrash", cSettings: strictC),
        .target(
            name: "CNames",
            cSettings: strictC,
            linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]
        ),
        .target(
            name: "CPhoneNumber",
            cxxSettings: (isFetched ? [] : [.unsafeFlags(warningFlags + hardenedFlags)]) + [
                .define("_FORTIFY_SOURCE", to: "3", .when(configuration: .release))
            ],
            linkerSettings: [.linkedLibrary("phonenumber")]
        ),
        .target(
            name: "CRPC",
            dependencies: ["CNghttp2", "COpenSSL"],
            exclude: ["README.md"],
            cSettings: strictC + [.headerSearchPath(".")],
            linkerSettings: [.linkedLibrary("z")]
        ),

        // Mechanisms
        library("RPC", [protobuf, tracing], isHot: true),
        library("HTTP", ["RPC", httpTypes], isHot: true),
        library(
            "RPCTransport",
            ["CCrash", "CRPC", "HTTP", "RPC", httpTypes, lifecycle, protobuf, tracing],
            isHot: true
        ),
        library("Connect", ["HTTP", "RPC", "RPCTransport", httpTypes, protobuf], isHot: true),
        library("Postgres", ["CLibPQ", "RPC", "RPCTransport", lifecycle, tracing], isHot: true),
        library("LocalPostgres"),
        library("OutgoingHTTP", ["CCurl", "COpenSSL", "RPCTransport"]),
        library("API", ["RPC", protobuf]),
        library("JOSE", ["COpenSSL"]),
        library("WebAuthn", ["Bytes", "Certificates", "JOSE"]),
        library("DPoP", ["Bytes", "JOSE"]),
        library("SessionVerifier", ["API", "JOSE", "RPC", lifecycle]),
        library("Certificates", ["COpenSSL"]),
        library("AppAttestation", ["Bytes", "Certificates", "JOSE", "WebAuthn"]),
        library("HTTPJSON", ["HTTP", "JOSE", "RPC", "RPCTransport", httpTypes, logging, tracing]),
        library("WebPages", ["HTTPJSON", "JOSE", httpTypes], embeds: "Files"),
        library("OTLP", ["RPC", "RPCTransport", lifecycle, logging, protobuf, tracing], exclude: ["Protos"]),
        library(
            "ServiceKit",
            [
                "API", "Bytes", "CTimex", "Certificates", "Connect", "HTTP", "JOSE", "OTLP", "RPC", "RPCTransport",
                httpTypes, lifecycle, logging, protobuf, tracing,
            ]
        ),
        library("KeyRings", ["JOSE", "ServiceKit", logging]),

        // Rules
        library("Models", ["CNames", "CPhoneNumber"]),
        library("Bytes"),
        library("AccountImport", ["COpenSSL", "JOSE", "Models"]),
        library("IdentityDomain", ["JOSE", "Models"]),
        library("ProfileDomain", ["Models"]),
        library("Images", ["Bytes"]),
        library("InvitesDomain", ["Models"]),

        // Services
        library("ServiceStore", ["API", "Postgres", "RPC", "RPCTransport", "ServiceKit", lifecycle, logging]),
        library(
            "ServiceModels",
            ["API", "JOSE", "KeyRings", "Models", "Postgres", "RPC", "ServiceKit", "ServiceStore", logging, protobuf]
        ),
        library("ServiceCommands", ["ServiceKit", argumentParser]),
        library(
            "IdentityService",
            [
                "API", "AccountImport", "Bytes", "Certificates", "IdentityDomain", "JOSE", "KeyRings", "Models",
                "OutgoingHTTP", "Postgres", "RPC", "RPCTransport", "ServiceKit", "ServiceModels", "ServiceStore",
                "WebAuthn", lifecycle,
                logging,
            ]
        ),
        library(
            "ProfileService",
            [
                "API", "AccountImport", "Images", "KeyRings", "Models", "Postgres", "ProfileDomain", "RPC",
                "RPCTransport", "ServiceKit", "ServiceModels", "ServiceStore", lifecycle, logging,
            ]
        ),
        library(
            "InvitesService",
            [
                "API", "Bytes", "InvitesDomain", "JOSE", "KeyRings", "Models", "Postgres", "RPC", "RPCTransport",
                "ServiceKit", "ServiceModels", "ServiceStore", lifecycle, logging,
            ]
        ),
        library(
            "GatewayService",
            [
                "API", "Connect", "DPoP", "HTTP", "HTTPJSON", "JOSE", "OTLP", "RPC", "RPCTransport", "ServiceKit",
                "WebPages",
                httpTypes, logging, protobuf,
            ],
            embeds: "Files"
        ),
        library(
            "ProviderSimulator",
            ["HTTPJSON", "JOSE", "OutgoingHTTP", "RPCTransport", "ServiceKit", "WebPages", httpTypes, logging],
            exclude: ["README.md"],
            embeds: "Files"
        ),
        library(
            "Console",
            [
                "API", "HTTPJSON", "IdentityDomain", "JOSE", "OutgoingHTTP", "RPC", "RPCTransport", "ServiceKit",
                "WebPages", httpTypes, logging, protobuf,
            ]
        ),
        library("Backup", ["COpenSSL", "LocalPostgres", "Postgres", "ServiceKit", "ServiceStore"]),
        library(
            "LocalStack",
            ["Backup", "JOSE", "KeyRings", "LocalPostgres", "OutgoingHTTP", "RPCTransport", "ServiceKit"]
        ),

        library(
            "Deployment",
            ["Backup", "Certificates", "JOSE", "KeyRings", "LocalPostgres", "Postgres", "ServiceKit", "ServiceStore"]
        ),
        library(
            "Load",
            [
                "API", "CTimerFD", "JOSE", "OutgoingHTTP", "RPC", "RPCTransport", "ServiceKit", histogram,
            ]
        ),

        // For apps. No dependency, and nothing that is newer than the platforms above.
        .target(name: "VestibuleClient", path: "Sources/Kits/Swift", swiftSettings: strict),

        // Programs
        executable(
            "identity",
            ["AccountImport", "IdentityService", "ServiceCommands", "ServiceKit", argumentParser]
        ),
        executable("profile", ["ProfileService", "ServiceCommands", "ServiceKit", argumentParser]),
        executable("invites", ["InvitesService", "ServiceCommands", argumentParser]),
        executable("gateway", ["GatewayService", "ServiceCommands", argumentParser]),
        executable("simulator", ["ProviderSimulator", "ServiceCommands", argumentParser]),
        executable(
            "vestibule",
            [
                "API", "Backup", "Console", "Deployment", "KeyRings", "Load", "LocalStack", "RPC", "RPCTransport",
                "ServiceCommands",
                "ServiceKit",
                argumentParser, logging, protobuf,
            ]
        ),
        executable(
            "rpc-interop-server",
            path: "Tests/Interop/Server",
            [
                "API", "Connect", "InteropAPI", "InteropShared", "RPC", "RPCTransport", "ServiceKit", argumentParser,
                protobuf,
            ]
        ),
        executable(
            "rpc-interop-client",
            path: "Tests/Interop/Client",
            ["API", "InteropAPI", "InteropShared", "RPC", "RPCTransport", argumentParser, protobuf]
        ),
        executable(
            "interop-client-secret",
            path: "Tests/Interop/ClientSecret",
            ["IdentityDomain", "JOSE", argumentParser]
        ),
        executable(
            "bench-server",
            path: "Tests/Performance/Server",
            [
                "Connect", "GatewayService", "HTTP", "HTTPJSON", "IdentityDomain", "JOSE", "Models", "Postgres", "RPC",
                "RPCTransport", "ServiceKit", httpTypes, logging, protobuf,
            ]
        ),
        executable(
            "revocation-consumer",
            path: "Tests/Performance/RevocationConsumer",
            ["RPCTransport", "SessionVerifier"]
        ),
        executable(
            "bench-sessions",
            path: "Tests/Performance/Sessions",
            ["IdentityDomain", "JOSE", "Models", argumentParser]
        ),
        .target(name: "Allocations", path: "Tests/Performance/Allocations", cSettings: strictC),
        .executableTarget(
            name: "allocation-count",
            dependencies: ["Allocations", "RPC", "RPCTransport", protobuf],
            path: "Tests/Performance/AllocationCount",
            swiftSettings: strict
        ),
        executable("protoc-gen-vestibule", path: "Sources/ProtocPlugin", [protobuf, protobufPlugin]),
        // What `make build` names, since SwiftPM builds one product or one target a call: all that is shipped, in one plan.
        .target(
            name: "programs",
            dependencies: ["identity", "profile", "invites", "gateway", "simulator", "vestibule"],
            path: "Sources/Executables/programs",
            swiftSettings: strict
        ),

        // Tests
        .executableTarget(
            name: "kit-driver",
            dependencies: ["VestibuleClient"],
            path: "Tests/Kits/drivers/swift",
            exclude: ["command"],
            swiftSettings: strict
        ),
        // The part of the sample that every platform has.
        .target(
            name: "SampleApp",
            dependencies: ["VestibuleClient"],
            path: "Sources/Kits/Samples/SwiftUI",
            exclude: ["GroupsView.swift", "SampleApp.swift", "SignInView.swift"],
            swiftSettings: strict
        ),
        executable(
            "sample-server",
            path: "Sources/Kits/Samples/SwiftServer",
            ["API", "RPC", "RPCTransport", "SessionVerifier", lifecycle, logging, protobuf, unixSignals]
        ),
        .executableTarget(
            name: "kit-story",
            dependencies: ["SampleApp", "VestibuleClient"],
            path: "Tests/Kits/swift-story",
            swiftSettings: strict
        ),
        .target(
            name: "InteropAPI",
            dependencies: ["RPC", protobuf],
            path: "Tests/Interop/Generated",
            swiftSettings: strict
        ),
        .target(
            name: "APIDoubles",
            dependencies: ["API", "RPC", protobuf],
            path: "Tests/APIDoubles/Generated",
            swiftSettings: strict
        ),
        .target(name: "InteropShared", path: "Tests/Interop/Shared", swiftSettings: strict),
        .target(
            name: "TestCertificates",
            dependencies: ["RPCTransport"],
            path: "Tests/TestCertificates",
            swiftSettings: strict
        ),
        .target(
            name: "HTTPClients",
            dependencies: ["HTTP", "RPC", httpTypes],
            path: "Tests/HTTPClients",
            swiftSettings: strict
        ),
        .target(name: "ScriptedHTTP", path: "Tests/ScriptedHTTP", swiftSettings: strict),
        // What tests share
        .target(name: "TestWaits", path: "Tests/TestWaits", swiftSettings: strict),
        .target(
            name: "TestDatabases",
            dependencies: ["LocalPostgres", "Postgres", "RPCTransport", "TestWaits"],
            path: "Tests/TestDatabases",
            swiftSettings: strict
        ),
        tests(
            "OutgoingHTTPTests",
            ["OutgoingHTTP", "RPC", "RPCTransport", "ScriptedHTTP", "TestCertificates", "TestWaits"]
        ),
        tests("RPCTests", ["RPC", protobuf]),
        tests("ConnectTests", ["API", "Connect", "HTTP", "RPC", "RPCTransport", httpTypes, protobuf]),
        tests(
            "OTLPTests",
            ["OTLP", "RPC", "RPCTransport", "TestCertificates", "TestWaits", lifecycle, logging, protobuf, tracing]
        ),
        tests(
            "RPCTransportTests",
            [
                "API", "HTTP", "RPC", "RPCTransport", "TestCertificates", "TestWaits", httpTypes, lifecycle, logging,
                protobuf,
            ]
        ),
        tests(
            "GettingStartedTests",
            [
                "API", "APIDoubles", "JOSE", "RPC", "RPCTransport", "SessionVerifier", lifecycle, logging, protobuf,
                unixSignals,
            ]
        ),
        tests(
            "PostgresTests",
            [
                "LocalPostgres", "Postgres", "RPC", "RPCTransport", "TestCertificates", "TestDatabases", "TestWaits",
                inMemoryTracing, lifecycle,
                logging, tracing,
            ]
        ),
        tests("APITests", ["API", "APIDoubles", "RPC", protobuf]),
        tests("ProtocPluginTests", ["protoc-gen-vestibule", protobuf, protobufPlugin], exclude: ["Golden"]),
        tests("VestibuleClientTests", ["VestibuleClient"]),
        tests("JOSETests", ["JOSE"]),
        tests(
            "WebAuthnTests",
            ["COpenSSL", "Certificates", "JOSE", "TestWaits", "WebAuthn"],
            exclude: [
                "attestation_metadata.py", "attestation_oracle.py", "attestation_statements.py", "attestation_tpm.py",
                "oracle.py",
            ],
            resources: [.copy("attestation-vectors.json"), .copy("vectors.json")]
        ),
        tests(
            "AppAttestationTests",
            ["AppAttestation", "Certificates", "JOSE", "TestWaits"],
            exclude: ["apple_oracle.py", "oracle.py", "play_oracle.py"],
            resources: [.copy("vectors.json")]
        ),
        tests(
            "DPoPTests",
            ["DPoP", "JOSE", "TestWaits"],
            exclude: ["oracle.py"],
            resources: [.copy("vectors.json")]
        ),
        tests("SessionVerifierTests", ["API", "APIDoubles", "JOSE", "RPC", "SessionVerifier", "TestWaits", protobuf]),
        tests(
            "CertificatesTests",
            ["Certificates", "JOSE"],
            exclude: ["made_certificates.py", "oracle.py"],
            resources: [.copy("vectors.json")]
        ),
        tests("BytesTests", ["Bytes"]),
        tests(
            "DecoderFuzzTests",
            [
                "IdentityService", "InvitesDomain", "InvitesService", "JOSE", "Models", "Postgres", "ServiceKit",
                "ServiceStore", "TestWaits",
            ],
            exclude: ["run.sh"]
        ),
        tests("KeyRingsTests", ["JOSE", "KeyRings", "ServiceKit"]),
        tests(
            "DeploymentTests",
            [
                "Certificates", "Deployment", "IdentityService", "InvitesService", "JOSE", "KeyRings", "LocalPostgres",
                "Postgres", "ProfileService", "RPCTransport", "ServiceKit", "TestDatabases",
            ]
        ),
        tests("ModelsTests", ["Models"]),
        tests(
            "ServiceKitTests",
            [
                "API", "Connect", "HTTP", "OTLP", "RPC", "RPCTransport", "ServiceKit", "TestCertificates", "TestWaits",
                httpTypes,
                lifecycle, logging, protobuf,
            ]
        ),
        tests(
            "ServiceStoreTests",
            [
                "API", "LocalPostgres", "Models", "OTLP", "Postgres", "RPC", "RPCTransport", "ServiceKit",
                "ServiceStore",
                "TestCertificates", "TestDatabases", "TestWaits", lifecycle, logging, protobuf, tracing,
            ]
        ),
        tests(
            "ServiceModelsTests",
            [
                "API", "JOSE", "KeyRings", "Models", "RPC", "RPCTransport", "ServiceKit", "ServiceModels", logging,
                protobuf,
            ]
        ),
        tests("AccountImportTests", ["AccountImport", "JOSE", "Models"]),
        tests("IdentityDomainTests", ["IdentityDomain", "JOSE", "Models"]),
        tests("ImagesTests", ["Images"], resources: [.copy("Files")]),
        tests("ProfileDomainTests", ["Models", "ProfileDomain"]),
        tests("InvitesDomainTests", ["InvitesDomain", "Models"]),
        tests(
            "IdentityServiceTests",
            [
                "API", "APIDoubles", "AccountImport", "IdentityDomain", "IdentityService", "JOSE", "KeyRings",
                "LocalPostgres", "Models", "OutgoingHTTP", "Postgres", "RPC", "RPCTransport", "ScriptedHTTP",
                "ServiceKit",
                "ServiceModels", "ServiceStore", "TestDatabases", "TestWaits", "WebAuthn", logging, protobuf,
            ]
        ),
        tests(
            "ProfileServiceTests",
            [
                "API", "APIDoubles", "AccountImport", "InvitesService", "KeyRings", "LocalPostgres", "Models",
                "Postgres", "ProfileDomain", "ProfileService", "RPC", "RPCTransport", "ServiceKit", "ServiceModels",
                "ServiceStore", "TestDatabases", "TestWaits", logging, protobuf,
            ]
        ),
        tests(
            "InvitesServiceTests",
            [
                "API", "APIDoubles", "InvitesDomain", "InvitesService", "JOSE", "KeyRings", "LocalPostgres", "Models",
                "Postgres", "RPC", "RPCTransport", "ServiceKit", "ServiceModels", "TestDatabases", "TestWaits", logging,
                protobuf,
            ]
        ),
        tests(
            "PlaceModelTests",
            [
                "InvitesDomain", "InvitesService", "Models", "Postgres", "ProfileDomain",
                "ProfileService", "RPC", "RPCTransport", "ServiceKit", "ServiceModels", "ServiceStore", "TestDatabases",
                "TestWaits",
            ]
        ),
        tests(
            "HTTPJSONTests",
            [
                "HTTP", "HTTPClients", "HTTPJSON", "JOSE", "RPC", "RPCTransport", httpTypes, inMemoryTracing, logging,
                tracing,
            ]
        ),
        tests(
            "GatewayServiceTests",
            [
                "API", "APIDoubles", "DPoP", "GatewayService", "HTTP", "HTTPClients", "HTTPJSON", "IdentityDomain",
                "JOSE",
                "RPC",
                "RPCTransport", "ServiceKit", "TestCertificates", "TestWaits", "WebPages", httpTypes, logging, protobuf,
            ]
        ),
        tests("WebPagesTests", ["HTTPClients", "HTTPJSON", "WebPages", httpTypes, logging]),
        tests(
            "ConsoleTests",
            [
                "API", "Console", "HTTPJSON", "IdentityDomain", "JOSE", "OutgoingHTTP", "RPC", "RPCTransport",
                "ServiceKit",
                "WebPages", httpTypes,
            ]
        ),
        tests("LoadTests", ["API", "JOSE", "Load", "RPC", "RPCTransport", "ServiceKit"]),
        tests("LocalStackTests", ["Backup", "JOSE", "KeyRings", "LocalStack", "ServiceKit", "TestWaits"]),
        tests(
            "ProviderSimulatorTests",
            [
                "HTTPClients", "HTTPJSON", "JOSE", "OutgoingHTTP", "ProviderSimulator", "RPCTransport", "ServiceKit",
                httpTypes,
                logging,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
