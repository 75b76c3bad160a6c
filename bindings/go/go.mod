module lockc

go 1.19
