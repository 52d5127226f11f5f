import Certificates
import RPCTransport
import Synchronization

/// When the certificates that a program uses end. Read as they are taken into use: at start, and after a reload that went
/// well, so that a file which was renewed and never read by the program doesn't hide that the old one ends.
public final class CertificateMetrics: MetricsSource {
    private let files: [(use: String, path: String)]
    private let expiries = Mutex<[(use: String, seconds: Int)]>([])

    /// The longest chain that is read.
    private static let bytesMax = 65_536

    /// - Parameters:
    ///   - server: what the program serves with; nil without TLS.
    ///   - client: what it shows to services that it calls.
    public init(server: TLSConfiguration?, client: TLSConfiguration?) {
        files = [("server", server?.certificateChainFile), ("client", client?.certificateChainFile)].compactMap {
            use,
            path in path.map { (use, $0) }
        }
        refresh()
    }

    /// Reads the files, which the program has just taken into use. One that can't be read isn't told.
    public func refresh() {
        let read = files.compactMap { use, path -> (String, Int)? in
            guard let bytes = try? FileBytes.read(path, bytesMax: Self.bytesMax),
                let seconds = try? CertificateAuthority.expiry(certificatePEM: bytes)
            else { return nil }
            return (use, seconds)
        }
        expiries.withLock { $0 = read }
    }

    /// Adds the times.
    public func write(to text: inout MetricsText) {
        text.family(
            "vestibule_tls_certificate_expiry_timestamp_seconds",
            .gauge,
            help: "When the certificate in use ends, in seconds since 1970.",
            expiries.withLock { $0 }.map { ([("use", $0.use)], Double($0.seconds)) }
        )
    }
}
