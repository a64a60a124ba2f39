// RUN: nnc-opt --nnc-qnn-canonicalize --split-input-file --verify-diagnostics %s | FileCheck %s
// Numbers are checked in test/dialects/qnn/numeric_test.py.

// CHECK-LABEL: @quantize
// CHECK-DAG: %[[Z:.*]] = nn.constant dense<1.280000e+02> : tensor<f32>
// CHECK-DAG: %[[S:.*]] = nn.constant dense<2.000000e-02> : tensor<f32>
// CHECK: %[[D:.*]] = nn.div %arg0, %[[S]]
// CHECK-NEXT: %[[R:.*]] = nn.round %[[D]]
// CHECK-NEXT: %[[A:.*]] = nn.add %[[R]], %[[Z]]
// CHECK-NEXT: %[[Q:.*]] = nn.cast %[[A]] : tensor<4xf32> to tensor<4xui8>
// CHECK-NEXT: return %[[Q]]
func.func @quantize(%x: tensor<4xf32>) -> tensor<4xui8> {
  %0 = qnn.quantize half_even %x : tensor<4xf32> -> tensor<4x!quant.uniform<u8:f32, 0.02:128>>
  %1 = qnn.reinterpret %0 : tensor<4x!quant.uniform<u8:f32, 0.02:128>> -> tensor<4xui8>
  return %1 : tensor<4xui8>
}

// -----

// CHECK-LABEL: @dequantize_per_axis
// CHECK-DAG: nn.constant dense<{{\[\[}}2.000000e-02], [5.000000e-01]]> : tensor<2x1xf32>
// CHECK-DAG: nn.constant dense<{{\[\[}}1.000000e+00], [-3.000000e+00]]> : tensor<2x1xf32>
// CHECK: nn.cast %arg0 : tensor<3x2x4xi8> to tensor<3x2x4xf32>
// CHECK-NEXT: nn.sub
// CHECK-NEXT: nn.mul
func.func @dequantize_per_axis(%x: tensor<3x2x4xi8>) -> tensor<3x2x4xf32> {
  %0 = qnn.reinterpret %x : tensor<3x2x4xi8> -> tensor<3x2x4x!quant.uniform<i8:f32:1, {0.02:1, 0.5:-3}>>
  %1 = qnn.dequantize %0 : tensor<3x2x4x!quant.uniform<i8:f32:1, {0.02:1, 0.5:-3}>> -> tensor<3x2x4xf32>
  return %1 : tensor<3x2x4xf32>
}

// -----

// What was quantized like this comes back as it was.
// CHECK-LABEL: @there_and_back
// CHECK-NEXT: return %arg0
func.func @there_and_back(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = qnn.reinterpret %x : tensor<4xui8> -> tensor<4x!quant.uniform<u8:f32, 0.02:128>>
  %1 = qnn.dequantize %0 : tensor<4x!quant.uniform<u8:f32, 0.02:128>> -> tensor<4xf32>
  %2 = qnn.quantize half_even %1 : tensor<4xf32> -> tensor<4x!quant.uniform<u8:f32, 0.02:128>>
  %3 = qnn.reinterpret %2 : tensor<4x!quant.uniform<u8:f32, 0.02:128>> -> tensor<4xui8>
  return %3 : tensor<4xui8>
}

// -----

func.func @left_over(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<u8:f32, 0.02:128>> {
  // expected-error@+1 {{'qnn.reinterpret' op is left over}}
  %0 = qnn.quantize half_even %x : tensor<4xf32> -> tensor<4x!quant.uniform<u8:f32, 0.02:128>>
  return %0 : tensor<4x!quant.uniform<u8:f32, 0.02:128>>
}
