/// What a loop's pool decides, without doing it: which connection takes a request, who waits, who is refused, when
/// another connection is opened.
///
/// Slots: empty → connecting → ready → (lost) backingOff → connecting …; a failure to connect also backs off.
/// A ready slot is shared by many requests, or leased to one transaction. Illegal: a request placed on a slot that is
/// not ready, an end of something that was not begun (both trap).
struct PoolState {
    enum Kind { case shared, lease }
    enum Placement: Equatable { case slot(Int), wait, refuse }
    enum Phase: Equatable { case empty, connecting, ready, backingOff }

    struct Slot {
        var phase = Phase.empty
        /// Failures in a row.
        var failures = 0
        /// Requests placed and not finished, transactions' own not counted.
        var inFlight = 0
        var isLeased = false
        /// Whether its first request made no progress for a while, so that others had better go elsewhere.
        var isStalled = false
    }

    /// Connections that writes are spread over: one works while another's commit waits for the disk. With more of them
    /// fewer writes share a commit.
    static let commitConnections = 3

    private(set) var slots: [Slot]
    private(set) var sharedWaiting = 0
    private(set) var leasesWaiting = 0
    private let depthMax: Int
    private let waitersMax: Int
    /// Requests of one turn go to one connection, where they share a Sync.
    private var turnSlot: Int?

    init(connectionsMax: Int, depthMax: Int, waitersMax: Int) {
        slots = Array(repeating: Slot(), count: max(1, connectionsMax))
        self.depthMax = max(1, depthMax)
        self.waitersMax = max(0, waitersMax)
    }

    var hasReadySlot: Bool { slots.contains { $0.phase == .ready } }
    var isConnecting: Bool { slots.contains { $0.phase == .connecting } }
    var waiting: Int { sharedWaiting + leasesWaiting }
    /// Whether requests that leave a slot have somewhere to go.
    func hasAlternative(to slot: Int) -> Bool {
        slots.indices.contains { other in
            other != slot && slots[other].phase != .backingOff && !slots[other].isLeased && !slots[other].isStalled
        }
    }
    /// One connection is never leased, so that transactions can't lock out everyone else (nor their own callers).
    private var leasesMax: Int { max(1, slots.count - 1) }
    private var leaseCount: Int { slots.reduce(0) { $0 + ($1.isLeased ? 1 : 0) } }

    /// Places a new request, behind those of its kind that wait already.
    mutating func place(_ kind: Kind) -> Placement {
        let someWait = kind == .shared ? sharedWaiting > 0 : leasesWaiting > 0
        if !someWait, let slot = choose(kind) {
            occupy(slot, kind)
            return .slot(slot)
        }
        guard waiting < waitersMax else { return .refuse }
        if kind == .shared { sharedWaiting += 1 } else { leasesWaiting += 1 }
        return .wait
    }

    /// The next waiter who can be served, and the slot that is now occupied for it.
    mutating func serveWaiter() -> (kind: Kind, slot: Int)? {
        if leasesWaiting > 0, let slot = choose(.lease) {
            leasesWaiting -= 1
            occupy(slot, .lease)
            return (.lease, slot)
        }
        if sharedWaiting > 0, let slot = choose(.shared) {
            sharedWaiting -= 1
            occupy(slot, .shared)
            return (.shared, slot)
        }
        return nil
    }

    /// Waiters who gave up.
    mutating func waitersLeft(_ kind: Kind, count: Int) {
        if kind == .shared { sharedWaiting -= count } else { leasesWaiting -= count }
        precondition(sharedWaiting >= 0 && leasesWaiting >= 0)
    }

    /// The slot to connect now, if one is needed: marked as connecting.
    mutating func slotToOpen() -> Int? {
        // While nothing is ready one attempt at a time: the database may be down.
        if isConnecting || (!hasReadySlot && slots.contains { $0.phase == .backingOff }) { return nil }
        let hasRoom = slots.contains { $0.phase == .ready && !$0.isLeased && !$0.isStalled && $0.inFlight < depthMax }
        if hasRoom && leasesWaiting == 0 { return nil }
        if leasesWaiting > 0 && hasRoom && leaseCount >= leasesMax { return nil }
        guard let slot = slots.firstIndex(where: { $0.phase == .empty }) else { return nil }
        slots[slot].phase = .connecting
        return slot
    }

    /// The slot to connect now, so that writes go on while others are committed: marked as connecting. Nil if a connection
    /// has nothing to do, or so many are there.
    mutating func slotToOpenForCommits() -> Int? {
        var openCount = 0
        for slot in slots where slot.phase != .empty && !slot.isLeased {
            if slot.phase != .ready || slot.inFlight <= 1 { return nil }
            openCount += 1
        }
        guard openCount < Self.commitConnections else { return nil }
        guard let slot = slots.firstIndex(where: { $0.phase == .empty }) else { return nil }
        slots[slot].phase = .connecting
        return slot
    }

    /// The pause after a failure is over.
    mutating func backoffEnded(_ slot: Int) {
        precondition(slots[slot].phase == .backingOff)
        slots[slot].phase = .connecting
    }

    mutating func connected(_ slot: Int) {
        precondition(slots[slot].phase == .connecting)
        slots[slot].phase = .ready
        slots[slot].failures = 0
    }

    /// A connection was lost, or could not be made. Returns the number of failures in a row, for the pause.
    mutating func lost(_ slot: Int) -> Int {
        let failures = slots[slot].failures + 1
        // The lease stays with the slot's dead connection; its end is reported for nothing.
        slots[slot] = Slot(phase: .backingOff, failures: failures)
        if turnSlot == slot { turnSlot = nil }
        return failures
    }

    mutating func finished(_ slot: Int, count: Int) {
        slots[slot].inFlight -= count
        slots[slot].isStalled = false
        precondition(slots[slot].inFlight >= 0)
    }

    mutating func released(_ slot: Int) {
        precondition(slots[slot].isLeased)
        slots[slot].isLeased = false
    }

    mutating func stalled(_ slot: Int) {
        slots[slot].isStalled = true
        if turnSlot == slot { turnSlot = nil }
    }

    /// Says how the slots stand.
    func describe(_ statistics: inout PoolStatistics) {
        statistics.waiters = waiting
        for slot in slots {
            statistics.pipelineDepth += slot.inFlight
            switch slot.phase {
            case .empty: break
            case .connecting, .backingOff: statistics.connectionsPending += 1
            case .ready: statistics.connectionsReady += 1
            }
            if slot.isLeased { statistics.connectionsLeased += 1 }
        }
    }

    mutating func turnEnded() { turnSlot = nil }

    private mutating func occupy(_ slot: Int, _ kind: Kind) {
        precondition(slots[slot].phase == .ready && !slots[slot].isLeased)
        switch kind {
        case .shared:
            slots[slot].inFlight += 1
            turnSlot = slot
        case .lease:
            slots[slot].isLeased = true
            if turnSlot == slot { turnSlot = nil }
        }
    }

    private func choose(_ kind: Kind) -> Int? {
        if kind == .shared, let turnSlot, isOpen(turnSlot), slots[turnSlot].inFlight < depthMax { return turnSlot }
        if kind == .lease, leaseCount >= leasesMax { return nil }
        // Behind a slow statement only where no other connection can be hoped for.
        let mayGrow = slots.contains { $0.phase == .empty || $0.phase == .connecting }
        var best: Int?
        for slot in slots.indices where isOpen(slot) {
            if kind == .shared && slots[slot].inFlight >= depthMax { continue }
            if slots[slot].isStalled && mayGrow { continue }
            // Transactions take from the end, so that the first connection stays the shared one.
            guard let current = best else {
                best = slot
                continue
            }
            let (load, bestLoad) = (load(slot), load(current))
            if load < bestLoad || (kind == .lease && load == bestLoad) { best = slot }
        }
        return best
    }

    private func isOpen(_ slot: Int) -> Bool { slots[slot].phase == .ready && !slots[slot].isLeased }

    private func load(_ slot: Int) -> Int { slots[slot].inFlight + (slots[slot].isStalled ? depthMax : 0) }
}
