// RUN: nnc-opt %s --split-input-file --nnc-choose-routines=target=x86-64-v4 --nnc-check-routines | FileCheck %s
// RUN: nnc-opt %s --split-input-file --nnc-choose-routines=target=portable --nnc-check-routines | FileCheck %s --check-prefix=PORTABLE

// RUN: nnc-opt %s --split-input-file --nnc-choose-routines="target=x86-64-v4 max-error=1e-6" | FileCheck %s --check-prefix=SOME
// RUN: nnc-opt %s --split-input-file --nnc-choose-routines="target=x86-64-v4 max-error=0" | FileCheck %s --check-prefix=NONE

// Two convolutions stay in the blocked layout between them; the argument and
// the result of the function are row-major. Weights change their type alone;
// one value a channel is blocked as the result is.

// CHECK: nn.target = #target.machine<name = "x86-64-v4"
// CHECK-LABEL: func.func @two_convs
// CHECK-SAME: nn.plan = {bound_ns = [[NS:[0-9]+]] : i64, ns = [[NS]] : i64, solver = "exact"}
// CHECK-NEXT: %[[X:.*]] = nn.adapt %arg0 {routine = "adapt_{{.*}}"} : tensor<1x64x28x28xf32> -> tensor<1x64x28x28xf32, #nn.layout<NCHW16c>>
// CHECK-NEXT: %[[W1:.*]] = nn.constant dense<1.0{{.*}}> : tensor<64x64x1x1xf32> -> tensor<64x64x1x1xf32, #nn.layout<KCRS16c16k>>
// CHECK-NEXT: %[[B:.*]] = nn.constant {{.*}} -> tensor<1x64x1x1xf32, #nn.layout<NCHW16c>>
// CHECK: %[[A:.*]] = nn.layer "a" inputs(%[[X]], %[[W1]] : {{.*}}) extras(%[[B]] : {{.*}}) -> tensor<1x64x28x28xf32, #nn.layout<NCHW16c>> attributes {params = array<i64: {{.*}}>, routine = "conv2d_f32_nchw16c_{{.*}}_avx512"}
// CHECK-NOT: nn.adapt
// CHECK: %[[Y:.*]] = nn.layer "b" inputs(%[[A]],
// CHECK: nn.adapt %[[Y]] {{.*}} -> tensor<1x64x28x28xf32>
// CHECK-NEXT: return

// PORTABLE-LABEL: func.func @two_convs
// PORTABLE-NOT: nn.adapt
// PORTABLE: nn.layer "a" {{.*}} attributes {routine = "conv2d_f32_portable"}
func.func @two_convs(%x: tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %w1 = nn.constant dense<1.0> : tensor<64x64x1x1xf32>
  %b = nn.constant dense<0.5> : tensor<1x64x1x1xf32>
  %w2 = nn.constant dense<2.0> : tensor<64x64x3x3xf32>
  %0 = nn.layer "a" inputs(%x, %w1 : tensor<1x64x28x28xf32>, tensor<64x64x1x1xf32>) extras(%b : tensor<1x64x1x1xf32>) -> tensor<1x64x28x28xf32>
  anchor {
  ^bb0(%ax: tensor<1x64x28x28xf32>, %aw: tensor<64x64x1x1xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x28x28xf32>
    nn.yield %c : tensor<1x64x28x28xf32>
  } epilogue {
  ^bb0(%e: f32, %eb: f32):
    %c = nn.add %e, %eb : f32, f32
    nn.yield %c : f32
  }
  %1 = nn.layer "b" inputs(%0, %w2 : tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
  anchor {
  ^bb0(%ax: tensor<1x64x28x28xf32>, %aw: tensor<64x64x3x3xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
    nn.yield %c : tensor<1x64x28x28xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %1 : tensor<1x64x28x28xf32>
}

// -----

// Elementwise layers and concat follow the layout around them, 24 channels
// padded to 32 or not: relu maps the zeros there to zeros. What adds a literal
// to them does not, and runs row-major; so does concat of parts that do not fill
// their blocks.

// CHECK-LABEL: func.func @followers
// CHECK: nn.layer "c1" {{.*}} -> tensor<1x24x14x14xf32, #nn.layout<NCHW16c>>
// CHECK: nn.layer "relu" {{.*}} -> tensor<1x24x14x14xf32, #nn.layout<NCHW16c>>
// CHECK: nn.layer "shift" {{.*}} -> tensor<1x24x14x14xf32> attributes
// CHECK: nn.layer "c2" {{.*}} -> tensor<1x32x14x14xf32, #nn.layout<NCHW16c>>
// CHECK: nn.layer "cat" {{.*}} -> tensor<1x64x14x14xf32, #nn.layout<NCHW16c>> attributes {routine = "copy_{{.*}}"}
// CHECK: nn.layer "odd" {{.*}} -> tensor<1x48x14x14xf32> attributes
func.func @followers(%x: tensor<1x64x14x14xf32>) -> (tensor<1x64x14x14xf32>, tensor<1x48x14x14xf32>) {
  %w1 = nn.constant dense<1.0> : tensor<24x64x3x3xf32>
  %w2 = nn.constant dense<2.0> : tensor<32x24x3x3xf32>
  %w3 = nn.constant dense<2.0> : tensor<64x64x3x3xf32>
  %0 = nn.layer "c1" inputs(%x, %w1 : tensor<1x64x14x14xf32>, tensor<24x64x3x3xf32>) -> tensor<1x24x14x14xf32>
  anchor {
  ^bb0(%ax: tensor<1x64x14x14xf32>, %aw: tensor<24x64x3x3xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<24x64x3x3xf32>) -> tensor<1x24x14x14xf32>
    nn.yield %c : tensor<1x24x14x14xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "relu" extras(%0 : tensor<1x24x14x14xf32>) -> tensor<1x24x14x14xf32> anchor {
  } epilogue {
  ^bb0(%e: f32):
    %c = nn.relu %e : f32
    nn.yield %c : f32
  }
  %2 = nn.layer "shift" extras(%0 : tensor<1x24x14x14xf32>) -> tensor<1x24x14x14xf32> anchor {
  } epilogue {
  ^bb0(%e: f32):
    %half = arith.constant 0.5 : f32
    %c = nn.add %e, %half : f32, f32
    nn.yield %c : f32
  }
  %3 = nn.layer "c2" inputs(%1, %w2 : tensor<1x24x14x14xf32>, tensor<32x24x3x3xf32>) -> tensor<1x32x14x14xf32>
  anchor {
  ^bb0(%ax: tensor<1x24x14x14xf32>, %aw: tensor<32x24x3x3xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x24x14x14xf32>, tensor<32x24x3x3xf32>) -> tensor<1x32x14x14xf32>
    nn.yield %c : tensor<1x32x14x14xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %4 = nn.layer "cat" inputs(%3, %3 : tensor<1x32x14x14xf32>, tensor<1x32x14x14xf32>) -> tensor<1x64x14x14xf32>
  anchor {
  ^bb0(%a: tensor<1x32x14x14xf32>, %b: tensor<1x32x14x14xf32>):
    %c = nn.concat %a, %b {axis = 1 : i64} : (tensor<1x32x14x14xf32>, tensor<1x32x14x14xf32>) -> tensor<1x64x14x14xf32>
    nn.yield %c : tensor<1x64x14x14xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %5 = nn.layer "odd" inputs(%2, %2 : tensor<1x24x14x14xf32>, tensor<1x24x14x14xf32>) -> tensor<1x48x14x14xf32>
  anchor {
  ^bb0(%a: tensor<1x24x14x14xf32>, %b: tensor<1x24x14x14xf32>):
    %c = nn.concat %a, %b {axis = 1 : i64} : (tensor<1x24x14x14xf32>, tensor<1x24x14x14xf32>) -> tensor<1x48x14x14xf32>
    nn.yield %c : tensor<1x48x14x14xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %6 = nn.layer "c3" inputs(%4, %w3 : tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  anchor {
  ^bb0(%ax: tensor<1x64x14x14xf32>, %aw: tensor<64x64x3x3xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
    nn.yield %c : tensor<1x64x14x14xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %6, %5 : tensor<1x64x14x14xf32>, tensor<1x48x14x14xf32>
}

// -----

// Winograd's method wants its weights transformed, which is done to constants
// alone. Where it is cheaper, and how many outputs it takes at a time, is up to
// the map: many at a time need few products and much weight.

// CHECK-LABEL: func.func @winograd
// CHECK: nn.layer "large" {{.*}} tensor<64x64x3x3xf32, #nn.layout<KRSC16k_winograd6>>) {{.*}} routine = "conv2d_f32_nchw16c_winograd6_avx512"
// The more outputs, the more is lost to rounding: --max-error bounds it.
// SOME: nn.layer "large" {{.*}} routine = "conv2d_f32_nchw16c_winograd4_avx512"
// NONE: nn.layer "large" {{.*}} routine = "conv2d_f32_nchw16c_direct_avx512"
// CHECK: nn.layer "given" {{.*}} routine = "conv2d_f32_nchw16c_direct_avx512"
// PORTABLE-LABEL: func.func @winograd
func.func @winograd(%x: tensor<1x64x56x56xf32>, %v: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %0 = nn.layer "large" inputs(%x, %w : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  anchor {
  ^bb0(%ax: tensor<1x64x56x56xf32>, %aw: tensor<64x64x3x3xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    nn.yield %c : tensor<1x64x56x56xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "given" inputs(%0, %v : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  anchor {
  ^bb0(%ax: tensor<1x64x56x56xf32>, %aw: tensor<64x64x3x3xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    nn.yield %c : tensor<1x64x56x56xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %1 : tensor<1x64x56x56xf32>
}
