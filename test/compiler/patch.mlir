// RUN: nnc-opt --split-input-file --pass-pipeline='builtin.module(func.func(nnc-patch{last=3 strips=2}))' %s | FileCheck %s
// RUN: not nnc-opt --pass-pipeline='builtin.module(func.func(nnc-patch{last=4 strips=2}))' %s 2>&1 | FileCheck --check-prefix=LOCAL %s
// RUN: not nnc-opt --pass-pipeline='builtin.module(func.func(nnc-patch{last=3 strips=9}))' %s 2>&1 | FileCheck --check-prefix=MANY %s
// RUN: not nnc-opt --pass-pipeline='builtin.module(func.func(nnc-patch{last=90}))' %s 2>&1 | FileCheck --check-prefix=RANGE %s

// LOCAL: error: {{.*}}is not local to rows along axis 2
// MANY: error: its result of 4 rows cannot be made up of 9 strips
// RANGE: error: there are no ops number 0 to 90 among its

// The first strip pads above and the second one below; what both read of the
// first convolution is computed twice, and the sum reads its rows of both.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: tensor<1x2x8x6xf32>
// CHECK: %[[A:.*]] = nn.slice %[[X]] {sizes = array<i64: 1, 2, 5, 6>, starts = array<i64: 0, 0, 0, 0>
// CHECK: %[[C:.*]] = nn.conv %[[A]], {{.*}}pads = array<i64: 1, 1, 0, 1>{{.*}} -> tensor<1x4x4x6xf32>
// CHECK: %[[P:.*]] = nn.max_pool %[[C]] {{.*}}pads = array<i64: 1, 0, 0, 0>{{.*}} -> tensor<1x4x2x2xf32>
// CHECK: %[[R:.*]] = nn.relu %[[P]]
// CHECK: %[[B:.*]] = nn.slice %[[X]] {sizes = array<i64: 1, 2, 6, 6>, starts = array<i64: 0, 0, 2, 0>
// CHECK: %[[D:.*]] = nn.conv %[[B]], {{.*}}pads = array<i64: 0, 1, 1, 1>{{.*}} -> tensor<1x4x5x6xf32>
// CHECK: %[[Q:.*]] = nn.max_pool %[[D]] {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}} -> tensor<1x4x2x2xf32>
// CHECK: %[[S:.*]] = nn.relu %[[Q]]
// CHECK: %[[Y:.*]] = nn.concat %[[R]], %[[S]] {axis = 2 : i64}
// CHECK: return %[[Y]]
func.func @chain(%x: tensor<1x2x8x6xf32>) -> tensor<1x4x4x2xf32> {
  %w = nn.constant dense<1.0> : tensor<4x2x3x3xf32>
  %c = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x2x8x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x8x6xf32>
  %p = nn.max_pool %c {kernel = array<i64: 3, 3>, strides = array<i64: 2, 3>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, ceil_mode = false} : (tensor<1x4x8x6xf32>) -> tensor<1x4x4x2xf32>
  %r = nn.relu %p : tensor<1x4x4x2xf32>
  %s = nn.softmax %r {axis = 2 : i64, log = false} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %r : tensor<1x4x4x2xf32>
}

// -----

// Of a sum, both operands have the rows of the strip, a constant for each
// channel is read whole, and a value that is read elsewhere as well is whole.
// CHECK-LABEL: func.func @sum(
// CHECK: %[[T:.*]] = nn.tanh
// CHECK-DAG: nn.slice %[[T]] {sizes = array<i64: 1, 3, 2, 5>, starts = array<i64: 0, 0, 0, 0>
// CHECK-DAG: nn.slice %{{.*}} {sizes = array<i64: 1, 3, 2, 5>, starts = array<i64: 0, 0, 0, 0>
// CHECK: nn.add {{.*}} : tensor<1x3x2x5xf32>, tensor<3x1x1xf32>
// CHECK: nn.add {{.*}} : tensor<1x3x2x5xf32>, tensor<1x3x2x5xf32>
// CHECK: nn.concat {{.*}} {axis = 2 : i64}
// CHECK: return %{{.*}}, %[[T]]
func.func @sum(%x: tensor<1x3x4x5xf32>) -> (tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>) {
  %k = nn.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %t = nn.tanh %x : tensor<1x3x4x5xf32>
  %a = nn.add %x, %k : tensor<1x3x4x5xf32>, tensor<3x1x1xf32>
  %b = nn.add %a, %t : tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>
  return %b, %t : tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>
}
