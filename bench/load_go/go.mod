module lockc-bench/load

go 1.19
