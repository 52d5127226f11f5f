import Certificates
import Foundation
import JOSE
import Testing

struct CertificateAuthorityTests {
    private let now = Int(Date().timeIntervalSince1970)
    private let keyPEM: [UInt8]

    init() throws { keyPEM = Array(try SigningKey.generateP256().pem().utf8) }

    private func authority() throws -> (authority: CertificateAuthority, certificatePEM: [UInt8]) {
        let certificate = try CertificateAuthority.certificate(
            name: "test authority",
            keyPEM: keyPEM,
            validity: Validity(now: now, days: 10)
        )
        return (try CertificateAuthority(certificatePEM: certificate, keyPEM: keyPEM), certificate)
    }

    /// The output of the `openssl` command, with its exit status.
    private func openssl(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    private func withFiles(_ contents: [[UInt8]], _ body: ([String]) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var paths: [String] = []
        for (index, content) in contents.enumerated() {
            let file = folder.appending(path: "\(index).pem")
            try Data(content).write(to: file)
            paths.append(file.path)
        }
        try body(paths)
    }

    @Test func `The openssl command accepts the certificates, for server and client and for their names`() throws {
        let (authority, authorityPEM) = try authority()
        let ownersKey = Array(try SigningKey.generateP256().pem().utf8)
        let issued = try authority.issue(
            commonName: "identity",
            names: [.dns("identity"), .uri("spiffe://vestibule/identity")],
            keyPEM: ownersKey,
            validity: Validity(now: now, days: 5)
        )
        try withFiles([authorityPEM, issued, ownersKey]) { files in
            for purpose in ["sslserver", "sslclient"] {
                let check = try openssl(
                    ["verify", "-x509_strict", "-purpose", purpose, "-verify_hostname", "identity", "-CAfile"]
                        + files[..<2]
                )
                #expect(check.status == 0, "\(check.text)")
            }
            let otherHost = try openssl(["verify", "-verify_hostname", "profile", "-CAfile"] + files[..<2])
            #expect(otherHost.status != 0)
            let text = try openssl(["x509", "-in", files[1], "-noout", "-text"]).text
            #expect(text.contains("DNS:identity, URI:spiffe://vestibule/identity"))
            #expect(text.contains("CA:FALSE"))
            let ofCertificate = try openssl(["x509", "-in", files[1], "-noout", "-pubkey"]).text
            #expect(try openssl(["pkey", "-in", files[2], "-pubout"]).text == ofCertificate)
        }
        #expect(try CertificateAuthority.daysLeft(certificatePEM: issued, now: now) == 5)
        #expect(try CertificateAuthority.daysLeft(certificatePEM: issued, now: now + 6 * 86_400) < 0)
    }

    @Test func `An issued certificate is not an authority`() throws {
        let (authority, authorityPEM) = try authority()
        let validity = Validity(now: now, days: 5)
        let leaf = try authority.issue(commonName: "a", names: [.dns("a")], keyPEM: keyPEM, validity: validity)
        let other = try CertificateAuthority(certificatePEM: leaf, keyPEM: keyPEM)
        let forged = try other.issue(commonName: "b", names: [.dns("b")], keyPEM: keyPEM, validity: validity)
        try withFiles([authorityPEM, leaf, forged]) { files in
            let check = try openssl(["verify", "-CAfile", files[0], "-untrusted", files[1], files[2]])
            #expect(check.status != 0)
        }
    }

    @Test func `Another's keys, malformed PEM, and names with separators are refused`() throws {
        let (authority, certificate) = try authority()
        let other = Array(try SigningKey.generateP256().pem().utf8)
        #expect(throws: CertificateError.mismatched) {
            try CertificateAuthority(certificatePEM: certificate, keyPEM: other)
        }
        #expect(throws: CertificateError.malformed(what: "certificate")) {
            try CertificateAuthority(certificatePEM: Array("nothing".utf8), keyPEM: keyPEM)
        }
        #expect(throws: CertificateError.malformed(what: "private key")) {
            try CertificateAuthority(certificatePEM: certificate, keyPEM: certificate)
        }
        for name in ["a,DNS:b", "", "a b", "a\nb", "a:b", String(repeating: "a", count: 254)] {
            #expect(throws: CertificateError.invalidName(name)) {
                try authority.issue(
                    commonName: "a",
                    names: [.dns(name)],
                    keyPEM: keyPEM,
                    validity: Validity(now: now, days: 1)
                )
            }
        }
    }

    @Test(arguments: [1, 60, 36_500])
    func `A certificate has the second in which it ends`(_ days: Int) throws {
        let validity = Validity(now: now, days: days)
        let certificate = try CertificateAuthority.certificate(name: "a", keyPEM: keyPEM, validity: validity)
        #expect(try CertificateAuthority.expiry(certificatePEM: certificate) == validity.until)
        #expect(throws: CertificateError.self) { try CertificateAuthority.expiry(certificatePEM: keyPEM) }
    }

    @Test func `A certificate's key is distinguished from another's`() throws {
        let certificate = try authority().certificatePEM
        let other = Array(try SigningKey.generateP256().pem().utf8)
        #expect(try CertificateAuthority.isPair(certificatePEM: certificate, keyPEM: keyPEM))
        #expect(try !CertificateAuthority.isPair(certificatePEM: certificate, keyPEM: other))
        #expect(throws: CertificateError.self) {
            try CertificateAuthority.isPair(certificatePEM: certificate, keyPEM: [])
        }
    }
}
