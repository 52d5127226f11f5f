import JOSE
import ServiceKit

/// The content of a file of entries. What a command doesn't change stays as it is, and in its order: it need not know all members.
struct EntryList: Sendable {
    private let kind: EntryKind
    private var document: JSONObject
    private var elements: [JSONValue]

    /// A file without entries.
    init(_ kind: EntryKind) {
        self.kind = kind
        document = [kind.list: []]
        elements = []
    }

    /// The entries of a file.
    ///
    /// - Throws: the fault as a clause that follows the file's name.
    init(parsing bytes: [UInt8], _ kind: EntryKind) throws(FileError) {
        self.kind = kind
        do throws(JSONError) {
            document = try JSONObject(parsing: bytes, limits: kind.limits)
        } catch {
            throw FileError("holds no JSON object: \(error.words(kind.limits, bytes))")
        }
        guard let elements = document[kind.list]?.array else { throw FileError("must hold an array \"\(kind.list)\"") }
        self.elements = elements
    }

    /// The names of the entries, in order.
    var ids: [String] { elements.compactMap { $0.object?[kind.id]?.string } }

    /// The entry of that name.
    subscript(id: String) -> JSONObject? { index(id).flatMap { elements[$0].object } }

    /// Adds an entry behind the others, or puts it in the place of the one that has its name.
    mutating func put(_ entry: JSONObject) {
        if let index = entry[kind.id]?.string.flatMap(index) {
            elements[index] = .object(entry)
        } else {
            elements.append(.object(entry))
        }
    }

    /// Removes an entry; false if there is none of that name.
    mutating func remove(_ id: String) -> Bool {
        guard let index = index(id) else { return false }
        elements.remove(at: index)
        return true
    }

    /// The file's content.
    var serialized: [UInt8] {
        var document = document
        document[kind.list] = .array(elements)
        return document.indented()
    }

    private func index(_ id: String) -> Int? { elements.firstIndex { $0.object?[kind.id]?.string == id } }
}
