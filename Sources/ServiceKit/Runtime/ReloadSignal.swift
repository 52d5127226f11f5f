import Dispatch
import Glibc

/// SIGHUP as something to wait for: the process is to read its certificates and keys again. Without this object SIGHUP ends the
/// process, as ever.
///
/// One object a process, kept until its end. Signals that come while one is being answered count as one.
public final class ReloadSignal: Sendable {
    /// An element for each signal.
    public let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    // Sound because dispatch sources may be used from any thread, though their type does not say so.
    nonisolated(unsafe) private let source: any DispatchSourceSignal

    /// Takes over SIGHUP.
    public convenience init() { self.init(number: SIGHUP) }

    init(number: Int32) {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.signals, self.continuation) = (signals, continuation)
        source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "vestibule.reload"))
        let registration = DispatchGroup()
        registration.enter()
        source.setRegistrationHandler { registration.leave() }
        source.setEventHandler { continuation.yield() }
        source.resume()
        registration.wait()
    }

    // The signal stays ignored: putting the default back would race with another object that takes it over.
    deinit {
        source.cancel()
        continuation.finish()
    }
}
