import Bytes

/// JPEG (ITU-T T.81), as JFIF, Exif and Adobe put it into files. Baseline and progressive, of Huffman codes.
enum JPEG {
    /// Markers (table B.1).
    private enum Marker {
        static let restarts: ClosedRange<UInt8> = 0xD0...0xD7
        static let startOfImage: UInt8 = 0xD8
        static let endOfImage: UInt8 = 0xD9
        static let baseline: UInt8 = 0xC0
        static let extended: UInt8 = 0xC1
        static let progressive: UInt8 = 0xC2
        static let huffmanTables: UInt8 = 0xC4
        static let quantizationTables: UInt8 = 0xDB
        static let restartInterval: UInt8 = 0xDD
        static let startOfScan: UInt8 = 0xDA
        static let jfif: UInt8 = 0xE0
        static let exif: UInt8 = 0xE1
        static let adobe: UInt8 = 0xEE
        static let applications: ClosedRange<UInt8> = 0xE0...0xEF
        static let comment: UInt8 = 0xFE
    }

    /// The maximum of scans. Progressive files have about ten, and for each scan a viewer goes through the whole picture.
    private static let scansMax = 64
    /// The maximum of tables between scans, and before them.
    private static let tablesMax = 256

    /// Reads a file and writes the picture's parts, in their order.
    static func image(_ file: [UInt8]) throws(SafeImage.Fault) -> SafeImage {
        var walk = Walk(file)
        try walk.run()
        guard let frame = walk.frame, walk.scanCount > 0 else { throw .malformed }
        var output: [UInt8] = [0xFF, Marker.startOfImage]
        output.reserveCapacity(file.count + 64)
        if let density = walk.density { append(Marker.jfif, density, to: &output) }
        if let orientation = walk.orientation {
            append(Marker.exif, Array("Exif\0\0".utf8) + orientation.tiff, to: &output)
        }
        if let transform = walk.adobeTransform {
            // Version 100, and no flags (Adobe's technical note 5116, section 18).
            append(Marker.adobe, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform], to: &output)
        }
        output += walk.kept
        output += [0xFF, Marker.endOfImage]
        return SafeImage(.jpeg, output, width: frame.width, height: frame.height)
    }

    private static func append(_ marker: UInt8, _ content: [UInt8], to output: inout [UInt8]) {
        output += [0xFF, marker]
        output.append(bigEndian: content.count + 2, byteCount: 2)
        output += content
    }

    private struct Frame {
        let width: Int
        let height: Int
        let components: [UInt8]
    }

    /// One way through a file.
    ///
    /// States: before the frame (tables and applications' segments) → frame (tables, scans) → over at EOI.
    private struct Walk {
        private var reader: ByteReader
        private(set) var frame: Frame?
        private(set) var scanCount = 0
        private var tableCount = 0
        /// What JFIF's segment says of the shape of pixels, without its preview.
        private(set) var density: [UInt8]?
        private(set) var orientation: Orientation?
        /// How colours are stored, which decides what the picture looks like.
        private(set) var adobeTransform: UInt8?
        /// The segments that are kept, as they stand.
        private(set) var kept: [UInt8] = []

        init(_ file: [UInt8]) {
            reader = ByteReader(file[...])
            kept.reserveCapacity(file.count)
        }

        mutating func run() throws(SafeImage.Fault) {
            _ = try reader.take(2)
            while true {
                let marker = try self.marker()
                if marker == Marker.endOfImage { return }
                let length = try reader.bigEndian(2)
                guard length >= 2 else { throw .malformed }
                let content = try reader.take(length - 2)
                switch marker {
                case Marker.quantizationTables, Marker.huffmanTables, Marker.restartInterval:
                    tableCount += 1
                    guard tableCount <= tablesMax else { throw .unsupported }
                    guard areTables(marker, content) else { throw .malformed }
                    keep(marker, content)
                case Marker.baseline, Marker.extended, Marker.progressive:
                    guard frame == nil else { throw .malformed }
                    frame = try Self.frame(content)
                    keep(marker, content)
                case Marker.startOfScan:
                    try checkScan(content)
                    keep(marker, content)
                    try keepScan()
                case Marker.applications: readApplication(marker, content)
                case Marker.comment: break
                default: throw .unsupported
                }
            }
        }

        /// The next marker, before which there may be any number of fill bytes (section B.1.1.2).
        private mutating func marker() throws(SafeImage.Fault) -> UInt8 {
            guard try reader.byte() == 0xFF else { throw .malformed }
            while true {
                let byte = try reader.byte()
                if byte == 0 { throw .malformed }
                if byte != 0xFF { return byte }
            }
        }

        private mutating func keep(_ marker: UInt8, _ content: ArraySlice<UInt8>) {
            kept += [0xFF, marker]
            kept.append(bigEndian: content.count + 2, byteCount: 2)
            kept += content
        }

        /// Keeps the coded data behind a scan's head: all up to the next marker that is none of its own (section B.1.1.5).
        private mutating func keepScan() throws(SafeImage.Fault) {
            let start = reader.position
            while true {
                guard reader.skip(to: 0xFF) else { throw .truncated }
                let end = reader.position
                _ = try reader.byte()
                let next = try reader.byte()
                if next == 0 || Marker.restarts ~= next { continue }
                kept += reader.bytes[start..<end]
                // The next marker begins with that byte.
                reader = ByteReader(reader.bytes[end...])
                return
            }
        }

        private mutating func readApplication(_ marker: UInt8, _ content: ArraySlice<UInt8>) {
            switch marker {
            case Marker.jfif where content.starts(with: Array("JFIF\0".utf8)) && content.count >= 14 && density == nil:
                density = Array(content.prefix(12)) + [0, 0]
            case Marker.exif where content.starts(with: Array("Exif\0\0".utf8)) && orientation == nil:
                orientation = Orientation(tiff: content)
            case Marker.adobe where content.starts(with: Array("Adobe".utf8)) && content.count >= 12:
                if adobeTransform == nil { adobeTransform = content[content.startIndex + 11] }
            default: break
            }
        }

        private static func frame(_ content: ArraySlice<UInt8>) throws(SafeImage.Fault) -> Frame {
            var reader = ByteReader(content)
            guard try reader.byte() == 8 else { throw .unsupported }
            let height = try reader.bigEndian(2)
            let width = try reader.bigEndian(2)
            // A height of 0 stands behind the first scan (section B.2.5), which nobody writes.
            try SafeImage.check(width: width, height: height)
            let count = try reader.bigEndian(1)
            guard [1, 3, 4].contains(count), reader.leftCount == count * 3 else { throw .malformed }
            var components: [UInt8] = []
            while !reader.isAtEnd {
                let id = try reader.byte()
                let sampling = try reader.byte()
                guard !components.contains(id), 1...4 ~= sampling >> 4, 1...4 ~= sampling & 15, try reader.byte() <= 3
                else { throw .malformed }
                components.append(id)
            }
            return Frame(width: width, height: height, components: components)
        }

        private mutating func checkScan(_ content: ArraySlice<UInt8>) throws(SafeImage.Fault) {
            scanCount += 1
            guard let frame else { throw .malformed }
            guard scanCount <= scansMax else { throw .unsupported }
            var reader = ByteReader(content)
            let count = try reader.bigEndian(1)
            guard 1...4 ~= count, reader.leftCount == count * 2 + 3 else { throw .malformed }
            for _ in 0..<count {
                guard frame.components.contains(try reader.byte()) else { throw .malformed }
                let tables = try reader.byte()
                guard tables >> 4 <= 3, tables & 15 <= 3 else { throw .malformed }
            }
        }

        /// Whether the tables of a segment fill it: nothing else can hide there.
        private func areTables(_ marker: UInt8, _ content: ArraySlice<UInt8>) -> Bool {
            if marker == Marker.restartInterval { return content.count == 2 }
            var rest = content
            repeat {
                guard let head = rest.first, head & 15 <= 3, head >> 4 <= 1 else { return false }
                let length: Int
                if marker == Marker.quantizationTables {
                    length = 1 + (head >> 4 == 0 ? 64 : 128)
                } else {
                    let counts = rest.dropFirst().prefix(16)
                    guard counts.count == 16 else { return false }
                    let codeCount = counts.reduce(0) { $0 + Int($1) }
                    guard codeCount <= 256 else { return false }
                    length = 17 + codeCount
                }
                guard rest.count >= length else { return false }
                rest = rest.dropFirst(length)
            } while !rest.isEmpty
            return true
        }
    }
}
