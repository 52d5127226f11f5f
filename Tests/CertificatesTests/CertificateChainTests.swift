import Certificates
import Foundation
import JOSE
import Testing

struct CertificateChainTests {
    private let now = Int(Date().timeIntervalSince1970)

    private func newKey() throws -> [UInt8] { Array(try SigningKey.generateP256().pem().utf8) }

    private func authority(_ name: String) throws -> (authority: CertificateAuthority, pem: [UInt8]) {
        let key = try newKey()
        let pem = try CertificateAuthority.certificate(name: name, keyPEM: key, validity: Validity(now: now, days: 10))
        return (try CertificateAuthority(certificatePEM: pem, keyPEM: key), pem)
    }

    private func issued(by authority: CertificateAuthority, days: Int = 5) throws -> [UInt8] {
        try authority.issue(
            commonName: "identity",
            names: [.dns("identity"), .uri("spiffe://vestibule/identity")],
            keyPEM: newKey(),
            validity: Validity(now: now, days: days)
        )
    }

    @Test func `A certificate of the authority is accepted for its own name only`() throws {
        let (authority, pem) = try authority("ours")
        let chain = try CertificateChain(pem: issued(by: authority))
        #expect(try chain.problem(authorities: pem, name: nil, now: now) == nil)
        #expect(try chain.problem(authorities: pem, name: "identity", now: now) == nil)
        #expect(try chain.problem(authorities: pem, name: "profile", now: now) == "hostname mismatch")
        #expect(try chain.end > now)
    }

    @Test func `One of another authority, and one that has ended, are rejected in libcrypto's words`() throws {
        let (ours, other) = (try authority("ours"), try authority("other"))
        let chain = try CertificateChain(pem: issued(by: ours.authority))
        #expect(
            try chain.problem(authorities: other.pem, name: nil, now: now)?.contains("unable to get local issuer")
                == true
        )
        #expect(try chain.problem(authorities: [], name: nil, now: now) != nil)
        #expect(try chain.problem(authorities: ours.pem, name: nil, now: now + 6 * 86_400) == "certificate has expired")
    }

    @Test func `Behind the certificate its intermediates count, with the first end`() throws {
        let (authority, pem) = try authority("ours")
        let short = try issued(by: authority, days: 1)
        let long = try issued(by: authority, days: 5)
        #expect(try CertificateChain(pem: long + short).end == CertificateChain(pem: short).end)
        #expect(try CertificateChain(pem: long + short).problem(authorities: pem, name: "identity", now: now) == nil)
    }

    @Test(arguments: ["", "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `What is no certificate is rejected`(text: String) {
        #expect(throws: CertificateError.self) { try CertificateChain(pem: Array(text.utf8)) }
    }

    @Test func `Garbage behind the certificate is rejected when it is looked at`() throws {
        let (authority, pem) = try authority("ours")
        let garbage = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        let chain = try CertificateChain(pem: issued(by: authority) + garbage)
        #expect(throws: CertificateError.self) { try chain.end }
        #expect(throws: CertificateError.self) { try chain.problem(authorities: pem, name: nil, now: now) }
    }
}
