import HTTPJSON
import JOSE
import ServiceKit

/// The file of the clients that are known from the start.
enum ClientsFile {
    /// The error of an invalid file, with all its problems in one line.
    struct ReadError: Error, CustomStringConvertible {
        /// The file and its problems.
        let description: String
    }

    /// The largest file, in bytes.
    static let bytesMax = 4 << 20

    /// Reads the clients of a file.
    static func read(_ path: String) throws(ReadError) -> ClientRegistry {
        let bytes: [UInt8]
        do {
            bytes = try FileBytes.read(path, bytesMax: bytesMax)
        } catch {
            throw ReadError(description: "\(path) \(error)")
        }
        let limits = JSONLimits(bytesMax: bytesMax, depthMax: 4, valuesMax: 8 * ClientRegistry.clientsMax)
        guard let object = try? JSONObject(parsing: bytes, limits: limits) else {
            throw ReadError(description: "\(path) is not a JSON object with an array of clients for each provider")
        }
        do {
            return try ClientRegistry(object)
        } catch {
            let faults = error.fields.map { "\($0.name): \($0.detail)" }.joined(separator: " ")
            throw ReadError(description: "\(path): \(faults)")
        }
    }
}
