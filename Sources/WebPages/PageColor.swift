import Glibc

/// A colour of sRGB, and how it contrasts with another one (WCAG 2.2, "relative luminance" and "contrast ratio").
public struct PageColor: Sendable, Hashable {
    /// The least contrast of text that isn't large (WCAG 2.2 section 1.4.3).
    public static let textContrastMin = 4.5
    /// White.
    public static let white = PageColor(red: 255, green: 255, blue: 255)
    /// Black.
    public static let black = PageColor(red: 0, green: 0, blue: 0)

    /// Each part from 0 to 255.
    public let red: UInt8
    /// Of 0 to 255.
    public let green: UInt8
    /// Of 0 to 255.
    public let blue: UInt8

    /// The colour of its parts.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// The colour of six hexadecimal digits in lower case, without the number sign; nil for anything else.
    public init?(digits: some StringProtocol) {
        let digits = Array(digits.utf8)
        guard digits.count == 6, digits.allSatisfy(Self.isDigit),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 0xff), blue: UInt8(value & 0xff))
    }

    /// Six hexadecimal digits in lower case.
    public var digits: String {
        let value = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 6 - text.utf8.count) + text
    }

    /// From 0, black, to 1, white.
    public var luminance: Double {
        func linear(_ part: UInt8) -> Double {
            let part = Double(part) / 255
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// From 1, the same, to 21, black and white.
    public func contrast(with other: PageColor) -> Double {
        let (one, two) = (luminance, other.luminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    /// Black or white, whichever can be read better on it. One of them always has a contrast of more than 4.5.
    public var onIt: PageColor { contrast(with: .white) >= contrast(with: .black) ? .white : .black }

    /// This colour, or as little darker or lighter as it takes to be read on a background.
    public func readable(on background: PageColor) -> PageColor {
        let end = background.onIt
        for percent in stride(from: 0, to: 100, by: 5) {
            let mixed = mixed(with: end, percent: percent)
            if mixed.contrast(with: background) >= Self.textContrastMin { return mixed }
        }
        return end
    }

    private func mixed(with other: PageColor, percent: Int) -> PageColor {
        func mix(_ one: UInt8, _ two: UInt8) -> UInt8 { UInt8((Int(one) * (100 - percent) + Int(two) * percent) / 100) }
        return PageColor(red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue))
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
}
