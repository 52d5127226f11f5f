import HTTPTypes
import WebPages

/// A method or route on ``HomePage``: what it does, its form, and its lines for a shell.
struct HomeEntry: Sendable {
    let id: String
    private let verb: String
    private let target: String
    private let summary: String
    private let description: String?
    private let form: CallForm?
    private let lines: [Line]

    private struct Line: Sendable {
        /// What it calls: `POST /groups` or `GroupService/CreateGroup`.
        let title: String
        /// What people read above it.
        let heading: String
        /// What the form's script shows in its place: `route`, `connect`, or nothing.
        let way: String?
        let call: CallExample
    }

    /// The entries of methods and routes; those of one operation are one.
    static func all(_ operations: [OpenAPI.Operation], routes: [AppRoute]) -> [HomeEntry] {
        let routes = Dictionary(uniqueKeysWithValues: routes.map { ($0.described.operationID, $0) })
        let methods = MethodExample.all
        let operationsOfMethods = Dictionary(
            uniqueKeysWithValues: operations.compactMap { operation in
                methods.contains { $0.described.operationID == operation.id } ? (operation.id, operation) : nil
            }
        )
        return methods.map { method in
            let id = method.described.operationID
            return HomeEntry(method, route: routes[id], operation: operationsOfMethods[id])
        } + operations.filter { operationsOfMethods[$0.id] == nil }.map(HomeEntry.init)
    }

    private init(_ example: MethodExample, route: AppRoute?, operation: OpenAPI.Operation?) {
        id = example.described.operationID
        verb = operation?.method.rawValue ?? "RPC"
        target = operation?.path ?? example.title
        summary = example.summary
        description = example.described.description
        form = CallForm(example, route: route)
        let connect = Line(title: example.title, heading: "By Connect", way: "connect", call: example.call)
        let line = operation.flatMap { operation in
            RouteExamples.request(operation).map {
                Line(
                    title: "\(operation.method.rawValue) \(operation.path)",
                    heading: "By its route",
                    way: route == nil ? nil : "route",
                    call: $0
                )
            }
        }
        lines = (line.map { [$0] } ?? []) + [connect]
    }

    private init(_ operation: OpenAPI.Operation) {
        id = operation.id
        verb = operation.method.rawValue
        target = operation.path
        summary = "\(operation.summary)."
        description = operation.description
        let form = operation.id == WatchGroupsRoute.operation.id ? CallForm.watchGroups : CallForm(operation)
        self.form = form
        lines =
            RouteExamples.request(operation).map {
                let title = "\(operation.method.rawValue) \(operation.path)"
                return [Line(title: title, heading: "In a shell", way: form == nil ? nil : "route", call: $0)]
            } ?? []
    }

    /// The entry, with lines that call this base: scheme, host and port.
    func html(_ base: String) -> HTML {
        let lines = lines.map { line -> HTML in
            """
            <p class="way">\(line.heading)</p>
            <pre data-call="\(line.title)"\(HTML.attribute("data-way", line.way))><code>\(line.call.line(base))</code></pre>

            """
        }
        let more: HTML = description.map { "<p>\($0)</p>\n" } ?? ""
        return """
            <details class="entry" id="\(id)">
            <summary><strong>\(verb)</strong> <code>\(target)</code> <span>\(summary)</span></summary>
            <div class="content">
            \(more)\(form?.html ?? "")\(lines)<output></output>
            </div>
            </details>

            """
    }
}
