// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=x86-64-v3 forms=expanded" | FileCheck %s
// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=x86-64-v3 forms=expanded" --nnc-choose-routines --nnc-check-routines | FileCheck %s --check-prefix=CHOSEN
// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=x86-64-v3 forms=expanded,separable" | FileCheck %s --check-prefix=BOTH
// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=portable forms=expanded" | FileCheck %s --check-prefix=PORTABLE

// What lies between a 1 x 1 convolution and the depthwise one that alone reads
// it would not fit into the caches near a core.

// CHECK-LABEL: func.func @clip
// CHECK-DAG: %[[V:.*]] = nn.constant {{.*}} : tensor<96x16x1x1xf32>
// CHECK-DAG: %[[B:.*]] = nn.constant {{.*}} : tensor<1x96x1x1xf32>
// CHECK-DAG: %[[W:.*]] = nn.constant {{.*}} : tensor<96x1x3x3xf32>
// CHECK: %[[Y:.*]] = nn.layer "depthwise" inputs(%arg0, %[[V]], %[[B]], %[[W]] : {{.*}}) extras(%arg1 : tensor<1x96x1x1xf32>) -> tensor<1x96x56x56xf32>
// CHECK-SAME: attributes {nn.expanded = {apart_ns = {{[0-9]+}} : i64, one_ns = {{[0-9]+}} : i64}} anchor {
// CHECK-NEXT: ^bb0(%[[AX:.*]]: {{.*}}, %[[AV:.*]]: {{.*}}, %[[AB:.*]]: {{.*}}, %[[AW:.*]]: {{.*}}):
// CHECK-NEXT: %[[A:.*]] = nn.expanded_conv clip %[[AX]], %[[AV]], %[[AB]], %[[AW]] {dilations = array<i64: 1, 1>, high = 6.000000e+00 : f64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
// CHECK-NEXT: nn.yield %[[A]]
// CHECK: nn.mul
// CHECK-NOT: nn.layer
// CHECK: return %[[Y]]

// CHOSEN-LABEL: func.func @clip
// CHOSEN: nn.layer "depthwise" {{.*}} routine = "expanded_conv2d_f32_nchw8c_avx2"

// PORTABLE-LABEL: func.func @clip
// PORTABLE-NOT: nn.expanded_conv
func.func @clip(%x: tensor<1x16x112x112xf32>, %scale: tensor<1x96x1x1xf32>) -> tensor<1x96x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<96x16x1x1xf32>
  %b = nn.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040"> : tensor<1x96x1x1xf32>
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x16x112x112xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x112x112xf32> loc("expand")
  %1 = nn.add %0, %b : tensor<1x96x112x112xf32>, tensor<1x96x1x1xf32>
  %2 = nn.clip %1 {min = 0.0 : f64, max = 6.0 : f64} : tensor<1x96x112x112xf32>
  %3 = nn.conv %2, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x56x56xf32> loc("depthwise")
  %4 = nn.mul %3, %scale : tensor<1x96x56x56xf32>, tensor<1x96x1x1xf32>
  return %4 : tensor<1x96x56x56xf32>
}

// -----

// Without a bias it is zero.

// CHECK-LABEL: func.func @no_bias
// CHECK: %[[ZERO:.*]] = nn.constant dense<0.0{{.*}}> : tensor<1x96x1x1xf32>
// CHECK: nn.layer "depthwise" inputs(%arg0, %{{.*}}, %[[ZERO]], %{{.*}} : {{.*}})
// CHECK: nn.expanded_conv silu
func.func @no_bias(%x: tensor<1x16x112x112xf32>) -> tensor<1x96x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<96x16x1x1xf32>
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x16x112x112xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x112x112xf32> loc("expand")
  %1 = nn.silu %0 : tensor<1x96x112x112xf32>
  %2 = nn.conv %1, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x56x56xf32> loc("depthwise")
  return %2 : tensor<1x96x56x56xf32>
}

// -----

// Of three layers the two that it saves most to fuse: here the depthwise map is
// a quarter of the expanded one.

// BOTH-LABEL: func.func @inverted_residual
// BOTH: nn.layer "depthwise" {{.*}} attributes {nn.expanded
// BOTH: nn.expanded_conv
// BOTH: nn.layer "project" {{.*}}
// BOTH-NOT: nn.separable_conv
func.func @inverted_residual(%x: tensor<1x16x112x112xf32>) -> tensor<1x24x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<96x16x1x1xf32>
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %u = nn.constant dense<1.0> : tensor<24x96x1x1xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x16x112x112xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x112x112xf32> loc("expand")
  %1 = nn.relu %0 : tensor<1x96x112x112xf32>
  %2 = nn.conv %1, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x56x56xf32> loc("depthwise")
  %3 = nn.relu %2 : tensor<1x96x56x56xf32>
  %4 = nn.conv %3, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x96x56x56xf32>, tensor<24x96x1x1xf32>) -> tensor<1x24x56x56xf32> loc("project")
  return %4 : tensor<1x24x56x56xf32>
}

// -----

// Here either saves a fifth and more, the second pair the most.

// CHECK-LABEL: func.func @separable_saves_more
// CHECK: nn.layer "depthwise" {{.*}} attributes {nn.expanded = {apart_ns = 2{{[0-9]*}} : i64, one_ns = 1{{[0-9]*}} : i64}}
// CHECK-NOT: nn.expanded_conv
// BOTH-LABEL: func.func @separable_saves_more
// BOTH: nn.layer "expand"
// BOTH: nn.layer "project" {{.*}} attributes {nn.separable
// BOTH: nn.separable_conv
func.func @separable_saves_more(%x: tensor<1x32x112x112xf32>) -> tensor<1x16x112x112xf32> {
  %v = nn.constant dense<1.0> : tensor<128x32x1x1xf32>
  %w = nn.constant dense<1.0> : tensor<128x1x3x3xf32>
  %u = nn.constant dense<1.0> : tensor<16x128x1x1xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x32x112x112xf32>, tensor<128x32x1x1xf32>) -> tensor<1x128x112x112xf32> loc("expand")
  %1 = nn.relu %0 : tensor<1x128x112x112xf32>
  %2 = nn.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 128 : i64} : (tensor<1x128x112x112xf32>, tensor<128x1x3x3xf32>) -> tensor<1x128x112x112xf32> loc("depthwise")
  %3 = nn.relu %2 : tensor<1x128x112x112xf32>
  %4 = nn.conv %3, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x128x112x112xf32>, tensor<16x128x1x1xf32>) -> tensor<1x16x112x112xf32> loc("project")
  return %4 : tensor<1x16x112x112xf32>
}

// -----

// A small map stays near by itself, and the first product has a faster method:
// the cost keeps them apart, and says so.

// CHECK-LABEL: func.func @small_map
// CHECK: nn.layer "expand"
// CHECK: nn.layer "depthwise" {{.*}} attributes {nn.expanded = {apart_ns
// CHECK-NOT: nn.expanded_conv
func.func @small_map(%x: tensor<1x512x14x14xf32>) -> tensor<1x512x14x14xf32> {
  %v = nn.constant dense<1.0> : tensor<512x512x1x1xf32>
  %w = nn.constant dense<1.0> : tensor<512x1x3x3xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x512x14x14xf32>, tensor<512x512x1x1xf32>) -> tensor<1x512x14x14xf32> loc("expand")
  %1 = nn.relu %0 : tensor<1x512x14x14xf32>
  %2 = nn.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 512 : i64} : (tensor<1x512x14x14xf32>, tensor<512x1x3x3xf32>) -> tensor<1x512x14x14xf32> loc("depthwise")
  return %2 : tensor<1x512x14x14xf32>
}

// -----

// Nor where something else reads what is expanded, where more than a bias and
// an activation is between them, or where the second is not depthwise.

// CHECK-LABEL: func.func @other_reader
// CHECK-NOT: nn.expanded
func.func @other_reader(%x: tensor<1x16x112x112xf32>) -> (tensor<1x96x112x112xf32>, tensor<1x96x112x112xf32>) {
  %v = nn.constant dense<1.0> : tensor<96x16x1x1xf32>
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x16x112x112xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x112x112xf32>
  %1 = nn.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x112x112xf32>
  return %0, %1 : tensor<1x96x112x112xf32>, tensor<1x96x112x112xf32>
}

// -----

// CHECK-LABEL: func.func @more_between
// CHECK-NOT: nn.expanded
func.func @more_between(%x: tensor<1x16x112x112xf32>, %r: tensor<1x96x112x112xf32>) -> tensor<1x96x112x112xf32> {
  %v = nn.constant dense<1.0> : tensor<96x16x1x1xf32>
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x16x112x112xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x112x112xf32>
  %1 = nn.add %0, %r : tensor<1x96x112x112xf32>, tensor<1x96x112x112xf32>
  %2 = nn.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x112x112xf32>
  return %2 : tensor<1x96x112x112xf32>
}

// -----

// CHECK-LABEL: func.func @not_depthwise
// CHECK-NOT: nn.expanded
func.func @not_depthwise(%x: tensor<1x16x112x112xf32>) -> tensor<1x96x112x112xf32> {
  %v = nn.constant dense<1.0> : tensor<96x16x1x1xf32>
  %w = nn.constant dense<1.0> : tensor<96x2x3x3xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x16x112x112xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x112x112xf32>
  %1 = nn.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 48 : i64} : (tensor<1x96x112x112xf32>, tensor<96x2x3x3xf32>) -> tensor<1x96x112x112xf32>
  return %1 : tensor<1x96x112x112xf32>
}

// -----

// A literal between the two layers is no bias of one value a channel.

// CHECK-LABEL: func.func @literal_between
// CHECK-NOT: nn.expanded
func.func @literal_between(%x: tensor<1x16x112x112xf32>) -> tensor<1x96x112x112xf32> {
  %v = nn.constant dense<1.0> : tensor<96x16x1x1xf32>
  %w = nn.constant dense<1.0> : tensor<96x1x3x3xf32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x16x112x112xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x112x112xf32>
  %1 = nn.add %0, %half : tensor<1x96x112x112xf32>, tensor<f32>
  %2 = nn.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 96 : i64} : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x112x112xf32>
  return %2 : tensor<1x96x112x112xf32>
}
