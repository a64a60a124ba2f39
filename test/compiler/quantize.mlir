// RUN: nnc-opt %s --nnc-calibrate=ranges=0:-1:1,5:0:6.25 | FileCheck %s --check-prefix=RANGES
// RUN: nnc-opt %s --nnc-calibrate=ranges=0:-1:1,5:0:6.25 --nnc-quantize | FileCheck %s
// RUN: nnc-opt %s --nnc-calibrate=ranges=0:-1:1,5:0:6.25 --nnc-quantize=exclude=y | FileCheck %s --check-prefix=FLOAT
// RUN: nnc-opt %s --nnc-quantize | FileCheck %s --check-prefix=FLOAT
// RUN: not nnc-opt %s --nnc-calibrate=ranges=9:-1:1 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not nnc-opt %s --nnc-calibrate=ranges=0:1:2 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not nnc-opt %s --nnc-calibrate=ranges=0:1 2>&1 | FileCheck %s --check-prefix=FORM

// A product, its bias and its activation are one layer: only what it reads and
// the result of the activation are rounded.

// RANGES: %arg0: tensor<1x2xf32> {qnn.range = array<f64: -1.000000e+00, 1.000000e+00>}
// RANGES: nn.relu %{{.*}} {qnn.range = array<f64: 0.000000e+00, 6.250000e+00>}

// CHECK-LABEL: @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32>
// CHECK: %[[X:.*]] = qnn.quantize {{ *}}half_even %arg0 : tensor<1x2xf32> -> tensor<1x2x!quant.uniform<i8:f32, 0.007843{{[0-9]*}}:-1>>
// CHECK: %[[REAL:.*]] = qnn.dequantize %[[X]]
// CHECK: %[[W:.*]] = qnn.dequantize %{{.*}} : tensor<2x2x!quant.uniform<i8:f32:1, {
// CHECK: %[[SUMS:.*]] = nn.matmul %[[REAL]], %[[W]]
// CHECK: %[[BIAS:.*]] = qnn.dequantize %{{.*}} : tensor<2x!quant.uniform<i32:f32:0, {
// CHECK: %[[ADDED:.*]] = nn.add %[[SUMS]], %[[BIAS]]
// CHECK: %[[RELU:.*]] = nn.relu %[[ADDED]]
// CHECK-NOT: qnn.range
// CHECK: %[[Y:.*]] = qnn.quantize {{ *}}half_even %[[RELU]] : tensor<1x2xf32> -> tensor<1x2x!quant.uniform<i8:f32, {{.*}}:-128>>
// CHECK: %[[RESULT:.*]] = qnn.dequantize %[[Y]]
// CHECK: return %[[RESULT]]

// FLOAT-NOT: qnn.

// COUNT: there is no value number 9; the function has 6
// BOUNDS: qnn.range is array<f64: 1.000000e+00, 2.000000e+00>; it has to be
// FORM: '0:1' is no range; write NUMBER:LOW:HIGH

func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = nn.constant dense<[0.5, -0.5]> : tensor<2xf32>
  %sums = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("y")
  %added = nn.add %sums, %b : tensor<1x2xf32>, tensor<2xf32>
  %y = nn.relu %added : tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
