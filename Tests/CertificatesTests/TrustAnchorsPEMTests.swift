import Certificates
import Foundation
import JOSE
import Testing

/// Anchors of files.
struct TrustAnchorsPEMTests {
    private let now = 1_798_761_600

    private func authority(_ name: String) throws -> [UInt8] {
        let key = Array(try SigningKey.generateP256().pem().utf8)
        return try CertificateAuthority.certificate(name: name, keyPEM: key, validity: Validity(now: now, days: 10))
    }

    private func certificate(_ pem: [UInt8]) throws -> Certificate {
        let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-") }
        return try Certificate(der: #require(StandardBase64.decode(lines.joined())))
    }

    @Test func `All certificates of a file are anchors`() throws {
        let (first, second, other) = try (authority("first"), authority("second"), authority("other"))
        let anchors = try TrustAnchors(pem: Array("# Ours\n".utf8) + first + Array("and\r\n".utf8) + second)
        for pem in [first, second] { try anchors.verify([certificate(pem)], at: now + 1) }
        #expect(throws: ChainError.self) { try anchors.verify([certificate(other)], at: now + 1) }
    }

    @Test func `A file without certificates, with a broken one, or with too many is rejected`() throws {
        let pem = try authority("first")
        let broken = pem + pem.dropLast(30)
        let many = Array([[UInt8]](repeating: pem, count: TrustAnchors.fileCertificatesMax + 1).joined())
        let empty = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        for file in [[], Array("text".utf8), broken, many, empty, pem + empty] {
            #expect(throws: CertificateError.self) { try TrustAnchors(pem: file) }
        }
    }
}
