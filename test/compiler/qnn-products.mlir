// RUN: nnc-opt --nnc-qnn-canonicalize --nnc-simplify --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-qnn-canonicalize --nnc-simplify --nnc-form-layers --split-input-file %s | FileCheck %s --check-prefix=LAYER

// The zero point of x is around the image, and in the bias; weights keep their bytes.
// CHECK-LABEL: @conv
// CHECK-DAG: %[[W:.*]] = nn.constant dense<{{.*3.*-2.*}}> : tensor<2x1x1x1xi8>
// CHECK-DAG: %[[SHIFT:.*]] = nn.constant dense<{{.*-284.*-550.*}}> : tensor<2x1x1xi32>
// CHECK: %[[Y:.*]] = nn.conv %arg0, %[[W]] {accumulator = i32, {{.*}} fill = 128 : i64, groups = 1 : i64, pads = array<i64: 1, 0, 1, 0>
// CHECK-SAME: (tensor<1x1x2x2xui8>, tensor<2x1x1x1xi8>) -> tensor<1x2x4x2xi32>
// CHECK: nn.add %[[Y]], %[[SHIFT]] : tensor<1x2x4x2xi32>

// The whole requantization is the epilogue of one layer, which stores bytes.
// LAYER-LABEL: @conv
// LAYER: nn.layer "conv" inputs({{.*}} : tensor<1x1x2x2xui8>, tensor<2x1x1x1xi8>) extras({{.*}}) -> tensor<1x2x4x2xui8>
// LAYER: epilogue
// LAYER-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f32):
// LAYER-NEXT: %[[SUM:.*]] = nn.add
// LAYER-NEXT: %[[Y:.*]] = nn.requantize real %[[SUM]], %{{.*}} {element = ui8, high = 255 : i64, low = 0 : i64, zero_point = 3 : i64} : i32, f32
// LAYER-NEXT: nn.yield %[[Y]] : ui8
// LAYER-NEXT: }
// LAYER-NEXT: return
!x = tensor<1x1x2x2x!quant.uniform<u8:f32, 2.0e-02:128>>
!w = tensor<2x1x1x1x!quant.uniform<i8:f32:0, {1.0e-02, 2.0e-02}>>
!s = tensor<1x2x4x2x!quant.uniform<i32:f32:1, {2.0e-04, 4.0e-04}>>
!y = tensor<1x2x4x2x!quant.uniform<u8:f32, 5.0e-02:3>>
func.func @conv(%x: tensor<1x1x2x2xui8>) -> tensor<1x2x4x2xui8> {
  %w = nn.constant dense<[[[[3]]], [[[-2]]]]> : tensor<2x1x1x1xi8>
  %b = nn.constant dense<[100, -806]> : tensor<2xi32>
  %0 = qnn.reinterpret %x : tensor<1x1x2x2xui8> -> !x
  %1 = qnn.reinterpret %w : tensor<2x1x1x1xi8> -> !w
  %2 = qnn.conv %0, %1, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 1, 0>, groups = 1 : i64} : (!x, !w, tensor<2xi32>) -> !s
  %3 = qnn.requantize real %2 : !s -> !y
  %4 = qnn.reinterpret %3 : !y -> tensor<1x2x4x2xui8>
  return %4 : tensor<1x2x4x2xui8>
}

// -----

// Unsigned weights around 128 become signed ones of as many bits.
// CHECK-LABEL: @matmul
// CHECK-DAG: %[[W:.*]] = nn.constant dense<{{\[\[}}-128, 0], [1, 127]]> : tensor<2x2xi8>
// CHECK-DAG: nn.constant dense<[635, -635]> : tensor<2xi32>
// CHECK: nn.matmul %arg0, %[[W]] {accumulator = i32, {{.*}}} : (tensor<3x2xi8>, tensor<2x2xi8>) -> tensor<3x2xi32>
!a = tensor<3x2x!quant.uniform<i8:f32, 2.0e-02:5>>
!b = tensor<2x2x!quant.uniform<u8:f32, 1.0e-02:128>>
!c = tensor<3x2x!quant.uniform<i32:f32, 2.0e-04>>
func.func @matmul(%a: tensor<3x2xi8>) -> tensor<3x2xi32> {
  %b = nn.constant dense<[[0, 128], [129, 255]]> : tensor<2x2xui8>
  %0 = qnn.reinterpret %a : tensor<3x2xi8> -> !a
  %1 = qnn.reinterpret %b : tensor<2x2xui8> -> !b
  %2 = qnn.matmul %0, %1 : (!a, !b) -> !c
  %3 = qnn.reinterpret %2 : !c -> tensor<3x2xi32>
  return %3 : tensor<3x2xi32>
}
