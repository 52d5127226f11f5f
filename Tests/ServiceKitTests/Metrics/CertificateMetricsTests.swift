import FoundationEssentials
import RPCTransport
import TestCertificates
import Testing

@testable import ServiceKit

struct CertificateMetricsTests {
    private func text(_ metrics: CertificateMetrics) -> String {
        var text = MetricsText()
        metrics.write(to: &text)
        return text.text
    }

    /// The value of a sample.
    private func expiry(_ use: String, _ metrics: CertificateMetrics) -> Double? {
        let name = "vestibule_tls_certificate_expiry_timestamp_seconds{use=\"\(use)\"} "
        return text(metrics).split(separator: "\n").first { $0.hasPrefix(name) }.flatMap {
            Double($0.dropFirst(name.count))
        }
    }

    @Test func `Tells when each certificate ends, of the one in use and not of one that was put in its place`() throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let server = try authority.issue("server", names: "DNS:server")
        let metrics = CertificateMetrics(server: server, client: TLSConfiguration(authoritiesFile: authority.file))
        let now = Date().timeIntervalSince1970
        let end = try #require(expiry("server", metrics))
        #expect(abs(end - now - 2 * 86_400) < 600)
        #expect(expiry("client", metrics) == nil)
        let path = try #require(server.certificateChainFile)
        try "none".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(expiry("server", metrics) == end)
        metrics.refresh()
        #expect(expiry("server", metrics) == nil)
    }

    @Test
    func `Without certificates there is no such family`() {
        #expect(text(CertificateMetrics(server: nil, client: nil)).isEmpty)
    }
}
