/// How a picture is to be turned to stand upright: the one thing of Exif that is kept.
///
/// Source: Exif 2.32 section 4.6.4, tag 0x0112; TIFF 6.0 section 2.
struct Orientation: Equatable {
    private static let tag = 0x0112
    private static let short = 3
    /// How many entries of a directory are looked at.
    private static let entriesMax = 1_000

    /// 2 to 8; 1 means that nothing is to be turned, and is left out.
    let value: Int

    /// The orientation that a block of Exif tells; nil if it tells none, or is none. Whatever else is wrong with the block doesn't
    /// matter, since it is left out.
    init?(tiff block: ArraySlice<UInt8>) {
        // Some writers of WebP put JPEG's prefix before it.
        let prefix = Array("Exif\0\0".utf8)
        let tiff = block.starts(with: prefix) ? block.dropFirst(prefix.count) : block
        let isBig = tiff.starts(with: Array("MM\0*".utf8))
        guard isBig || tiff.starts(with: Array("II*\0".utf8)) else { return nil }

        func number(at offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, count <= tiff.count, offset <= tiff.count - count else { return nil }
            let bytes = tiff[tiff.startIndex + offset..<tiff.startIndex + offset + count]
            return isBig ? bytes.bigEndian : bytes.littleEndian
        }

        guard let directory = number(at: 4, 4), let count = number(at: directory, 2) else { return nil }
        for index in 0..<min(count, Self.entriesMax) {
            let entry = directory + 2 + index * 12
            guard let tag = number(at: entry, 2) else { return nil }
            guard tag == Self.tag else { continue }
            guard number(at: entry + 2, 2) == Self.short, number(at: entry + 4, 4) == 1,
                let value = number(at: entry + 8, 2), 2...8 ~= value
            else { return nil }
            self.value = value
            return
        }
        return nil
    }

    /// A block of Exif with nothing else in it.
    var tiff: [UInt8] {
        var tiff = Array("MM\0*".utf8)
        tiff.append(bigEndian: 8, byteCount: 4)
        tiff.append(bigEndian: 1, byteCount: 2)
        tiff.append(bigEndian: Self.tag, byteCount: 2)
        tiff.append(bigEndian: Self.short, byteCount: 2)
        tiff.append(bigEndian: 1, byteCount: 4)
        tiff.append(bigEndian: value, byteCount: 2)
        tiff.append(bigEndian: 0, byteCount: 2)
        tiff.append(bigEndian: 0, byteCount: 4)
        return tiff
    }
}
