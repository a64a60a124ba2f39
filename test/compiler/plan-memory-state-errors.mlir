// RUN: nnc-opt --split-input-file --nnc-plan-memory --verify-diagnostics %s

func.func @exchange(%a: tensor<4xf32> {nn.name = "a", nn.state = 0 : i64}, %b: tensor<4xf32> {nn.name = "b", nn.state = 1 : i64})
    -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{the values that are kept between runs exchange places}}
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 is state, but 'nn.state' is not the number of a result}}
func.func @none(%a: tensor<4xf32> {nn.state = 3 : i64}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 is state of type 'tensor<4xf32>', but its next value is a 'tensor<2x2xf32>'}}
func.func @type(%a: tensor<4xf32> {nn.state = 0 : i64}) -> tensor<2x2xf32> {
  %y = nn.reshape %a : tensor<4xf32> -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// expected-error @below {{result 0 is the next value of two arguments}}
func.func @two(%a: tensor<4xf32> {nn.state = 0 : i64}, %b: tensor<4xf32> {nn.state = 0 : i64}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 is state of type 'tensor<4xf32>', but its first value is a 'tensor<2xf32>'}}
func.func @initial(%a: tensor<4xf32> {nn.state = 0 : i64, nn.initial = dense<0.0> : tensor<2xf32>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
