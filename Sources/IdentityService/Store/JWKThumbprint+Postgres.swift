import JOSE
import Postgres

/// As `bytea`.
extension JWKThumbprint: PostgresDecodable {
    /// Reads a cell; throws `PostgresError.decoding` for NULL and for another number of bytes.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> JWKThumbprint {
        guard let key = JWKThumbprint(bytes: try [UInt8].decode(cell)) else {
            throw PostgresError.decoding(CellDecodingError(column: cell.column, reason: "no thumbprint of a key"))
        }
        return key
    }
}
