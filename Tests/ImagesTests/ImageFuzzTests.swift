import Images
import Testing

/// Files with faults, as many as a second or so has time for; each from a seed that a failure prints.
struct ImageFuzzTests {
    /// Numbers that come out the same for a seed (SplitMix64).
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }

    private func changed(_ file: [UInt8], _ numbers: inout Numbers) -> [UInt8] {
        var file = file
        for _ in 0..<Int.random(in: 1...4, using: &numbers) where !file.isEmpty {
            let place = Int.random(in: 0..<file.count, using: &numbers)
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0: file[place] = UInt8.random(in: 0...255, using: &numbers)
            case 1: file[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            case 2: file[place] = [0, 0xFF, 0x7F, 0x80].randomElement(using: &numbers) ?? 0
            case 3: file.removeSubrange(place..<min(file.count, place + Int.random(in: 1...16, using: &numbers)))
            case 4: file.insert(contentsOf: file[place..<min(file.count, place + 24)], at: place)
            default: file.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
            }
        }
        return file
    }

    @Test(arguments: Files.names)
    func `A file with faults is refused, or is one that says the same when it is walked again`(name: String) throws {
        let file = try Files.read(name)
        for seed: UInt64 in 1...4_000 {
            var numbers = Numbers(state: seed)
            let changed = changed(file, &numbers)
            guard let image = try? SafeImage(changed) else { continue }
            let again = try? SafeImage(image.bytes)
            #expect(again == image, "\(name), seed \(seed)")
            #expect(image.width <= SafeImage.pixelsMax && image.height <= SafeImage.pixelsMax, "\(name), seed \(seed)")
            #expect(image.bytes.count <= changed.count + 64, "\(name), seed \(seed)")
        }
    }

    @Test(arguments: SafeImage.Kind.allCases)
    func `Noise behind a beginning that we know is refused`(kind: SafeImage.Kind) throws {
        let start = try Files.read(["image/png": "rgb.png", "image/jpeg": "rgb.jpeg"][kind.rawValue] ?? "lossy.webp")
            .prefix(12)
        for seed: UInt64 in 1...2_000 {
            var numbers = Numbers(state: seed)
            let noise = (0..<Int.random(in: 0..<200, using: &numbers)).map { _ in
                UInt8.random(in: 0...255, using: &numbers)
            }
            #expect(throws: SafeImage.Fault.self, "seed \(seed)") { try SafeImage(start + noise) }
        }
    }
}
