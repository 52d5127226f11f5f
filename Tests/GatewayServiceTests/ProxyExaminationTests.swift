import ServiceKit
import Testing

@testable import GatewayService

struct ProxyExaminationTests {
    private func findings(_ values: [String: String]) throws -> [String] {
        let configuration = try Configuration.testing(keys: GatewayKeys.all, program: "gateway", values)
        return ProxyExamination(configuration).findings.map { "\($0.severity.rawValue) \($0.subject)" }
    }

    @Test func `A network of everybody is a failure`() throws {
        let (trusted, byProtocol) = ("VESTIBULE_GATEWAY_TRUSTED_PROXIES", "VESTIBULE_GATEWAY_PROXY_PROTOCOL")
        #expect(try findings([trusted: "10.0.0.0/8,0.0.0.0/0"]) == ["failure \(trusted)"])
        #expect(try findings([byProtocol: "::/0"]) == ["failure \(byProtocol)"])
        #expect(try findings([trusted: "10.0.0.0/8"]).isEmpty)
    }

    @Test func `A proxy that isn't named is missed only where something else speaks HTTPS`() throws {
        let (trusted, url) = ("VESTIBULE_GATEWAY_TRUSTED_PROXIES", "VESTIBULE_GATEWAY_PUBLIC_URL")
        #expect(try findings([url: "https://a.example"]) == ["warning \(trusted)"])
        #expect(try findings([url: "https://a.example", trusted: "10.0.0.1"]).isEmpty)
        #expect(try findings([url: "http://127.0.0.1:8080"]).isEmpty)
        #expect(try findings([url: "https://a.example", "VESTIBULE_GATEWAY_TLS_CERTIFICATE_FILE": "/a"]).isEmpty)
    }
}
