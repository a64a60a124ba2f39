// RUN: nnc-opt --split-input-file --nnc-plan-memory --nnc-verify-memory %s | FileCheck %s

// A chain needs two buffers at a time. The first layer reads the caller's input
// where it is, the last writes the caller's output.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: exec.arena = 128 : i64, exec.lower_bound = 128 : i64
func.func @chain(%x: tensor<16xf32>) -> tensor<16xf32> {
  // CHECK: nn.layer "a"{{.*}}exec.place = #exec.place<arena at 0>
  %a = nn.layer "a" inputs(%x : tensor<16xf32>) -> tensor<16xf32> anchor {
  ^bb0(%0: tensor<16xf32>):
    %1 = nn.softmax %0 {axis = 0 : i64, log = false} : (tensor<16xf32>) -> tensor<16xf32>
    nn.yield %1 : tensor<16xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  // CHECK: nn.layer "b"{{.*}}exec.place = #exec.place<arena at 64>
  %b = nn.layer "b" inputs(%a : tensor<16xf32>) -> tensor<16xf32> anchor {
  ^bb0(%0: tensor<16xf32>):
    %1 = nn.softmax %0 {axis = 0 : i64, log = false} : (tensor<16xf32>) -> tensor<16xf32>
    nn.yield %1 : tensor<16xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  // CHECK: nn.layer "c"{{.*}}exec.place = #exec.place<output at 0>
  %c = nn.layer "c" inputs(%b : tensor<16xf32>) -> tensor<16xf32> anchor {
  ^bb0(%0: tensor<16xf32>):
    %1 = nn.softmax %0 {axis = 0 : i64, log = false} : (tensor<16xf32>) -> tensor<16xf32>
    nn.yield %1 : tensor<16xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %c : tensor<16xf32>
}

// -----

// Elementwise layers write over what they read, but not over the caller's input
// nor over what is needed again: "a" lies where "c" will, in the caller's output.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: exec.arena = 64 : i64
func.func @in_place(%x: tensor<16xf32>) -> tensor<16xf32> {
  // CHECK: nn.layer "a"{{.*}}exec.place = #exec.place<output at 0>
  %a = nn.layer "a" extras(%x : tensor<16xf32>) -> tensor<16xf32> epilogue {
  ^bb0(%0: f32):
    %1 = nn.relu %0 : f32
    nn.yield %1 : f32
  }
  // CHECK: nn.layer "b"{{.*}}exec.place = #exec.place<arena at 0>
  %b = nn.layer "b" extras(%a : tensor<16xf32>) -> tensor<16xf32> epilogue {
  ^bb0(%0: f32):
    %1 = nn.exp %0 : f32
    nn.yield %1 : f32
  }
  // CHECK: nn.layer "c"{{.*}}exec.place = #exec.place<output at 0>
  %c = nn.layer "c" extras(%a, %b : tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> epilogue {
  ^bb0(%0: f32, %1: f32):
    %2 = nn.add %0, %1 : f32, f32
    nn.yield %2 : f32
  }
  return %c : tensor<16xf32>
}

// -----

// A residual is written over by the convolution that adds it; the convolution's
// own input is not.
// CHECK-LABEL: func.func @residual
// CHECK-SAME: exec.arena = 128 : i64
func.func @residual(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1xf32> {
  // CHECK: nn.layer "a"{{.*}}exec.place = #exec.place<[[RESIDUAL:arena at [0-9]+]]>
  %a = nn.layer "a" extras(%x : tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> epilogue {
  ^bb0(%0: f32):
    %1 = nn.relu %0 : f32
    nn.yield %1 : f32
  }
  // CHECK: nn.layer "b"{{.*}}exec.place = #exec.place<arena
  %b = nn.layer "b" inputs(%a, %w : tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> anchor {
  ^bb0(%0: tensor<1x1x4x4xf32>, %1: tensor<1x1x1x1xf32>):
    %2 = nn.conv %0, %1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
    nn.yield %2 : tensor<1x1x4x4xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  // CHECK: nn.layer "c"{{.*}}exec.place = #exec.place<[[RESIDUAL]]>
  %c = nn.layer "c" inputs(%b, %w : tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) extras(%a : tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> anchor {
  ^bb0(%0: tensor<1x1x4x4xf32>, %1: tensor<1x1x1x1xf32>):
    %2 = nn.conv %0, %1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
    nn.yield %2 : tensor<1x1x4x4xf32>
  } epilogue {
  ^bb0(%0: f32, %1: f32):
    %2 = nn.add %0, %1 : f32, f32
    nn.yield %2 : f32
  }
  // CHECK: nn.layer "d"{{.*}}exec.place = #exec.place<output at 0>
  %d = nn.layer "d" inputs(%c : tensor<1x1x4x4xf32>) -> tensor<1xf32> anchor {
  ^bb0(%0: tensor<1x1x4x4xf32>):
    %1 = nn.reduce sum %0 {axes = array<i64: 1, 2, 3>, keepdims = false} : (tensor<1x1x4x4xf32>) -> tensor<1xf32>
    nn.yield %1 : tensor<1xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %d : tensor<1xf32>
}

// -----

// Both parts are produced within the concat's result, which is the caller's; the
// slice and the reshape are views.
// CHECK-LABEL: func.func @views
// CHECK-SAME: exec.arena = 0 : i64
func.func @views(%x: tensor<32xf32>) -> tensor<1x32xf32> {
  // CHECK: nn.layer "low"{{.*}}exec.place = #exec.place<input at 0>
  %low = nn.layer "low" inputs(%x : tensor<32xf32>) -> tensor<16xf32> anchor {
  ^bb0(%0: tensor<32xf32>):
    %1 = nn.slice %0 {starts = array<i64: 0>, sizes = array<i64: 16>, steps = array<i64: 1>} : (tensor<32xf32>) -> tensor<16xf32>
    nn.yield %1 : tensor<16xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  // CHECK: nn.layer "high"{{.*}}exec.place = #exec.place<input at 64>
  %high = nn.layer "high" inputs(%x : tensor<32xf32>) -> tensor<16xf32> anchor {
  ^bb0(%0: tensor<32xf32>):
    %1 = nn.slice %0 {starts = array<i64: 16>, sizes = array<i64: 16>, steps = array<i64: 1>} : (tensor<32xf32>) -> tensor<16xf32>
    nn.yield %1 : tensor<16xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  // CHECK: nn.layer "a"{{.*}}exec.place = #exec.place<output at 64>
  %a = nn.layer "a" extras(%low : tensor<16xf32>) -> tensor<16xf32> epilogue {
  ^bb0(%0: f32):
    %1 = nn.relu %0 : f32
    nn.yield %1 : f32
  }
  // CHECK: nn.layer "b"{{.*}}exec.place = #exec.place<output at 0>
  %b = nn.layer "b" extras(%high : tensor<16xf32>) -> tensor<16xf32> epilogue {
  ^bb0(%0: f32):
    %1 = nn.exp %0 : f32
    nn.yield %1 : f32
  }
  // CHECK: nn.layer "join"{{.*}}exec.place = #exec.place<output at 0>
  %join = nn.layer "join" inputs(%b, %a : tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32> anchor {
  ^bb0(%0: tensor<16xf32>, %1: tensor<16xf32>):
    %2 = nn.concat %0, %1 {axis = 0 : i64} : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    nn.yield %2 : tensor<32xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  // CHECK: nn.reshape {{.*}}exec.place = #exec.place<output at 0>
  %y = nn.reshape %join : tensor<32xf32> -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}

// -----

// Blocks of channels join where they are whole; the caller's input is copied.
// CHECK-LABEL: func.func @blocked_concat
func.func @blocked_concat(%x: tensor<1x16x2x2xf32, #nn.layout<NCHW16c>>) -> tensor<1x32x2x2xf32, #nn.layout<NCHW16c>> {
  // CHECK: nn.layer "a"{{.*}}exec.place = #exec.place<output at 256>
  %a = nn.layer "a" extras(%x : tensor<1x16x2x2xf32, #nn.layout<NCHW16c>>) -> tensor<1x16x2x2xf32, #nn.layout<NCHW16c>> epilogue {
  ^bb0(%0: f32):
    %1 = nn.relu %0 : f32
    nn.yield %1 : f32
  }
  // CHECK: nn.layer "join"{{.*}}exec.place = #exec.place<output at 0>
  %join = nn.layer "join" inputs(%x, %a : tensor<1x16x2x2xf32, #nn.layout<NCHW16c>>, tensor<1x16x2x2xf32, #nn.layout<NCHW16c>>) -> tensor<1x32x2x2xf32, #nn.layout<NCHW16c>> anchor {
  ^bb0(%0: tensor<1x16x2x2xf32>, %1: tensor<1x16x2x2xf32>):
    %3 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<1x16x2x2xf32>, tensor<1x16x2x2xf32>) -> tensor<1x32x2x2xf32>
    nn.yield %3 : tensor<1x32x2x2xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %join : tensor<1x32x2x2xf32, #nn.layout<NCHW16c>>
}

// -----

// Vectors read 16 channel values where the caller gives 10: the input is staged.
// CHECK-LABEL: func.func @staged
// CHECK-SAME: %{{.*}}: tensor<10x1x1xf32> {exec.place = #exec.place<arena at 0>}
// CHECK-SAME: exec.arena = 64 : i64
func.func @staged(%x: tensor<1x10x2x2xf32, #nn.layout<NCHW16c>>, %s: tensor<10x1x1xf32>) -> tensor<1x10x2x2xf32, #nn.layout<NCHW16c>> {
  %a = nn.layer "a" extras(%x, %s : tensor<1x10x2x2xf32, #nn.layout<NCHW16c>>, tensor<10x1x1xf32>) -> tensor<1x10x2x2xf32, #nn.layout<NCHW16c>> epilogue {
  ^bb0(%0: f32, %1: f32):
    %2 = nn.mul %0, %1 : f32, f32
    nn.yield %2 : f32
  }
  return %a : tensor<1x10x2x2xf32, #nn.layout<NCHW16c>>
}
