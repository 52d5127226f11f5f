extension String {
    /// Without terminal control sequences, for texts of files, providers and users that a command prints.
    public var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { Self.isControl($0) ? "?" : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
