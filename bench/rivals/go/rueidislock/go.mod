module lockc-bench/rueidislock

go 1.19

require (
	github.com/redis/rueidis v1.0.79
	github.com/redis/rueidis/rueidislock v1.0.79
	lockc-bench/load v0.0.0
)

replace lockc-bench/load => ../../../load_go
