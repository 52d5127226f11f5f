/// A type by its object identifier, for the built-in ones a constant (`pg_type.dat` of PostgreSQL).
public struct PostgresType: Sendable, Hashable, RawRepresentable {
    /// The object identifier; zero lets the server choose.
    public let rawValue: UInt32

    /// A type by its object identifier.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// bool
    public static let bool = PostgresType(rawValue: 16)
    /// bytea
    public static let bytea = PostgresType(rawValue: 17)
    /// name
    public static let name = PostgresType(rawValue: 19)
    /// bigint
    public static let int8 = PostgresType(rawValue: 20)
    /// smallint
    public static let int2 = PostgresType(rawValue: 21)
    /// integer
    public static let int4 = PostgresType(rawValue: 23)
    /// text
    public static let text = PostgresType(rawValue: 25)
    /// json
    public static let json = PostgresType(rawValue: 114)
    /// real
    public static let float4 = PostgresType(rawValue: 700)
    /// double precision
    public static let float8 = PostgresType(rawValue: 701)
    /// A literal whose type nothing decided.
    public static let unknown = PostgresType(rawValue: 705)
    /// character(n)
    public static let bpchar = PostgresType(rawValue: 1042)
    /// character varying
    public static let varchar = PostgresType(rawValue: 1043)
    /// timestamp without time zone
    public static let timestamp = PostgresType(rawValue: 1114)
    /// timestamp with time zone
    public static let timestamptz = PostgresType(rawValue: 1184)
    /// uuid
    public static let uuid = PostgresType(rawValue: 2950)
    /// jsonb
    public static let jsonb = PostgresType(rawValue: 3802)

    /// The first identifier that isn't built in: enumerations, domains, extensions' types.
    static let firstNormal: UInt32 = 16_384

    /// The array of this type; `unknown` for a type that is not listed here.
    public var array: PostgresType {
        switch self {
        case .bool: PostgresType(rawValue: 1000)
        case .bytea: PostgresType(rawValue: 1001)
        case .int2: PostgresType(rawValue: 1005)
        case .int4: PostgresType(rawValue: 1007)
        case .text: PostgresType(rawValue: 1009)
        case .varchar: PostgresType(rawValue: 1015)
        case .int8: PostgresType(rawValue: 1016)
        case .float4: PostgresType(rawValue: 1021)
        case .float8: PostgresType(rawValue: 1022)
        case .timestamp: PostgresType(rawValue: 1115)
        case .timestamptz: PostgresType(rawValue: 1185)
        case .json: PostgresType(rawValue: 199)
        case .uuid: PostgresType(rawValue: 2951)
        case .jsonb: PostgresType(rawValue: 3807)
        default: .unknown
        }
    }

    /// Whether the binary form is the characters themselves: character types, JSON, enumerations (whose identifiers
    /// are given out at run time).
    var isTextual: Bool {
        switch self {
        case .text, .varchar, .bpchar, .name, .json, .unknown: true
        default: rawValue >= Self.firstNormal
        }
    }
}
