import RPC
import Testing

@testable import RPCTransport

struct SubchannelStateTests {
    private func machine(max: Int = 2) -> SubchannelState {
        let backoff = Backoff(first: .milliseconds(100), max: .milliseconds(400))
        return SubchannelState(backoff: backoff, connectionsMax: max)
    }

    @Test func `Goes from idle to ready and back`() {
        var machine = machine()
        #expect(machine.state == .idle && machine.canConnect)
        machine.began()
        #expect(machine.state == .connecting && !machine.canConnect)
        machine.opened()
        #expect(machine.state == .ready)
        machine.lost()
        #expect(machine.state == .idle && machine.canConnect)
    }

    @Test func `Waits longer after each failure until it succeeds`() {
        var machine = machine()
        var waits: [Duration] = []
        for _ in 0..<5 {
            machine.began()
            let (wait, number) = machine.failed(random: .random(in: 0..<1))
            waits.append(wait)
            #expect(machine.state == .transientFailure && !machine.canConnect)
            let isOver = machine.waited(number)
            #expect(isOver)
            #expect(machine.state == .idle)
        }
        for (wait, base) in zip(waits, [100, 200, 400, 400, 400]) {
            #expect(wait >= .milliseconds(base) / 2 && wait <= .milliseconds(base))
        }
        machine.began()
        machine.opened()
        machine.lost()
        machine.began()
        let wait = machine.failed(random: .random(in: 0..<1)).wait
        #expect(wait <= .milliseconds(100), "a success begins the waits anew")
    }

    @Test func `A wait that was given up ends nothing`() {
        var machine = machine()
        machine.began()
        let first = machine.failed(random: .random(in: 0..<1))
        let (had, hasStill) = (machine.waitNoLonger(), machine.waitNoLonger())
        #expect(had && !hasStill)
        machine.began()
        let second = machine.failed(random: .random(in: 0..<1))
        let former = machine.waited(first.number)
        #expect(!former && machine.state == .transientFailure)
        let latter = machine.waited(second.number)
        #expect(latter && machine.state == .idle)
    }

    @Test func `Has no more connections than the maximum`() {
        var machine = machine(max: 2)
        machine.began()
        machine.opened()
        #expect(machine.canConnect)
        machine.began()
        #expect(machine.state == .ready)
        _ = machine.failed(random: .random(in: 0..<1))
        #expect(machine.state == .ready && !machine.canConnect, "another one is waited for; the first takes calls")
        let hadWait = machine.waitNoLonger()
        #expect(hadWait)
        machine.began()
        machine.opened()
        #expect(machine.openCount == 2 && !machine.canConnect)
        machine.lost()
        #expect(machine.state == .ready && machine.canConnect)
    }

    @Test func `Nothing follows the end`() {
        var machine = machine()
        machine.began()
        let wait = machine.failed(random: .random(in: 0..<1))
        machine.shutDown()
        #expect(machine.state == .shutdown && !machine.canConnect)
        let isOver = machine.waited(wait.number)
        #expect(!isOver && machine.state == .shutdown)
    }
}
