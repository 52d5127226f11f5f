/// An integer from outside, or what was computed from one. Arithmetic that overflows gives no value instead of a trap, and what
/// is computed from no value has none.
///
/// ```swift
/// guard let age = (Checked(now) - decodedTime).value, age < limit else { return false }
/// ```
public struct Checked<Value: FixedWidthInteger & Sendable>: Sendable, Hashable {
    /// The integer; nil after an overflow.
    public let value: Value?

    /// An integer.
    public init(_ value: Value) { self.value = value }

    /// An integer of another type; none if this type can't hold it.
    public init(exactly value: some BinaryInteger) { self.value = Value(exactly: value) }

    private init(result: (partialValue: Value, overflow: Bool)?) {
        value = result.flatMap { $0.overflow ? nil : $0.partialValue }
    }

    /// The sum.
    public static func + (first: Self, second: Value) -> Self {
        Self(result: first.value?.addingReportingOverflow(second))
    }

    /// The difference.
    public static func - (first: Self, second: Value) -> Self {
        Self(result: first.value?.subtractingReportingOverflow(second))
    }

    /// The product.
    public static func * (first: Self, second: Value) -> Self {
        Self(result: first.value?.multipliedReportingOverflow(by: second))
    }

    /// The sum.
    public static func + (first: Self, second: Self) -> Self { second.value.map { first + $0 } ?? second }

    /// The difference.
    public static func - (first: Self, second: Self) -> Self { second.value.map { first - $0 } ?? second }

    /// The product.
    public static func * (first: Self, second: Self) -> Self { second.value.map { first * $0 } ?? second }
}
