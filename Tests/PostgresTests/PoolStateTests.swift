import Testing

@testable import Postgres

struct PoolStateTests {
    private func ready(_ connectionsMax: Int = 3, depthMax: Int = 2, waitersMax: Int = 4, open: Int) -> PoolState {
        var state = PoolState(connectionsMax: connectionsMax, depthMax: depthMax, waitersMax: waitersMax)
        for _ in 0..<open {
            // Fills what is there, so that another one is wanted.
            while case .slot = state.place(.shared) {}
            guard let slot = state.slotToOpen() else {
                Issue.record("no slot to open")
                break
            }
            state.connected(slot)
            while state.serveWaiter() != nil {}
        }
        for slot in 0..<open { state.finished(slot, count: state.slots[slot].inFlight) }
        while let (_, slot) = state.serveWaiter() { state.finished(slot, count: 1) }
        state.turnEnded()
        return state
    }

    @Test func `Opens one connection for the first waiter and no second while that is connecting`() {
        var state = PoolState(connectionsMax: 3, depthMax: 2, waitersMax: 4)
        #expect(state.place(.shared) == .wait)
        #expect(state.slotToOpen() == 0)
        #expect(state.slotToOpen() == nil)
        state.connected(0)
        #expect(state.serveWaiter()?.slot == 0)
        #expect(state.serveWaiter() == nil)
        #expect(state.slotToOpen() == nil)
    }

    @Test func `Writes get another connection when all are busy, up to their number, and not while one is coming`() {
        var state = PoolState(connectionsMax: 5, depthMax: 100, waitersMax: 10)
        #expect(state.slotToOpenForCommits() == 0)
        #expect(state.slotToOpenForCommits() == nil, "one is coming")
        state.connected(0)
        #expect(state.place(.shared) == .slot(0))
        #expect(state.slotToOpenForCommits() == nil, "nobody waits behind another")
        #expect(state.place(.shared) == .slot(0))
        #expect(state.slotToOpenForCommits() == 1)
        state.connected(1)
        #expect(state.slotToOpenForCommits() == nil, "one has nothing to do")
        for slot in 1..<PoolState.commitConnections {
            state.turnEnded()
            for _ in 0..<2 { #expect(state.place(.shared) == .slot(slot)) }
            let next = slot + 1
            #expect(state.slotToOpenForCommits() == (next < PoolState.commitConnections ? next : nil))
            if next < PoolState.commitConnections { state.connected(next) }
        }
    }

    @Test func `Describes connections, what is under way and what waits`() {
        var state = ready(3, depthMax: 2, waitersMax: 4, open: 2)
        _ = state.place(.shared)
        _ = state.place(.lease)
        while state.waiting == 0 { _ = state.place(.shared) }
        #expect(state.slotToOpen() == 2)
        var statistics = PoolStatistics()
        state.describe(&statistics)
        #expect(statistics.connectionsReady == 2)
        #expect(statistics.connectionsLeased == 1)
        #expect(statistics.connectionsPending == 1)
        #expect(statistics.pipelineDepth == state.slots.reduce(0) { $0 + $1.inFlight })
        #expect(statistics.pipelineDepth > 0)
        #expect(statistics.waiters == 1)
    }

    @Test func `Refuses beyond the bound of waiters`() {
        var state = PoolState(connectionsMax: 1, depthMax: 1, waitersMax: 2)
        #expect(state.place(.shared) == .wait)
        #expect(state.place(.lease) == .wait)
        #expect(state.place(.shared) == .refuse)
        state.waitersLeft(.lease, count: 1)
        #expect(state.place(.shared) == .wait)
    }

    @Test func `Keeps one turn's requests together and spreads turns by load`() {
        var state = ready(2, depthMax: 8, open: 2)
        #expect(state.place(.shared) == .slot(0))
        #expect(state.place(.shared) == .slot(0))
        state.turnEnded()
        #expect(state.place(.shared) == .slot(1))
        #expect(state.place(.shared) == .slot(1))
    }

    @Test func `Never leases the last connection, unless it is the only one there can be`() {
        var state = ready(2, open: 2)
        #expect(state.place(.lease) == .slot(1))
        #expect(state.place(.lease) == .wait)
        #expect(state.place(.shared) == .slot(0))
        state.released(1)
        #expect(state.serveWaiter().map { $0.kind == .lease && $0.slot == 1 } == true)

        var single = ready(1, open: 1)
        #expect(single.place(.lease) == .slot(0))
        #expect(single.place(.shared) == .wait)
        single.released(0)
        #expect(single.serveWaiter()?.kind == .shared)
    }

    @Test func `Goes around a connection that makes no progress, and opens another`() {
        var state = ready(2, depthMax: 8, open: 1)
        #expect(state.place(.shared) == .slot(0))
        #expect(state.slotToOpen() == nil)
        state.stalled(0)
        #expect(state.place(.shared) == .wait)
        #expect(state.slotToOpen() == 1)
        #expect(state.place(.shared) == .wait)
        state.connected(1)
        #expect(state.serveWaiter()?.slot == 1)
        #expect(state.serveWaiter()?.slot == 1)
        state.turnEnded()
        #expect(state.lost(1) == 1)
        #expect(state.place(.shared) == .slot(0))  // Nothing better is to be had.
        state.finished(0, count: 1)
        state.finished(0, count: 1)
        #expect(state.place(.shared) == .slot(0))
    }

    @Test func `Tries one connection at a time while the database is down, and counts the failures`() {
        var state = PoolState(connectionsMax: 3, depthMax: 2, waitersMax: 4)
        #expect(state.place(.shared) == .wait)
        #expect(state.slotToOpen() == 0)
        #expect(state.lost(0) == 1)
        #expect(state.slotToOpen() == nil)
        state.backoffEnded(0)
        #expect(state.lost(0) == 2)
        state.backoffEnded(0)
        state.connected(0)
        #expect(state.serveWaiter()?.slot == 0)
        #expect(state.lost(0) == 1)
    }

    @Test func `In any history no connection takes more than its depth and no waiter is forgotten`() {
        for seed in UInt64(0)..<200 {
            var random = SplitMix(state: seed)
            var state = PoolState(connectionsMax: 3, depthMax: 3, waitersMax: 5)
            var waiting = 0
            for _ in 0..<300 {
                switch UInt64.random(in: 0..<8, using: &random) {
                case 0...2: if state.place(.shared) == .wait { waiting += 1 }
                case 3: if state.place(.lease) == .wait { waiting += 1 }
                case 4: state.turnEnded()
                case 5:
                    if let slot = state.slotToOpen() { state.connected(slot) }
                default:
                    let slot = Int.random(in: 0..<3, using: &random)
                    guard state.slots[slot].phase == .ready else { break }
                    if state.slots[slot].isLeased {
                        state.released(slot)
                    } else if state.slots[slot].inFlight > 0 {
                        state.finished(slot, count: 1)
                    }
                }
                while state.serveWaiter() != nil { waiting -= 1 }
                #expect(state.waiting == waiting && waiting <= 5)
                #expect(state.slots.allSatisfy { $0.inFlight <= 3 })
                #expect(state.slots.filter(\.isLeased).count <= 2)
            }
        }
    }
}

/// A generator that repeats itself for a seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
