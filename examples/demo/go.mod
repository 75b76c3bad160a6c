module lockc-demo

go 1.19

require lockc v0.0.0

replace lockc => ../../bindings/go
