// RUN: nnc-opt --split-input-file --verify-diagnostics --nnc-batch='samples=8 cuts=1,2 sizes=2,4,8' %s | FileCheck %s

// Three segments: a loop over four samples at a time holds one over two.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[X:.*]]: tensor<8x3xf32> {nn.name = "x"}) -> (tensor<8x3xf32> {nn.name = "y"})
// CHECK: %[[ALL:.*]] = nn.reshape %[[X]] : tensor<8x3xf32> -> tensor<2x4x3xf32>
// CHECK: %[[L:.*]] = nn.loop @nested_samples_2 max 2 with(%[[ALL]]) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
// CHECK: %[[B:.*]] = nn.reshape %[[L]] : tensor<2x4x3xf32> -> tensor<8x3xf32>
// CHECK: %[[Y:.*]] = nn.layer "c" extras(%[[B]] : tensor<8x3xf32>) -> tensor<8x3xf32>
// CHECK: return %[[Y]] : tensor<8x3xf32>
// CHECK: func.func private @nested_samples_1(%{{.*}}: tensor<i64>, %{{.*}}: tensor<2x2x3xf32>) -> tensor<2x3xf32>
// CHECK: nn.layer "take_x" {{.*}} -> tensor<2x3xf32>
// CHECK: nn.layer "a" {{.*}} -> tensor<2x3xf32>
// CHECK: func.func private @nested_samples_2(%[[TRIP:.*]]: tensor<i64>, %[[PARTS:.*]]: tensor<2x4x3xf32>) -> tensor<4x3xf32>
// CHECK: %[[PART:.*]] = nn.layer "take_x" inputs(%[[PARTS]], %[[TRIP]] : tensor<2x4x3xf32>, tensor<i64>) -> tensor<4x3xf32>
// CHECK: nn.gather {{.*}} {axis = 0 : i64} : (tensor<2x4x3xf32>, tensor<i64>) -> tensor<4x3xf32>
// CHECK: %[[PAIRS:.*]] = nn.reshape %[[PART]] : tensor<4x3xf32> -> tensor<2x2x3xf32>
// CHECK: nn.loop @nested_samples_1 max 2 with(%[[PAIRS]]) : (tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
// CHECK: nn.layer "b" {{.*}} -> tensor<4x3xf32>
func.func @nested(%x: tensor<8x3xf32> {nn.name = "x"}) -> (tensor<8x3xf32> {nn.name = "y"}) {
  %c = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = nn.layer "a" extras(%x, %c : tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32> epilogue {
  ^bb0(%e: f32, %f: f32):
    %1 = nn.add %e, %f : f32, f32
    nn.yield %1 : f32
  }
  %2 = nn.layer "b" extras(%0 : tensor<8x3xf32>) -> tensor<8x3xf32> epilogue {
  ^bb0(%e: f32):
    %1 = nn.relu %e : f32
    nn.yield %1 : f32
  }
  %3 = nn.layer "c" extras(%2 : tensor<8x3xf32>) -> tensor<8x3xf32> epilogue {
  ^bb0(%e: f32):
    %1 = nn.tanh %e : f32
    nn.yield %1 : f32
  }
  return %3 : tensor<8x3xf32>
}

// -----

// Rows of a sample become axes of their own and rows again. A constant that was
// repeated for all samples is made for those of a part.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[L:.*]] = nn.loop @rows_samples_2 max 2
// CHECK: func.func private @rows_samples_1(
// CHECK-SAME: -> tensor<6x2xf32>
// CHECK-NOT: tensor<24x2xf32>
// CHECK: nn.constant dense<[{{\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00], [1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<6x2xf32>
// CHECK: nn.layer "table" {{.*}} -> tensor<6x2xf32>
// CHECK: func.func private @rows_samples_2(
// CHECK: nn.reshape {{.*}} : tensor<12x2xf32> -> tensor<4x6xf32>
func.func @rows(%x: tensor<24x2xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %t = nn.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<24x2xf32>
  %0 = nn.layer "table" extras(%x, %t : tensor<24x2xf32>, tensor<24x2xf32>) -> tensor<24x2xf32> epilogue {
  ^bb0(%e: f32, %f: f32):
    %1 = nn.add %e, %f : f32, f32
    nn.yield %1 : f32
  }
  %r = nn.reshape %0 : tensor<24x2xf32> -> tensor<8x6xf32>
  %2 = nn.layer "b" extras(%r : tensor<8x6xf32>) -> tensor<8x6xf32> epilogue {
  ^bb0(%e: f32):
    %1 = nn.relu %e : f32
    nn.yield %1 : f32
  }
  return %r, %2 : tensor<8x6xf32>, tensor<8x6xf32>
}

// -----

// expected-error @+1 {{keeps values between runs}}
func.func @state(%x: tensor<8x3xf32> {nn.state = 0 : i64}) -> tensor<8x3xf32> {
  return %x : tensor<8x3xf32>
}

// -----

// expected-error @+1 {{input 0 is of type 'tensor<7x3xf32>', whose first axis does not hold 8 samples}}
func.func @odd(%x: tensor<7x3xf32>) -> tensor<7x3xf32> {
  return %x : tensor<7x3xf32>
}

// -----

func.func @softmax(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  // expected-error @+1 {{nn.softmax may mix the samples of a batch}}
  %0 = nn.layer "s" inputs(%x : tensor<8x3xf32>) -> tensor<8x3xf32> anchor {
  ^bb0(%a: tensor<8x3xf32>):
    %1 = nn.softmax %a {axis = 0 : i64, log = false} : (tensor<8x3xf32>) -> tensor<8x3xf32>
    nn.yield %1 : tensor<8x3xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<8x3xf32>
}

// -----

// A table that differs from sample to sample.
func.func @table(%x: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %t = nn.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]> : tensor<8x1xf32>
  // expected-error @+1 {{an expression may mix the samples of a batch}}
  %0 = nn.layer "table" extras(%x, %t : tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32> epilogue {
  ^bb0(%e: f32, %f: f32):
    %1 = nn.add %e, %f : f32, f32
    nn.yield %1 : f32
  }
  return %0 : tensor<8x1xf32>
}

// -----

func.func @constant(%x: tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<1xf32>) {
  %t = nn.constant dense<1.0> : tensor<1xf32>
  // expected-error @+1 {{output 1 does not depend on the inputs}}
  return %x, %t : tensor<8x1xf32>, tensor<1xf32>
}

// -----

// expected-error @+1 {{needs a size for each segment that divides the next one and, at last, 8}}
func.func @cuts(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %0 = nn.layer "a" extras(%x : tensor<8x3xf32>) -> tensor<8x3xf32> epilogue {
  ^bb0(%e: f32):
    %1 = nn.relu %e : f32
    nn.yield %1 : f32
  }
  return %0 : tensor<8x3xf32>
}
