// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=x86-64-v3 forms=separable" | FileCheck %s
// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=x86-64-v3 forms=separable" --nnc-choose-routines --nnc-check-routines | FileCheck %s --check-prefix=CHOSEN
// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=portable forms=separable" | FileCheck %s --check-prefix=PORTABLE

// What lies between a depthwise convolution and the 1 x 1 one that alone reads
// it would not fit into the caches near a core.

// CHECK-LABEL: func.func @clip
// CHECK-DAG: %[[W:.*]] = nn.constant {{.*}} : tensor<96x1x3x3xf32>
// CHECK-DAG: %[[B:.*]] = nn.constant {{.*}} : tensor<1x96x1x1xf32>
// CHECK-DAG: %[[V:.*]] = nn.constant {{.*}} : tensor<24x96x1x1xf32>
// CHECK-DAG: %[[C:.*]] = nn.constant {{.*}} : tensor<1x24x1x1xf32>
// CHECK: %[[Y:.*]] = nn.layer "project" inputs(%arg0, %[[W]], %[[B]], %[[V]] : {{.*}}) extras(%[[C]] : tensor<1x24x1x1xf32>) -> tensor<1x24x56x56xf32>
// CHECK-SAME: attributes {nn.separable = {apart_ns = {{[0-9]+}} : i64, one_ns = {{[0-9]+}} : i64}} anchor {
// CHECK-NEXT: ^bb0(%[[AX:.*]]: {{.*}}, %[[AW:.*]]: {{.*}}, %[[AB:.*]]: {{.*}}, %[[AV:.*]]: {{.*}}):
// CHECK-NEXT: %[[A:.*]] = nn.separable_conv clip %[[AX]], %[[AW]], %[[AB]], %[[AV]] {dilations = array<i64: 1, 1>, high = 6.000000e+00 : f64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
// CHECK-NEXT: nn.yield %[[A]]
// CHECK: nn.add
// CHECK-NOT: nn.layer
// CHECK: return %[[Y]]

// CHOSEN-LABEL: func.func @clip
// CHOSEN: nn.layer "project" {{.*}} routine = "separable_conv2d_f32_nchw8c_avx2"

// PORTABLE-LABEL: func.func @clip
// PORTABLE-NOT: nn.separable_conv
func.func @clip(%x: tensor<1x96x112x112xf32>) -> tensor<1x24x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %b = nn.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040"> : tensor<1x96x1x1xf32>
  %v = nn.constant dense<1.0> : tensor<24x96x1x1xf32>
  %c = nn.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040"> : tensor<1x24x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x56x56xf32> loc("depthwise")
  %1 = nn.add %0, %b : tensor<1x96x56x56xf32>, tensor<1x96x1x1xf32>
  %2 = nn.clip %1 {min = 0.0 : f64, max = 6.0 : f64} : tensor<1x96x56x56xf32>
  %3 = nn.conv %2, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x96x56x56xf32>, tensor<24x96x1x1xf32>) -> tensor<1x24x56x56xf32> loc("project")
  %4 = nn.add %3, %c : tensor<1x24x56x56xf32>, tensor<1x24x1x1xf32>
  return %4 : tensor<1x24x56x56xf32>
}

// -----

// Without a bias it is zero. The epilogue keeps what it reads.

// CHECK-LABEL: func.func @no_bias
// CHECK: %[[ZERO:.*]] = nn.constant dense<0.0{{.*}}> : tensor<1x96x1x1xf32>
// CHECK: nn.layer "project" inputs(%arg0, %{{.*}}, %[[ZERO]], %{{.*}} : {{.*}}) extras(%arg1 : tensor<1x24x56x56xf32>)
// CHECK: nn.separable_conv hard_swish
func.func @no_bias(%x: tensor<1x96x112x112xf32>, %r: tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %v = nn.constant dense<1.0> : tensor<24x96x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x56x56xf32>
  %1 = nn.hard_swish %0 : tensor<1x96x56x56xf32>
  %2 = nn.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x96x56x56xf32>, tensor<24x96x1x1xf32>) -> tensor<1x24x56x56xf32> loc("project")
  %3 = nn.add %2, %r : tensor<1x24x56x56xf32>, tensor<1x24x56x56xf32>
  return %3 : tensor<1x24x56x56xf32>
}

// -----

// A small map stays near by itself, and its product has a faster method: the
// cost keeps them apart, and says so.

// CHECK-LABEL: func.func @small_map
// CHECK: nn.layer "depthwise"
// CHECK: nn.layer "project" {{.*}} attributes {nn.separable = {apart_ns
// CHECK-NOT: nn.separable_conv
func.func @small_map(%x: tensor<1x512x28x28xf32>) -> tensor<1x512x28x28xf32> {
  %w = nn.constant dense<1.0> : tensor<512x1x3x3xf32>
  %v = nn.constant dense<1.0> : tensor<512x512x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 512 : i64} : (tensor<1x512x28x28xf32>, tensor<512x1x3x3xf32>) -> tensor<1x512x28x28xf32> loc("depthwise")
  %1 = nn.relu %0 : tensor<1x512x28x28xf32>
  %2 = nn.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x512x28x28xf32>, tensor<512x512x1x1xf32>) -> tensor<1x512x28x28xf32> loc("project")
  return %2 : tensor<1x512x28x28xf32>
}

// -----

// Squeeze-and-excite between them reads the whole map first.

// CHECK-LABEL: func.func @squeeze_and_excite
// CHECK-NOT: nn.separable
func.func @squeeze_and_excite(%x: tensor<1x96x112x112xf32>) -> tensor<1x24x112x112xf32> {
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %v = nn.constant dense<1.0> : tensor<24x96x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x112x112xf32>
  %1 = nn.avg_pool %0 {kernel = array<i64: 112, 112>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x96x112x112xf32>) -> tensor<1x96x1x1xf32>
  %2 = nn.mul %0, %1 : tensor<1x96x112x112xf32>, tensor<1x96x1x1xf32>
  %3 = nn.conv %2, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x96x112x112xf32>, tensor<24x96x1x1xf32>) -> tensor<1x24x112x112xf32>
  return %3 : tensor<1x24x112x112xf32>
}

// -----

// Nor where something else reads the depthwise result, where more than a bias
// and an activation is between them, or where the second has a stride.

// CHECK-LABEL: func.func @other_reader
// CHECK-NOT: nn.separable
func.func @other_reader(%x: tensor<1x96x112x112xf32>) -> (tensor<1x96x112x112xf32>, tensor<1x24x112x112xf32>) {
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %v = nn.constant dense<1.0> : tensor<24x96x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x112x112xf32>
  %1 = nn.conv %0, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x96x112x112xf32>, tensor<24x96x1x1xf32>) -> tensor<1x24x112x112xf32>
  return %0, %1 : tensor<1x96x112x112xf32>, tensor<1x24x112x112xf32>
}

// -----

// CHECK-LABEL: func.func @more_between
// CHECK-NOT: nn.separable
func.func @more_between(%x: tensor<1x96x112x112xf32>, %r: tensor<1x96x112x112xf32>) -> tensor<1x24x112x112xf32> {
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %v = nn.constant dense<1.0> : tensor<24x96x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x112x112xf32>
  %1 = nn.add %0, %r : tensor<1x96x112x112xf32>, tensor<1x96x112x112xf32>
  %2 = nn.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x96x112x112xf32>, tensor<24x96x1x1xf32>) -> tensor<1x24x112x112xf32>
  return %2 : tensor<1x24x112x112xf32>
}

// -----

// CHECK-LABEL: func.func @stride
// CHECK-NOT: nn.separable
func.func @stride(%x: tensor<1x96x112x112xf32>) -> tensor<1x24x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %v = nn.constant dense<1.0> : tensor<24x96x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x112x112xf32>
  %1 = nn.conv %0, %v {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x96x112x112xf32>, tensor<24x96x1x1xf32>) -> tensor<1x24x56x56xf32>
  return %1 : tensor<1x24x56x56xf32>
}
