// RUN: nnc-opt %s --split-input-file --verify-diagnostics

// The discardable attributes of qnn: those that there are, their values, and what
// may carry them.

// expected-error @below {{has 'qnn.quantised', which is not an attribute of qnn; those are 'qnn.of_floats', 'qnn.port', 'qnn.quantized', 'qnn.range', 'qnn.stays_float'}}
module attributes {qnn.quantised} {
}

// -----

// expected-error @below {{needs no value as 'qnn.quantized'}}
module attributes {qnn.quantized = true} {
}

// -----

// expected-error @below {{has 'qnn.quantized', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {qnn.quantized} {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a text that is not empty as 'qnn.stays_float'}}
  %y = nn.relu %x {qnn.stays_float = ""} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{has 'qnn.of_floats', which only an op in a function may have}}
module attributes {qnn.of_floats} {
}

// -----

// expected-error @below {{has 'qnn.stays_float', which only an op in a function may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {qnn.stays_float = "why"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 needs a dictionary with a quantized 'type' and the 'rounding' half_even or half_away as 'qnn.port'}}
func.func @main(%x: tensor<4xf32> {qnn.port = {rounding = "half_even", type = f32}}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{result 0 needs a dictionary with a quantized 'type' and the 'rounding' half_even or half_away as 'qnn.port'}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {qnn.port = {rounding = "nearest", type = !quant.uniform<i8:f32, 0.5>}}) {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'qnn.port', which only an argument or result of a function, an exec.input, an exec.output or an exec.state may have}}
  %y = nn.relu %x {qnn.port = {rounding = "half_even", type = !quant.uniform<i8:f32, 0.5>}} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 needs array<f64: LOW, HIGH> of finite numbers with LOW <= 0 <= HIGH as 'qnn.range'}}
func.func @main(%x: tensor<4xf32> {qnn.range = array<f64: 1.0, 2.0>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs array<f64: LOW, HIGH> of finite numbers}}
  %y = nn.relu %x {qnn.range = array<f64: 0.0, 0x7FF0000000000000>} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs array<f64: LOW, HIGH> of finite numbers}}
  %y = nn.relu %x {qnn.range = array<f64: 0.0>} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{has 'qnn.range', which only an op with one result, or an argument of a function, may have}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {qnn.range = array<f64: 0.0, 1.0>}) {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'qnn.range', which only an op with one result, or an argument of a function, may have}}
  return {qnn.range = array<f64: 0.0, 1.0>} %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs no value as 'qnn.of_floats'}}
  %y = nn.relu %x {qnn.of_floats = true} : tensor<4xf32>
  return %y : tensor<4xf32>
}
