internal import CLibPQ

/// A connection that blocks, in libpq's simple mode, which takes scripts of many statements. For migrations only.
final class BlockingSession {
    enum Failure: Error {
        case server(PostgresServerError)
        case lost(String)
    }

    private let handle: OpaquePointer

    init(_ configuration: PostgresConfiguration) throws(MigrationError) {
        guard var configuration = configuration.forSessions else { throw .needsSession }
        let seconds = configuration.connectSeconds(servers: configuration.hosts.count)
        // Several wait for each other here by advisory locks, and hold up nobody else.
        configuration.lockTimeout = .seconds(60)
        let parameters = configuration.connectionParameters + [(keyword: "connect_timeout", value: "\(seconds)")]
        let opened = withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in PQconnectdbParams(keywords, values, 0) }
        }
        guard let opened else { throw .unavailable("out of memory") }
        guard PQstatus(opened) == CONNECTION_OK else {
            let reason = opened.errorMessage
            PQfinish(opened)
            throw .unavailable(configuration.advised(reason))
        }
        PQsetNoticeProcessor(opened, { _, _ in }, nil)
        if let fault = SessionSetup(configuration, seconds: seconds).run(on: opened) {
            PQfinish(opened)
            throw .unavailable(configuration.advised(fault))
        }
        PQsetnonblocking(opened, 0)
        handle = opened
    }

    deinit { PQfinish(handle) }

    /// Runs a script; the rows of its last statement as text, NULL as the empty string.
    @discardableResult
    func run(_ script: String) throws(Failure) -> [[String]] {
        guard let result = PQexec(handle, script) else { throw .lost(handle.errorMessage) }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
        default:
            if PQstatus(handle) != CONNECTION_OK { throw .lost(handle.errorMessage) }
            throw .server(PostgresServerError(result: result))
        }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetvalue(result, row, column).map { String(cString: $0) } ?? ""
            }
        }
    }

    /// Whether a transaction is open and has not failed.
    var isInTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INTRANS }

    /// Whether no transaction is open, not even one that has failed.
    var isOutsideTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// The text as an SQL literal.
    func quoted(_ text: String) -> String {
        guard let literal = PQescapeLiteral(handle, text, text.utf8.count) else { return "''" }
        defer { PQfreemem(literal) }
        return String(cString: literal)
    }
}

/// Calls the body with a list of C strings that ends in nil, as libpq takes it.
func withCStrings<Result>(_ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
    let copies = strings.map { Array($0.utf8CString) }
    var pointers: [UnsafePointer<CChar>?] = []
    func collect(_ index: Int) -> Result {
        guard index < copies.count else { return body(pointers + [nil]) }
        return copies[index].withUnsafeBufferPointer { buffer in
            pointers.append(buffer.baseAddress)
            return collect(index + 1)
        }
    }
    return collect(0)
}
