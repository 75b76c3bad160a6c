module lockc-bench

go 1.19

require (
	lockc v0.0.0
	lockc-bench/load v0.0.0
)

replace lockc => ../../bindings/go

replace lockc-bench/load => ../load_go
