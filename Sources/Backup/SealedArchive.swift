import COpenSSL
import FoundationEssentials
import Glibc
import LocalPostgres
import ServiceKit

/// Files in a tar archive that only the owner of a private key can read: a CMS message (RFC 5652) with AES-256-GCM (RFC 5084), as
/// `openssl cms -decrypt` reads it.
public enum SealedArchive {
    private static let bytesMax = 64 << 20

    /// Packs files and folders, and seals them for a certificate. Names in the archive are the paths without the first `/`.
    ///
    /// - Parameter certificateFile: PEM.
    /// - Returns: the message, DER.
    static func seal(_ paths: [String], forCertificate certificateFile: String) throws -> [UInt8] {
        for path in paths where access(path, R_OK) != 0 { throw FileError.lastError("\(path) cannot be read") }
        let content = try withUnnamedFile { archive in
            // The lock of a folder of keys is empty, and only its owner can read it.
            try PostgresTool(path: "/bin/tar").run(
                ["--create", "--file=\(archive)", "--numeric-owner", "--exclude=.lock", "--"] + paths
            )
            return try FileBytes.read(archive, bytesMax: bytesMax)
        }
        return try CMS.encrypt(content, certificate: try FileBytes.read(certificateFile, bytesMax: 65_536))
    }

    /// Opens a sealed file and unpacks it into a folder, which must not exist.
    ///
    /// - Parameters:
    ///   - keyFile: the private key, PEM without a passphrase.
    ///   - certificateFile: its certificate, PEM.
    public static func open(_ path: String, keyFile: String, certificateFile: String, into folder: String) throws {
        let content = try CMS.decrypt(
            try FileBytes.read(path, bytesMax: bytesMax),
            key: try FileBytes.read(keyFile, bytesMax: 65_536),
            certificate: try FileBytes.read(certificateFile, bytesMax: 65_536)
        )
        guard mkdir(folder, 0o700) == 0 else { throw FileError.lastError("\(folder) cannot be made") }
        try withUnnamedFile { archive in
            try Data(content).write(to: URL(fileURLWithPath: archive))
            try PostgresTool(path: "/bin/tar").run(
                ["--extract", "--file=\(archive)", "--directory=\(folder)", "--no-same-owner", "--same-permissions"]
            )
        }
    }

    /// Gives the path of an empty file without a name: it holds keys in clear, and is gone when this process ends in any way. In
    /// memory where there is `/dev/shm`.
    private static func withUnnamedFile<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var name = Array("\(folder)/vestibule-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw FileError.lastError("mkstemp in \(folder)") }
        defer { close(descriptor) }
        unlink(name)
        return try body("/proc/\(getpid())/fd/\(descriptor)")
    }
}

/// The Cryptographic Message Syntax, by OpenSSL.
private enum CMS {
    static func encrypt(_ content: [UInt8], certificate: [UInt8]) throws -> [UInt8] {
        let recipient = try self.certificate(certificate)
        defer { X509_free(recipient) }
        guard let message = vestibule_cms_encrypt(content, content.count, recipient) else { throw failure("sealing") }
        defer { CMS_ContentInfo_free(message) }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_CMS_ContentInfo(message, &bytes)
        guard count > 0, let bytes else { throw failure("sealing") }
        defer { vestibule_openssl_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    static func decrypt(_ message: [UInt8], key: [UInt8], certificate: [UInt8]) throws -> [UInt8] {
        let recipient = try self.certificate(certificate)
        defer { X509_free(recipient) }
        let keyInput = BIO_new_mem_buf(key, Int32(key.count))
        defer { BIO_free(keyInput) }
        guard let privateKey = PEM_read_bio_PrivateKey(keyInput, nil, { _, _, _, _ in -1 }, nil) else {
            throw failure("the private key")
        }
        defer { EVP_PKEY_free(privateKey) }
        let opened = message.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_CMS_ContentInfo(nil, &start, buffer.count)
        }
        guard let opened else { throw failure("the file") }
        defer { CMS_ContentInfo_free(opened) }
        guard let output = BIO_new(BIO_s_mem()) else { throw failure("opening") }
        defer { BIO_free(output) }
        guard CMS_decrypt(opened, privateKey, recipient, nil, output, UInt32(CMS_BINARY)) == 1 else {
            throw failure("opening (is this its key and certificate?)")
        }
        var bytes = [UInt8](repeating: 0, count: Int(BIO_ctrl_pending(output)))
        guard BIO_read(output, &bytes, Int32(bytes.count)) == bytes.count else { throw failure("opening") }
        return bytes
    }

    private static func certificate(_ pem: [UInt8]) throws -> OpaquePointer {
        let input = BIO_new_mem_buf(pem, Int32(pem.count))
        defer { BIO_free(input) }
        guard let certificate = PEM_read_bio_X509(input, nil, { _, _, _, _ in -1 }, nil) else {
            throw failure("the certificate")
        }
        return certificate
    }

    private static func failure(_ what: String) -> BackupError {
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(ERR_peek_last_error(), &text, text.count)
        ERR_clear_error()
        let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return BackupError("\(what) failed: \(words)")
    }
}
