/// The rules for the names of keys.
public enum ConfigurationNames {
    /// All keys of our own begin so.
    public static let prefix = "VESTIBULE_"
    /// So begin those of OpenTelemetry, which keep their standard names (`TraceKeys`). Names of this kind that we don't know
    /// are no faults: they are meant for others.
    static let standardPrefix = "OTEL_"
    /// Names that are everybody's by custom: where proxies are.
    static let custom: Set = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"]
    /// The variable that names the file; the same as `--config`.
    public static let file = "VESTIBULE_CONFIG"
    /// The end of a name that gives a secret's file.
    static let fileSuffix = "_FILE"
    /// The programs that have keys of their own, which begin with the program's name.
    static let programs = [
        "identity", "profile", "invites", "gateway", "simulator", "run", "roles", "load", "operator", "backup",
        "console",
    ]

    /// Names that no program reads, but the scripts that build, start and test them.
    static let tools: Set = [
        "VESTIBULE_ALERTMANAGER_FILE", "VESTIBULE_ALERTMANAGER_IMAGE", "VESTIBULE_ALERTMANAGER_PUBLISH",
        "VESTIBULE_BACKUP_LOG_KEPT", "VESTIBULE_BASE_IMAGE", "VESTIBULE_BINARIES", "VESTIBULE_CADDYFILE",
        "VESTIBULE_CADDY_IMAGE", "VESTIBULE_COMPOSE_FILES", "VESTIBULE_CONSOLE_PUBLISH", "VESTIBULE_DATABASE_VOLUME",
        "VESTIBULE_FILES",
        "VESTIBULE_FRONT_NETWORK", "VESTIBULE_GRAFANA_IMAGE", "VESTIBULE_GRAFANA_PUBLISH",
        "VESTIBULE_HTTPS_HSTS_SECONDS", "VESTIBULE_HTTPS_NAMES", "VESTIBULE_HTTPS_PUBLISH", "VESTIBULE_HTTPS_TLS",
        "VESTIBULE_HTTP_PUBLISH", "VESTIBULE_IMAGE_PREFIX", "VESTIBULE_INTEROP_IDENTITY",
        "VESTIBULE_INTEROP_REQUIRED", "VESTIBULE_POSTGRES_IMAGE", "VESTIBULE_PROGRAMS", "VESTIBULE_PROMETHEUS_IMAGE",
        "VESTIBULE_PROMETHEUS_PUBLISH", "VESTIBULE_PROMETHEUS_RETENTION", "VESTIBULE_PUBLISH",
        "VESTIBULE_PULL_POLICY", "VESTIBULE_RESOLVE", "VESTIBULE_RUN_POSTGRES", "VESTIBULE_SECRETS",
        "VESTIBULE_SIMULATOR_PUBLISH", "VESTIBULE_SWIFT_IMAGE", "VESTIBULE_TAG",
    ]

    /// Whether a key that `program` does not declare may stand in a file that it reads: the key of another program,
    /// which checks it itself, or a shared one.
    static func isForeign(_ name: String, to program: String) -> Bool {
        if SharedKeys.all.contains(where: { $0.name == name }) { return true }
        return programs.contains { other in
            other != program && name.hasPrefix(prefix + other.uppercased() + "_")
        }
    }
}
