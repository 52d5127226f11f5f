import HTTPJSON
import RPC
import ServiceKit

extension RouteHandler.Configuration {
    /// Has the routes refused on which the gateway crashed again and again.
    mutating func suspend(after crashes: Crashes) {
        let methods = crashes.suspendedMethods
        suspended = methods.until
        suspensionProblem = { Problem(answering: methods.error($0)) }
    }
}
