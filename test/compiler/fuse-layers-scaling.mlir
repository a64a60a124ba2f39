// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=x86-64-v3 forms=scaling" | FileCheck %s
// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=x86-64-v3 forms=scaling" --nnc-choose-routines --nnc-check-routines | FileCheck %s --check-prefix=CHOSEN
// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=x86-64-v3 max-error=0 forms=scaling" --nnc-choose-routines=max-error=0 --nnc-check-routines | FileCheck %s --check-prefix=EXACT

// DenseNet's batch norm and relu: Strassen's method makes sums of its input
// anyway.

// CHECK-LABEL: func.func @norm
// CHECK: %[[V:.*]] = nn.constant {{.*}} : tensor<128x256x1x1xf32>
// CHECK: %[[Y:.*]] = nn.layer "project" inputs(%arg0, %arg1, %arg2, %[[V]] : {{.*}}) -> tensor<1x128x56x56xf32>
// CHECK-SAME: attributes {nn.scaling = {apart_ns = {{[0-9]+}} : i64, one_ns = {{[0-9]+}} : i64}} anchor {
// CHECK-NEXT: ^bb0(%[[AX:.*]]: {{.*}}, %[[AS:.*]]: {{.*}}, %[[AB:.*]]: {{.*}}, %[[AV:.*]]: {{.*}}):
// CHECK-NEXT: %[[A:.*]] = nn.scaled_conv relu %[[AX]], %[[AS]], %[[AB]], %[[AV]] :
// CHECK-NEXT: nn.yield %[[A]]
// CHECK: nn.relu
// CHECK-NOT: nn.layer
// CHECK: return %[[Y]]

// CHOSEN-LABEL: func.func @norm
// CHOSEN: nn.layer "project" {{.*}} routine = "scaled_conv2d_f32_nchw8c_strassen_avx2"

// Without Strassen's method two layers are as fast: a 1 x 1 convolution alone
// reads such an input in strips, too, and scales nothing into scratch.

// EXACT-LABEL: func.func @norm
// EXACT: nn.layer "project" {{.*}} routine = "conv2d_f32_nchw8c_direct_avx2"
func.func @norm(%x: tensor<1x256x56x56xf32>, %s: tensor<1x256x1x1xf32>, %b: tensor<1x256x1x1xf32>) -> tensor<1x128x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<128x256x1x1xf32>
  %0 = nn.mul %x, %s : tensor<1x256x56x56xf32>, tensor<1x256x1x1xf32>
  %1 = nn.add %0, %b : tensor<1x256x56x56xf32>, tensor<1x256x1x1xf32>
  %2 = nn.relu %1 : tensor<1x256x56x56xf32>
  %3 = nn.conv %2, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x256x56x56xf32>, tensor<128x256x1x1xf32>) -> tensor<1x128x56x56xf32> loc("project")
  %4 = nn.relu %3 : tensor<1x128x56x56xf32>
  return %4 : tensor<1x128x56x56xf32>
}

// -----

// The scale is computed when the code runs, and stands on the left; the bias is
// zero. The epilogue keeps what it reads.

// CHECK-LABEL: func.func @squeeze_and_excite
// CHECK: %[[ZERO:.*]] = nn.constant dense<0.0{{.*}}> : tensor<1x256x1x1xf32>
// CHECK: nn.layer "project" inputs(%arg0, %arg1, %[[ZERO]], %{{.*}} : {{.*}}) extras(%arg2 : tensor<1x128x56x56xf32>)
// CHECK: nn.scaled_conv none
func.func @squeeze_and_excite(%x: tensor<1x256x56x56xf32>, %s: tensor<1x256x1x1xf32>, %r: tensor<1x128x56x56xf32>) -> tensor<1x128x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<128x256x1x1xf32>
  %0 = nn.mul %s, %x : tensor<1x256x1x1xf32>, tensor<1x256x56x56xf32>
  %1 = nn.conv %0, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x256x56x56xf32>, tensor<128x256x1x1xf32>) -> tensor<1x128x56x56xf32> loc("project")
  %2 = nn.add %1, %r : tensor<1x128x56x56xf32>, tensor<1x128x56x56xf32>
  return %2 : tensor<1x128x56x56xf32>
}

// -----

// A bias and a clip without a scale, which is one.

// CHECK-LABEL: func.func @bias
// CHECK: %[[ONE:.*]] = nn.constant dense<1.0{{.*}}> : tensor<1x256x1x1xf32>
// CHECK: nn.layer "project" inputs(%arg0, %[[ONE]], %arg1, %{{.*}} : {{.*}})
// CHECK: nn.scaled_conv clip %{{.*}} {high = 6.000000e+00 : f64}
func.func @bias(%x: tensor<1x256x56x56xf32>, %b: tensor<1x256x1x1xf32>) -> tensor<1x128x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<128x256x1x1xf32>
  %0 = nn.add %x, %b : tensor<1x256x56x56xf32>, tensor<1x256x1x1xf32>
  %1 = nn.clip %0 {min = 0.0 : f64, max = 6.0 : f64} : tensor<1x256x56x56xf32>
  %2 = nn.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x256x56x56xf32>, tensor<128x256x1x1xf32>) -> tensor<1x128x56x56xf32> loc("project")
  return %2 : tensor<1x128x56x56xf32>
}

// -----

// Few filters give Strassen's method nothing: the cost keeps them apart.

// CHECK-LABEL: func.func @few_filters
// CHECK: nn.layer "project" {{.*}} attributes {nn.scaling = {apart_ns
// CHECK-NOT: nn.scaled_conv
func.func @few_filters(%x: tensor<1x96x56x56xf32>, %s: tensor<1x96x1x1xf32>) -> tensor<1x24x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<24x96x1x1xf32>
  %0 = nn.mul %x, %s : tensor<1x96x56x56xf32>, tensor<1x96x1x1xf32>
  %1 = nn.conv %0, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x96x56x56xf32>, tensor<24x96x1x1xf32>) -> tensor<1x24x56x56xf32> loc("project")
  return %1 : tensor<1x24x56x56xf32>
}

// -----

// Not where something else reads what is scaled,

// CHECK-LABEL: func.func @other_reader
// CHECK-NOT: nn.scaling
func.func @other_reader(%x: tensor<1x256x56x56xf32>, %s: tensor<1x256x1x1xf32>) -> (tensor<1x256x56x56xf32>, tensor<1x128x56x56xf32>) {
  %v = nn.constant dense<1.0> : tensor<128x256x1x1xf32>
  %0 = nn.mul %x, %s : tensor<1x256x56x56xf32>, tensor<1x256x1x1xf32>
  %9 = nn.conv %0, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x256x56x56xf32>, tensor<128x256x1x1xf32>) -> tensor<1x128x56x56xf32>
  return %0, %9 : tensor<1x256x56x56xf32>, tensor<1x128x56x56xf32>
}

// -----

// where it is the other way round, a bias and then a scale,

// CHECK-LABEL: func.func @bias_first
// CHECK-NOT: nn.scaling
func.func @bias_first(%x: tensor<1x256x56x56xf32>, %s: tensor<1x256x1x1xf32>) -> tensor<1x128x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<128x256x1x1xf32>
  %0 = nn.add %x, %s : tensor<1x256x56x56xf32>, tensor<1x256x1x1xf32>
  %1 = nn.mul %0, %s : tensor<1x256x56x56xf32>, tensor<1x256x1x1xf32>
  %9 = nn.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x256x56x56xf32>, tensor<128x256x1x1xf32>) -> tensor<1x128x56x56xf32>
  return %9 : tensor<1x128x56x56xf32>
}

// -----

// where two images are read,

// CHECK-LABEL: func.func @two_images
// CHECK-NOT: nn.scaling
func.func @two_images(%x: tensor<1x256x56x56xf32>, %r: tensor<1x256x56x56xf32>) -> tensor<1x128x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<128x256x1x1xf32>
  %0 = nn.mul %x, %r : tensor<1x256x56x56xf32>, tensor<1x256x56x56xf32>
  %9 = nn.conv %0, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x256x56x56xf32>, tensor<128x256x1x1xf32>) -> tensor<1x128x56x56xf32>
  return %9 : tensor<1x128x56x56xf32>
}

// -----

// where the scale is subtracted from or something else,

// CHECK-LABEL: func.func @other_op
// CHECK-NOT: nn.scaling
func.func @other_op(%x: tensor<1x256x56x56xf32>, %s: tensor<1x256x1x1xf32>) -> tensor<1x128x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<128x256x1x1xf32>
  %0 = nn.sub %x, %s : tensor<1x256x56x56xf32>, tensor<1x256x1x1xf32>
  %9 = nn.conv %0, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x256x56x56xf32>, tensor<128x256x1x1xf32>) -> tensor<1x128x56x56xf32>
  return %9 : tensor<1x128x56x56xf32>
}

// -----

// where something is behind the activation,

// CHECK-LABEL: func.func @after_activation
// CHECK-NOT: nn.scaling
func.func @after_activation(%x: tensor<1x256x56x56xf32>, %s: tensor<1x256x1x1xf32>) -> tensor<1x128x56x56xf32> {
  %v = nn.constant dense<1.0> : tensor<128x256x1x1xf32>
  %0 = nn.relu %x : tensor<1x256x56x56xf32>
  %1 = nn.mul %0, %s : tensor<1x256x56x56xf32>, tensor<1x256x1x1xf32>
  %9 = nn.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x256x56x56xf32>, tensor<128x256x1x1xf32>) -> tensor<1x128x56x56xf32>
  return %9 : tensor<1x128x56x56xf32>
}

// -----

// or where the convolution has a stride.

// CHECK-LABEL: func.func @stride
// CHECK-NOT: nn.scaling
func.func @stride(%x: tensor<1x256x56x56xf32>, %s: tensor<1x256x1x1xf32>) -> tensor<1x128x28x28xf32> {
  %v = nn.constant dense<1.0> : tensor<128x256x1x1xf32>
  %0 = nn.mul %x, %s : tensor<1x256x56x56xf32>, tensor<1x256x1x1xf32>
  %9 = nn.conv %0, %v {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x256x56x56xf32>, tensor<128x256x1x1xf32>) -> tensor<1x128x28x28xf32>
  return %9 : tensor<1x128x28x28xf32>
}
