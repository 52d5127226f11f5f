// Nothing is here but the dependencies that Package.swift gives this target: the programs that are shipped. SwiftPM builds one
// product or one target a call, and so `make build` names this target to have all of them linked by one plan.
