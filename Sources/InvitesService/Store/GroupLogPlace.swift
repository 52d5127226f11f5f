import ServiceStore

/// How far the log of group changes was read, in the way of the log that read it.
enum GroupLogPlace: Sendable, Hashable {
    /// By ``SnapshotGroupLog``.
    case snapshot(GroupLogPoint)
    /// By ``ClockGroupLog``.
    case clock(ClockWindow<Int64>)

    /// The place of ``SnapshotGroupLog``; nil for the other one's.
    var point: GroupLogPoint? { if case .snapshot(let point) = self { point } else { nil } }
    /// The place of ``ClockGroupLog``; nil for the other one's.
    var window: ClockWindow<Int64>? { if case .clock(let window) = self { window } else { nil } }

    /// Whether everything behind another place is read from this one, or was read before. False for the other log's.
    func contains(_ other: GroupLogPlace) -> Bool {
        switch (self, other) {
        case (.snapshot(let own), .snapshot(let other)): own.contains(other)
        // The clock of the server that answered may be behind. What is missed is read from a minute before.
        case (.clock(let own), .clock(let other)): own.end >= other.end - ClockWindow<Int64>.stepBackMax
        case (.snapshot, .clock), (.clock, .snapshot): false
        }
    }
}
