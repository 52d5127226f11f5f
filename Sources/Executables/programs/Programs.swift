// This target only has dependencies in Package.swift: all programs of a release. SwiftPM builds one product or target per call,
// so `make build` builds this target to link all programs in one call.
