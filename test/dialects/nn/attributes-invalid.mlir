// RUN: nnc-opt %s --split-input-file --verify-diagnostics

// The discardable attributes of nn: those that there are, their values, and what
// may carry them.

// expected-error @below {{has 'nn.modell', which is not an attribute of nn; those are 'nn.activation', 'nn.always_empty'}}
module attributes {nn.modell = "a"} {
}

// -----

// expected-error @below {{'func.func' op argument 0 has 'nn.nam', which is not an attribute of nn}}
func.func @main(%x: tensor<4xf32> {nn.nam = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op result 0 has 'nn.nam', which is not an attribute of nn}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.nam = "x"}) {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'nn.relu' op has 'nn.vary', which is not an attribute of nn}}
  %y = nn.relu %x {nn.vary} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{needs a text as 'nn.model'}}
module attributes {nn.model = 3 : i64} {
}

// -----

// expected-error @below {{has 'nn.model', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.model = "a"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a text as 'nn.sha256'}}
module attributes {nn.sha256} {
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.sha256', which only a module may have}}
  %y = nn.relu %x {nn.sha256 = "00"} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{needs a #target.machine as 'nn.target'}}
module attributes {nn.target = "x86-64"} {
}

// -----

#host = #target.device<name = "host", isas = ["portable"], features = [], spaces = [#target.space<name = "ram", align = 8>], compiler = "c++", flags = "", cost = #target.core<vector_bytes = 4, vector_registers = 8, caches = [], bandwidth = [], memory_mb_s = 100, multiply_adds = 1, mhz = 100>>
// expected-error @below {{has 'nn.target', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.target = #target.machine<name = "small", triple = "", chip = "", devices = [#host], emulator = "">} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a dictionary of texts as 'nn.custom_files'}}
module attributes {nn.custom_files = {a = 1 : i64}} {
}

// -----

// expected-error @below {{has 'nn.custom_files', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.custom_files = {}} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a number from 0 on as 'nn.float_constants'}}
module attributes {nn.float_constants = -1 : i64} {
}

// -----

// expected-error @below {{has 'nn.float_constants', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.float_constants = 1 : i64} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs an array<i64> of two numbers from 0 on as 'nn.half_constants'}}
module attributes {nn.half_constants = array<i64: 1>} {
}

// -----

// expected-error @below {{has 'nn.half_constants', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.half_constants = array<i64: 1, 8>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs an array of texts as 'nn.kept_weights'}}
module attributes {nn.kept_weights = [1]} {
}

// -----

// expected-error @below {{has 'nn.kept_weights', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.kept_weights = ["w"]} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a number as 'nn.stored_ns'}}
module attributes {nn.stored_ns = 1.5} {
}

// -----

// expected-error @below {{has 'nn.stored_ns', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.stored_ns = 1 : i64} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs an array of array<f64: BYTES, SECONDS> as 'nn.weights_front'}}
module attributes {nn.weights_front = [array<f64: 1.0>]} {
}

// -----

// expected-error @below {{has 'nn.weights_front', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.weights_front = []} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a dictionary with the numbers 'ns' and 'bound_ns' and the text 'solver' as 'nn.plan'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.plan = {ns = 3 : i64, solver = "trees"}} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'nn.plan', which only a function may have}}
module attributes {nn.plan = {ns = 3 : i64, bound_ns = 3 : i64, solver = "trees"}} {
}

// -----

// expected-error @below {{argument 0 needs a text as 'nn.name'}}
func.func @main(%x: tensor<4xf32> {nn.name = 1 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{result 0 needs a text as 'nn.name'}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.name = 1 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'nn.name', which only an argument or result of a function may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.name = "x"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a text that is not empty as 'nn.model_type'}}
func.func @main(%x: tensor<4xf32> {nn.model_type = ""}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.model_type', which only an argument or result of a function, an exec.input, an exec.output or an exec.state may have}}
  %y = nn.relu %x {nn.model_type = "i4"} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{needs a number as 'nn.state'}}
func.func @main(%x: tensor<4xf32> {nn.state = "y"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a number as 'nn.state'}}
func.func @main(%x: tensor<4xf32> {nn.state = 0 : i128}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 is state, but 'nn.state' is not the number of a result}}
func.func @main(%x: tensor<4xf32> {nn.state = 1 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{result 0 has 'nn.state', which only an argument of a function may have}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.state = 0 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs the elements of a tensor as 'nn.initial'}}
func.func @main(%x: tensor<4xf32> {nn.initial = 0.0 : f32}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 has 'nn.initial' without 'nn.state'; only state has a first value}}
func.func @main(%x: tensor<4xf32> {nn.initial = dense<0.0> : tensor<4xf32>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'nn.initial', which only an argument of a function may have}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.initial = dense<0.0> : tensor<4xf32>}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a number from 0 on as 'nn.size'}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.size = -1 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'nn.size', which only a result of a function may have}}
func.func @main(%x: tensor<4xf32> {nn.size = 0 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a text that is not empty as 'nn.activation'}}
  %y = nn.relu %x {nn.activation = ""} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.activation', which only an op with a result may have}}
  return {nn.activation = "ReLU6"} %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{needs no value as 'nn.byte_weights'}}
  %y = nn.matmul %x, %x {transpose_a = false, transpose_b = false, nn.byte_weights = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.byte_weights', which only a convolution or matrix product may have}}
  %y = nn.relu %x {nn.byte_weights} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{needs no value as 'nn.bytes_need_ram'}}
  %y = nn.matmul %x, %x {transpose_a = false, transpose_b = false, nn.bytes_need_ram = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.bytes_need_ram', which only a convolution or matrix product may have}}
  %y = nn.relu %x {nn.bytes_need_ram} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a dictionary with the numbers 'apart_ns' and 'one_ns' as 'nn.expanded'}}
  %y = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> attributes {nn.expanded = {apart_ns = 1 : i64}} epilogue {
  ^bb0(%v: f32):
    %r = nn.relu %v : f32
    nn.yield %r : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.expanded', which only an nn.layer may have}}
  %y = nn.relu %x {nn.expanded = {apart_ns = 1 : i64, one_ns = 1 : i64}} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a dictionary with the numbers 'apart_ns' and 'one_ns' as 'nn.scaling'}}
  %y = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> attributes {nn.scaling = {apart_ns = 1 : i64}} epilogue {
  ^bb0(%v: f32):
    %r = nn.relu %v : f32
    nn.yield %r : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.scaling', which only an nn.layer may have}}
  %y = nn.relu %x {nn.scaling = {apart_ns = 1 : i64, one_ns = 1 : i64}} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a dictionary with the numbers 'apart_ns' and 'one_ns' as 'nn.separable'}}
  %y = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> attributes {nn.separable = {apart_ns = 1 : i64}} epilogue {
  ^bb0(%v: f32):
    %r = nn.relu %v : f32
    nn.yield %r : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.separable', which only an nn.layer may have}}
  %y = nn.relu %x {nn.separable = {apart_ns = 1 : i64, one_ns = 1 : i64}} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.description', which only an exec.call may have}}
  %y = nn.relu %x {nn.description = {kind = "other", operation = "ReLU"}} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a dictionary with the parts of a description as 'nn.description'}}
  %y = nn.relu %x {nn.description = {}} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a dictionary with the parts of a description as 'nn.description'}}
  %y = nn.relu %x {nn.description = {operation = "ReLU", after = [1]}} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a dictionary with the parts of a description as 'nn.description'}}
  %y = nn.relu %x {nn.description = {operation = "ReLU", groups = 0 : i64}} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.roles', which only an exec.call may have}}
  %y = nn.relu %x {nn.roles = ["weights"]} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs an array of texts as 'nn.roles'}}
  %y = nn.relu %x {nn.roles = "weights"} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs no value as 'nn.varies'}}
  %y = nn.relu %x {nn.varies = false} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.varies', which only an op of nn may have}}
  return {nn.varies} %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs no value as 'nn.copies'}}
  %y = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> attributes {nn.copies = 1 : i64} epilogue {
  ^bb0(%v: f32):
    %r = nn.relu %v : f32
    nn.yield %r : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.copies', which only an nn.layer may have}}
  %y = nn.relu %x {nn.copies} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs an array of #nn.shape as 'nn.other_shapes'}}
  %y = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> attributes {nn.other_shapes = [1]} epilogue {
  ^bb0(%v: f32):
    %r = nn.relu %v : f32
    nn.yield %r : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.other_shapes', which only an nn.layer may have}}
  %y = nn.relu %x {nn.other_shapes = []} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs an array with an array<i64> of pairs, an axis and a divisor, for each value as 'nn.varying_axes'}}
  %y = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> attributes {nn.varying_axes = [array<i64: 0>]} epilogue {
  ^bb0(%v: f32):
    %r = nn.relu %v : f32
    nn.yield %r : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a list of axes for each of 2 operands and results in 'nn.varying_axes', not 1}}
  %y = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> attributes {nn.varying_axes = [array<i64: 0, 4>]} epilogue {
  ^bb0(%v: f32):
    %r = nn.relu %v : f32
    nn.yield %r : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has the axis 1 with the divisor 4 in 'nn.varying_axes', which 'tensor<4xf32>' does not have}}
  %y = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> attributes {nn.varying_axes = [array<i64: 0, 4>, array<i64: 1, 4>]} epilogue {
  ^bb0(%v: f32):
    %r = nn.relu %v : f32
    nn.yield %r : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.varying_axes', which only an nn.layer may have}}
  %y = nn.relu %x {nn.varying_axes = []} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a number from 0 on as 'nn.number'}}
  %y = nn.relu %x {nn.number = -1 : i64} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{has 'nn.number', which only an op in a function may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.number = 0 : i64} {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a number from 0 on as 'nn.batch_op'}}
  %y = nn.relu %x {nn.batch_op = "0"} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{has 'nn.batch_op', which only an op in a function may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.batch_op = 0 : i64} {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.link', which only an nn.prefix may have}}
  %y = nn.relu %x {nn.link} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs no value as 'nn.link'}}
  %y = nn.relu %x {nn.link = 1 : i64} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main() -> tensor<4xf32> {
  // expected-error @below {{needs no value as 'nn.always_empty'}}
  %y = nn.constant {nn.always_empty = 1 : i64} dense<0.0> : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main() -> tensor<4xf32> {
  // expected-error @below {{has 'nn.always_empty', which only an nn.constant without elements may have}}
  %y = nn.constant {nn.always_empty} dense<0.0> : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error @below {{needs an array of texts as 'nn.texts'}}
  %y = builtin.unrealized_conversion_cast %x : tensor<4xi64> to tensor<4xi64> {nn.texts = "a"}
  return %y : tensor<4xi64>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'nn.texts', which only a builtin.unrealized_conversion_cast may have}}
  %y = nn.relu %x {nn.texts = ["a"]} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{needs a list as 'nn.sizes'}}
module attributes {nn.sizes = 1 : i64} {
}

// -----

// expected-error @below {{has 'nn.sizes', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.sizes = []} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs an array of i64 as 'nn.sizes_within'}}
module attributes {nn.sizes_within = 1 : i64} {
}

// -----

// expected-error @below {{has 'nn.sizes_within', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.sizes_within = array<i64: 1>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a list as 'nn.sizes_computed'}}
module attributes {nn.sizes_computed = 1 : i64} {
}

// -----

// expected-error @below {{has 'nn.sizes_computed', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.sizes_computed = []} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs an array of i64 as 'nn.largest'}}
module attributes {nn.largest = [1]} {
}

// -----

// expected-error @below {{has 'nn.largest', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.largest = array<i64: 1>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a list as 'nn.sums'}}
module attributes {nn.sums = 1 : i64} {
}

// -----

// expected-error @below {{has 'nn.sums', which only a module may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.sums = []} {
  return %x : tensor<4xf32>
}
