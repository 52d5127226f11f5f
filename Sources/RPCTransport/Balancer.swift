/// Spreads calls over the connected addresses in turn (round robin). A pure value: addresses are indices, in the order of the
/// name's resolution.
struct Balancer: Sendable {
    private(set) var states: [ConnectivityState] = []
    /// The ready ones, so that a call need not look for them.
    private var ready: [Int] = []
    private var turn: Int

    /// - Parameter firstTurn: where the rounds begin; random, so that many clients do not all begin at one address.
    init(firstTurn: Int) { turn = firstTurn & Int(UInt32.max) }

    /// Takes other addresses, with their states.
    mutating func replace(_ states: [ConnectivityState]) {
        self.states = states
        collectReady()
    }

    /// An address's state changed.
    mutating func update(_ index: Int, _ state: ConnectivityState) {
        guard states[index] != state else { return }
        states[index] = state
        collectReady()
    }

    private mutating func collectReady() { ready = states.indices.filter { states[$0] == .ready } }

    /// The address of the next call: the next in turn that is ready and has room; nil if there is none.
    mutating func pick(hasRoom: (Int) -> Bool) -> Int? {
        let count = ready.count
        guard count > 0 else { return nil }
        if count == 1 { return hasRoom(ready[0]) ? ready[0] : nil }
        for _ in 0..<count {
            turn = turn &+ 1
            let index = ready[Int(UInt(bitPattern: turn) % UInt(count))]
            if hasRoom(index) { return index }
        }
        return nil
    }

    /// The addresses to connect to now that there are calls.
    var toConnect: [Int] { states.indices.filter { states[$0] == .idle } }

    /// The state of all together: READY if one is; else CONNECTING or IDLE while one may become it; TRANSIENT_FAILURE
    /// if each has failed; IDLE without addresses.
    var state: ConnectivityState {
        if !ready.isEmpty { return .ready }
        if states.contains(.connecting) { return .connecting }
        if states.isEmpty || states.contains(.idle) { return .idle }
        return .transientFailure
    }
}
