module rnnpack

go 1.19
