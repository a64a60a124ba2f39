// RUN: nnc-opt --split-input-file --nnc-plan-memory --nnc-lower-to-exec %s | FileCheck %s

// Weights are laid out in order of use, 64 bytes apart; the model's names become
// identifiers ("int" is none: it gets what it is in front); the last layer, and the one that it writes over,
// write the caller's output. What computes as an earlier layer shares its code.

// CHECK-LABEL: exec.program @tiny arena 256 lower_bound 256 align 64 weights 192
// CHECK-SAME: attributes {headers = ["runtime/simd/arithmetic.h"], model = "tiny", sha256 = "ab"}
// CHECK: %x_0 = exec.input "x_0" of "x.0" : tensor<1x4x4x4xf32>
// CHECK: %output_int = exec.output "output_int" of "int" : tensor<1x4x4x4xf32>
// CHECK-NEXT: %[[W:.*]] = exec.weight "conv1_weight" at 0
// CHECK-NEXT: %[[B:.*]] = exec.weight "conv1_bias" at 64
// CHECK-NEXT: exec.call "conv1" conv2d_f32_portable of "runtime/routines/convolution/conv2d/portable.h" inputs(%x_0, %[[W]]) extras(channel %[[B]]) outputs(%output_int)
// CHECK-SAME: shape <n = 1, c = 4, h = 4, w = 4, k = 4, kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1, pt = 0, pl = 0, oh = 4, ow = 4, groups = 1, fill = 0>
// CHECK-SAME: multiply_adds = 256 : i64, nn.description = {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, kind = "convolution", numbers = "32-bit floats", operation = "convolution", pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME: nn.roles = ["", "weights", "bias"], what = "1 x 1 convolution, 32-bit floats", work =
// CHECK: nn.add
// CHECK: exec.yield
// CHECK: exec.buffer "conv2_out" at 0 : tensor<1x4x4x4xf32>
// CHECK: exec.call "conv2" conv2d_f32_portable
// CHECK-SAME: like "conv1"
// CHECK: exec.call "relu" elementwise_portable of "runtime/routines/elementwise/elementwise.h" inputs(%output_int, %conv2_out) outputs(%output_int)
// CHECK-SAME: shape <rank = 1, dims = [64], strides = {{\[\[}}1], [1]], planes = 1, pixels = 1> pointwise
// CHECK-NOT: func.func
module attributes {nn.model = "tiny", nn.sha256 = "ab"} {
  func.func @main(%x: tensor<1x4x4x4xf32> {nn.name = "x.0"}) -> (tensor<1x4x4x4xf32> {nn.name = "int"}) {
    %w = nn.constant dense<1.0> : tensor<4x4x1x1xf32>
    %b = nn.constant dense<[[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]> : tensor<1x4x1x1xf32>
    %w2 = nn.constant dense<2.0> : tensor<4x4x1x1xf32>
    %1 = nn.layer "conv1" inputs(%x, %w : tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) extras(%b : tensor<1x4x1x1xf32>) -> tensor<1x4x4x4xf32> attributes {routine = "conv2d_f32_portable"} anchor {
    ^bb0(%0: tensor<1x4x4x4xf32>, %a: tensor<4x4x1x1xf32>):
      %c = nn.conv %0, %a {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32>
      nn.yield %c : tensor<1x4x4x4xf32>
    } epilogue {
    ^bb0(%0: f32, %e: f32):
      %c = nn.add %0, %e : f32, f32
      nn.yield %c : f32
    }
    %2 = nn.layer "conv2" inputs(%1, %w2 : tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) extras(%b : tensor<1x4x1x1xf32>) -> tensor<1x4x4x4xf32> attributes {routine = "conv2d_f32_portable"} anchor {
    ^bb0(%0: tensor<1x4x4x4xf32>, %a: tensor<4x4x1x1xf32>):
      %c = nn.conv %0, %a {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32>
      nn.yield %c : tensor<1x4x4x4xf32>
    } epilogue {
    ^bb0(%0: f32, %e: f32):
      %c = nn.add %0, %e : f32, f32
      nn.yield %c : f32
    }
    %3 = nn.layer "relu" extras(%1, %2 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> attributes {routine = "elementwise_portable"} epilogue {
    ^bb0(%0: f32, %e: f32):
      %c = nn.add %0, %e : f32, f32
      %d = nn.relu %c : f32
      nn.yield %d : f32
    }
    return %3 : tensor<1x4x4x4xf32>
  }
}

// -----

// A slice that lies in its operand is a view. Of a concat's operands, what
// cannot be produced in place is copied, and nothing else.

// CHECK-LABEL: exec.program @model
// CHECK: %[[X:.*]] = exec.input "input" : tensor<32xf32>
// CHECK: %[[Y:.*]] = exec.output "output" : tensor<32xf32>
// CHECK: %[[HIGH:.*]] = exec.view "high_out" of %[[X]] at 64 : tensor<16xf32>
// CHECK: %[[A:.*]] = exec.view "a_out" of %[[Y]] at 0 : tensor<16xf32>
// CHECK: exec.call "a" elementwise_portable of "{{.*}}" inputs(%[[HIGH]]) outputs(%[[A]])
// CHECK: exec.call "join_2" copy_portable of "{{.*}}" inputs(%[[HIGH]]) outputs(%[[Y]]) shape <rank = 1, dims = [16], src_strides = [1], dst_strides = [1], src_offset = 0, dst_offset = 16>
// CHECK-NOT: exec.call
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %high = nn.layer "high" inputs(%x : tensor<32xf32>) -> tensor<16xf32> attributes {routine = "copy_portable"} anchor {
  ^bb0(%0: tensor<32xf32>):
    %1 = nn.slice %0 {starts = array<i64: 16>, sizes = array<i64: 16>, steps = array<i64: 1>} : (tensor<32xf32>) -> tensor<16xf32>
    nn.yield %1 : tensor<16xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  %a = nn.layer "a" extras(%high : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.relu %0 : f32
    nn.yield %1 : f32
  }
  %join = nn.layer "join" inputs(%a, %high : tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32> attributes {routine = "copy_portable"} anchor {
  ^bb0(%0: tensor<16xf32>, %1: tensor<16xf32>):
    %2 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    nn.yield %2 : tensor<32xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %join : tensor<32xf32>
}

// -----

// What is given twice, or is the caller's own, is copied.

// CHECK-LABEL: exec.program @model
// CHECK: exec.call "a" {{.*}} outputs(%output)
// CHECK: exec.copy "copy_output_2" %output to %output_2
// CHECK: exec.copy "copy_output_3" %input to %output_3
func.func @main(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %a = nn.layer "a" extras(%x : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.relu %0 : f32
    nn.yield %1 : f32
  }
  return %a, %a, %x : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// -----

// The weight of a Winograd convolution stays as it is: it is transformed when it
// is written, as its layout says. The routine works in scratch.

// CHECK-LABEL: exec.program @winograd
// CHECK: exec.weight "conv_weight" at 0 = dense<1.000000e+00> : tensor<16x16x3x3xf32> : tensor<16x16x3x3xf32, #nn.layout<KRSC16k_winograd2>>
// CHECK: %[[S:.*]] = exec.buffer "conv_scratch" at 0 : tensor<{{.*}}xui8>
// CHECK: exec.call "conv" conv2d_f32_nchw16c_winograd2_avx512<P = 6, B = 2, SUM = 32, STRIP = 512> {{.*}} scratch(%[[S]])
module attributes {nn.model = "winograd", nn.sha256 = "ab"} {
  func.func @main(%x: tensor<1x16x8x8xf32> {nn.name = "x"}) -> (tensor<1x16x8x8xf32> {nn.name = "y"}) {
    %bx = nn.adapt %x {routine = "adapt_f32_avx512"} : tensor<1x16x8x8xf32> -> tensor<1x16x8x8xf32, #nn.layout<NCHW16c>>
    %w = nn.constant dense<1.0> : tensor<16x16x3x3xf32> -> tensor<16x16x3x3xf32, #nn.layout<KRSC16k_winograd2>>
    %0 = nn.layer "conv" inputs(%bx, %w : tensor<1x16x8x8xf32, #nn.layout<NCHW16c>>, tensor<16x16x3x3xf32, #nn.layout<KRSC16k_winograd2>>) -> tensor<1x16x8x8xf32, #nn.layout<NCHW16c>> attributes {params = array<i64: 6, 2, 32, 512>, routine = "conv2d_f32_nchw16c_winograd2_avx512"} anchor {
    ^bb0(%a: tensor<1x16x8x8xf32>, %b: tensor<16x16x3x3xf32>):
      %c = nn.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
      nn.yield %c : tensor<1x16x8x8xf32>
    } epilogue {
    ^bb0(%a: f32):
      nn.yield %a : f32
    }
    %y = nn.adapt %0 {routine = "adapt_f32_avx512"} : tensor<1x16x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x16x8x8xf32>
    return %y : tensor<1x16x8x8xf32>
  }
}

// -----

// A concat in place: its operands are views of its buffer, which is named first,
// so that the arena's map shows it in use from the first of them on. Where joins
// are nested, it is the outermost one's.

// CHECK-LABEL: exec.program @model
// CHECK: %[[OUTER:.*]] = exec.buffer "outer_out" at [[AT:[0-9]+]] : tensor<64xf32>
// CHECK-NEXT: %[[A:.*]] = exec.view "a_out" of %[[OUTER]] at 0 : tensor<16xf32>
// CHECK-NEXT: exec.call "a" {{.*}} outputs(%[[A]])
// CHECK: %[[B:.*]] = exec.view "b_out" of %[[OUTER]] at 64 : tensor<16xf32>
// CHECK-NEXT: exec.call "b" {{.*}} outputs(%[[B]])
// CHECK: %[[INNER:.*]] = exec.view "inner_out" of %[[OUTER]] at 0 : tensor<32xf32>
// CHECK: %[[C:.*]] = exec.view "c_out" of %[[OUTER]] at 128 : tensor<32xf32>
// CHECK: exec.call "c" {{.*}} inputs(%[[INNER]]) outputs(%[[C]])
// CHECK-NOT: exec.call
// CHECK: exec.call "z" {{.*}} inputs(%[[OUTER]]) outputs(%output)
func.func @main(%x: tensor<16xf32>) -> tensor<32xf32> {
  %a = nn.layer "a" extras(%x : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.relu %0 : f32
    nn.yield %1 : f32
  }
  %b = nn.layer "b" extras(%a : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.sigmoid %0 : f32
    nn.yield %1 : f32
  }
  %inner = nn.layer "inner" inputs(%a, %b : tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32> attributes {routine = "copy_portable"} anchor {
  ^bb0(%0: tensor<16xf32>, %1: tensor<16xf32>):
    %2 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    nn.yield %2 : tensor<32xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  %c = nn.layer "c" extras(%inner : tensor<32xf32>) -> tensor<32xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.sigmoid %0 : f32
    nn.yield %1 : f32
  }
  %outer = nn.layer "outer" inputs(%inner, %c : tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32> attributes {routine = "copy_portable"} anchor {
  ^bb0(%0: tensor<32xf32>, %1: tensor<32xf32>):
    %2 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
    nn.yield %2 : tensor<64xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  %z = nn.layer "z" inputs(%outer : tensor<64xf32>) -> tensor<32xf32> attributes {routine = "copy_portable"} anchor {
  ^bb0(%0: tensor<64xf32>):
    %1 = nn.slice %0 {starts = array<i64: 0>, sizes = array<i64: 32>, steps = array<i64: 2>} : (tensor<64xf32>) -> tensor<32xf32>
    nn.yield %1 : tensor<32xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %z : tensor<32xf32>
}
