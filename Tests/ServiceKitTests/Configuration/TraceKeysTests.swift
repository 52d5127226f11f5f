import OTLP
import RPC
import Testing

@testable import ServiceKit

struct TraceKeysTests {
    private static let keys = ServiceKeys(program: "profile", listenPort: 7002).all

    private func settings(_ environment: [String: String]) throws -> OTLPConfiguration? {
        let configuration = try Configuration(keys: Self.keys, program: "profile", environment: environment)
        #expect(TraceKeys.faults(configuration) == [])
        return TraceKeys.settings(configuration, program: "profile")
    }

    /// The errors of single keys, or else those between keys.
    private func faults(_ environment: [String: String], file: [String: String] = [:]) -> [String] {
        do throws(ConfigurationErrors) {
            let configuration = try Configuration(
                keys: Self.keys,
                program: "profile",
                environment: environment,
                file: file
            )
            return TraceKeys.faults(configuration).map(\.description)
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test func `Traces are off unless a setting turns them on`() throws {
        #expect(try settings([:]) == nil)
        #expect(try settings(["OTEL_SERVICE_NAME": "x", "OTEL_TRACES_SAMPLER": "always_on"]) == nil)
        let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317"]
        #expect(try settings(endpoint) != nil)
        #expect(try settings(endpoint.merging(["OTEL_TRACES_EXPORTER": "none"]) { $1 }) == nil)
        #expect(try settings(endpoint.merging(["OTEL_SDK_DISABLED": "true"]) { $1 }) == nil)
        #expect(try settings(["OTEL_TRACES_EXPORTER": "otlp"])?.target == "localhost:4317")
    }

    @Test func `The defaults are OpenTelemetry's`() throws {
        let settings = try #require(try settings(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector"]))
        #expect(settings.target == "collector:4317" && settings.tls == nil && settings.headers.isEmpty)
        #expect(settings.queueSpansMax == 2048 && settings.batchSpansMax == 512 && !settings.compresses)
        #expect(settings.scheduleDelay == .seconds(5) && settings.exportTimeout == .seconds(30))
        #expect(settings.attemptTimeout == .seconds(10))
        #expect(settings.sampler == .parentBased(.alwaysOn))
        #expect(settings.resource["service.name"] == "vestibule-profile")
        #expect(settings.resource["telemetry.sdk.language"] == "swift")
    }

    @Test func `Every value is read`() throws {
        let settings = try #require(
            try settings([
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://other:1",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://[::1]:4319/",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_HEADERS": " api-key = a%20b%3D , x=y ",
                "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
                "OTEL_EXPORTER_OTLP_TIMEOUT": "1500",
                "OTEL_BSP_MAX_QUEUE_SIZE": "100",
                "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "10",
                "OTEL_BSP_SCHEDULE_DELAY": "200",
                "OTEL_BSP_EXPORT_TIMEOUT": "3000",
                "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
                "OTEL_TRACES_SAMPLER_ARG": "0.25",
                "OTEL_RESOURCE_ATTRIBUTES": "service.name=ignored,deployment.environment.name=caf%C3%A9",
                "OTEL_SERVICE_NAME": "named",
            ])
        )
        #expect(settings.target == "[::1]:4319" && settings.tls != nil && settings.compresses)
        #expect(settings.headers.first("api-key") == "a b=" && settings.headers.first("x") == "y")
        #expect(settings.attemptTimeout == .milliseconds(1500) && settings.scheduleDelay == .milliseconds(200))
        #expect(settings.exportTimeout == .seconds(3))
        #expect(settings.queueSpansMax == 100 && settings.batchSpansMax == 10)
        #expect(settings.sampler == .parentBased(.ratio(0.25)))
        #expect(settings.resource["service.name"] == "named")
        #expect(settings.resource["deployment.environment.name"] == "caf\u{e9}")
    }

    @Test(arguments: ["http/protobuf", "http/json"])
    func `An unsupported protocol is refused with an explanation`(text: String) {
        for name in ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] {
            #expect(
                faults([name: text]) == [
                    "\(name) must be grpc: traces are sent by OTLP over gRPC alone, usually to a collector's port 4317"
                ]
            )
        }
    }

    @Test func `A protocol for another program is no error if traces are turned off`() {
        let other = ["OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"]
        #expect(faults(other.merging(["OTEL_SDK_DISABLED": "true"]) { $1 }) == [])
        #expect(faults(other.merging(["OTEL_TRACES_EXPORTER": "none"]) { $1 }) == [])
        #expect(faults(other.merging(["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"]) { $1 }) == [])
        #expect(faults(other.merging(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector"]) { $1 }).count == 1)
    }

    @Test func `TLS files are an error if the endpoint has no TLS`() {
        for key in ["OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_KEY"] {
            let found = faults(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector", key: "/dev/null"])
            #expect(found.contains("\(key) has no effect: the endpoint is not https://"), "\(found)")
        }
    }

    @Test func `Header names are case-insensitive`() throws {
        let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector"]
        let headers = ["OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20x"]
        #expect(try settings(endpoint.merging(headers) { $1 })?.headers.first("authorization") == "Bearer x")
    }

    @Test func `Errors are reported with all others, without the headers' values`() {
        let found = faults([
            "OTEL_EXPORTER_OTLP_HEADERS": "no hidden value", "OTEL_TRACES_SAMPLER": "sometimes",
            "OTEL_TRACES_SAMPLER_ARG": "2", "OTEL_RESOURCE_ATTRIBUTES": "a=%zz", "OTEL_BSP_MAX_QUEUE_SIZE": "0",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317", "OTEL_TRACES_EXPORTER": "zipkin",
            "VESTIBULE_PROFILE_LISTEN": "nowhere",
        ])
        #expect(found.count == 8 && !found.contains { $0.contains("hidden") }, "\(found)")
        for headers in ["api key=x", "grpc-timeout=x", "a=%0A", "=x", "te=x", "Host=x"] {
            #expect(faults(["OTEL_EXPORTER_OTLP_HEADERS": headers]).count == 1, "\(headers)")
        }
    }

    @Test func `Errors between keys are reported if traces are on`() {
        let pair = ["OTEL_BSP_MAX_QUEUE_SIZE": "10", "OTEL_EXPORTER_OTLP_CLIENT_KEY": "/nowhere"]
        #expect(faults(pair) == [])
        #expect(
            faults(pair.merging(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector/v1/traces"]) { $1 }) == [
                "OTEL_EXPORTER_OTLP_ENDPOINT must be scheme, host and port alone, such as http://localhost:4317",
                "OTEL_BSP_MAX_EXPORT_BATCH_SIZE must not be more than OTEL_BSP_MAX_QUEUE_SIZE",
                "OTEL_EXPORTER_OTLP_CLIENT_KEY needs OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE too",
            ]
        )
    }

    @Test func `They may be in files and are in --help, and other OTEL variables are no errors`() throws {
        #expect(faults(["OTEL_LOGS_EXPORTER": "otlp"], file: ["OTEL_METRICS_EXPORTER": "otlp"]) == [])
        let file = ["OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1"]
        let configuration = try Configuration(keys: Self.keys, program: "profile", environment: [:], file: file)
        #expect(TraceKeys.settings(configuration, program: "profile")?.target == "a:1")
        let help = ConfigurationHelp.text(Self.keys)
        for key in TraceKeys.all { #expect(help.contains("\n\(key.name) ") || help.contains("\n\(key.name) or ")) }
    }
}
