import RPC
import SwiftProtobuf
import TestWaits
import Testing

@testable import RPCTransport

/// Calls whose cancellation reaches the loop before their start does.
@Suite(.timeLimit(.minutes(5)))
struct EarlyCancellationTests {
    @Test func `A unary call that was cancelled before it started ends with CANCELLED`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "early")
        let loop = group.loops[0]
        // Nobody listens on port 1 (tcpmux), and only root could: nothing else ends the call before its deadline.
        let target = try ChannelTarget("127.0.0.1:1")
        let configuration = ChannelConfiguration()
        let channel = LoopChannel(
            loop: loop,
            target: target,
            endpoints: ChannelResolver.endpointsInDigits(target),
            configuration: configuration,
            tls: nil,
            budget: RetryBudget(configuration.retry)
        )
        let call = UnaryClientCall<EchoService.Text, EchoService.Text>(
            method: EchoService.sleep,
            metadata: Metadata(),
            deadline: .after(.seconds(60)),
            waitsForReady: true,
            loop: loop,
            request: EchoService.Text()
        )
        try await loop.run { channel.cancel(call) }
        let ended = Counter()
        let task = Task {
            await withUnsafeContinuation { continuation in
                call.completion = continuation
                loop.execute { channel.start(call) }
            }
            ended.add()
        }
        try await eventually("the call ends") { ended.value == 1 }
        await task.value
        #expect(call.failure?.code == .cancelled)
        try await loop.run { channel.close() }
        await group.shutdown()
    }

    @Test func `Calls of cancelled tasks end while the loop is busy`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            let loop = fixture.clientGroup.loops[0]
            let isBusy = Flag()
            loop.turnUntilClear(isBusy)
            let (count, ended, cancelled) = (500, Counter(), Counter())
            for _ in 0..<count {
                Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    do {
                        _ = try await fixture.echo([1], options: .init(timeout: .seconds(1)))
                    } catch let error as RPCError where error.code == .cancelled {
                        cancelled.add()
                    } catch {}
                    ended.add()
                }
            }
            try await eventually("all calls end") { ended.value == count }
            #expect(cancelled.value == ended.value)
            isBusy.clear()
        }
    }
}

extension EventLoop {
    /// Gives the loop something to do in each of its turns, so that it never sleeps.
    fileprivate func turnUntilClear(_ flag: Flag) {
        execute { if flag.isSet { self.turnUntilClear(flag) } }
    }
}
