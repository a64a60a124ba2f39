// RUN: nnc-opt --nnc-qnn-legalize=target=x86-64-v4-vnni %s | FileCheck %s
// RUN: nnc-opt --nnc-qnn-legalize=target=x86-64-v3 %s | FileCheck %s --check-prefix=ANY
// RUN: nnc-opt --nnc-qnn-legalize=target=aarch64-dotprod %s | FileCheck %s --check-prefix=DOT
// RUN: nnc-opt --nnc-qnn-legalize=target=x86-64-v4-vnni --nnc-qnn-canonicalize --nnc-simplify --nnc-form-layers %s | FileCheck %s --check-prefix=LAYER

!x = tensor<2x3x!quant.uniform<i8:f32, 2.0e-02:5>>
!w = tensor<3x4x!quant.uniform<i8:f32, 1.0e-02>>
!s = tensor<2x4x!quant.uniform<i32:f32, 2.0e-04>>

// VNNI multiplies unsigned by signed bytes. Without it, routines take either
// type, and no op converts bytes that come from elsewhere.
// CHECK-LABEL: @signed
// CHECK: %[[W:.*]] = nn.cast %arg0 : tensor<2x3xi8> to tensor<2x3xi16>
// CHECK: nn.add %[[W]]
// CHECK: nn.cast %{{.*}} : tensor<2x3xi16> to tensor<2x3xui8>
// CHECK: qnn.matmul %{{.*}} : (tensor<2x3x!quant.uniform<u8:f32, 2.000000e-02:133>>, tensor<3x4x!quant.uniform<i8:f32, 1.000000e-02>>)
// ANY-LABEL: @signed
// ANY-NOT: nn.cast
// ANY: return
// LAYER-LABEL: @chain
// LAYER: nn.layer "{{.*}}" inputs(%{{.*}}, %{{.*}} : tensor<2x3xui8>, tensor<3x3xi8>) {{.*}} -> tensor<2x3xui8>
// LAYER: nn.layer "{{.*}}" inputs(%{{.*}}, %{{.*}} : tensor<2x3xui8>, tensor<3x4xi8>)
func.func @signed(%x: tensor<2x3xi8>, %w: tensor<3x4xi8>) -> tensor<2x4xi32> {
  %0 = qnn.reinterpret %x : tensor<2x3xi8> -> !x
  %1 = qnn.reinterpret %w : tensor<3x4xi8> -> !w
  %2 = qnn.matmul %0, %1 : (!x, !w) -> !s
  %3 = qnn.reinterpret %2 : !s -> tensor<2x4xi32>
  return %3 : tensor<2x4xi32>
}

// The layer that makes the bytes moves them.
func.func @chain(%a: tensor<2x3xui8>) -> tensor<2x4xi32> {
  %c = nn.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi8>
  %d = nn.constant dense<[[1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10]]> : tensor<3x4xi8>
  %0 = qnn.reinterpret %a : tensor<2x3xui8> -> tensor<2x3x!quant.uniform<u8:f32, 1.0:7>>
  %1 = qnn.reinterpret %c : tensor<3x3xi8> -> tensor<3x3x!quant.uniform<i8:f32, 1.0>>
  %2 = qnn.matmul %0, %1 : (tensor<2x3x!quant.uniform<u8:f32, 1.0:7>>, tensor<3x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x!quant.uniform<i32:f32, 1.0>>
  %3 = qnn.requantize real %2 : tensor<2x3x!quant.uniform<i32:f32, 1.0>> -> !x
  %4 = qnn.reinterpret %d : tensor<3x4xi8> -> !w
  %5 = qnn.matmul %3, %4 : (!x, !w) -> !s
  %6 = qnn.reinterpret %5 : !s -> tensor<2x4xi32>
  return %6 : tensor<2x4xi32>
}

// The op that quantizes makes the other type, also where moves follow it, and
// all readers of the bytes get that type.
// CHECK-LABEL: @quantized
// CHECK: %[[Q:.*]] = qnn.quantize half_even %arg0 : tensor<2x3xf32> -> tensor<2x3x!quant.uniform<u8:f32, 2.000000e-02:133>>
// CHECK: %[[I:.*]] = qnn.reinterpret %[[Q]] {{.*}} -> tensor<2x3xui8>
// CHECK: %[[P:.*]] = nn.pad constant %[[I]] {{.*}}value = 1.330000e+02{{.*}} -> tensor<2x4xui8>
// CHECK: %[[R:.*]] = qnn.reinterpret %[[P]] : tensor<2x4xui8> -> tensor<2x4x!quant.uniform<u8:f32, 2.000000e-02:133>>
// CHECK: qnn.matmul %[[R]]
// CHECK: qnn.dequantize %[[Q]] : tensor<2x3x!quant.uniform<u8:f32, 2.000000e-02:133>> -> tensor<2x3xf32>
// AVX2 has more routines for unsigned bytes, and they cost no op here.
// ANY-LABEL: @quantized
// ANY: qnn.quantize half_even %arg0 : tensor<2x3xf32> -> tensor<2x3x!quant.uniform<u8:f32, 2.000000e-02:133>>
func.func @quantized(%x: tensor<2x3xf32>, %w: tensor<4x4xi8>) -> (tensor<2x4xi32>, tensor<2x3xf32>) {
  %0 = qnn.quantize half_even %x : tensor<2x3xf32> -> !x
  %1 = qnn.reinterpret %0 : !x -> tensor<2x3xi8>
  %2 = nn.pad constant %1 {pads = array<i64: 0, 0, 0, 1>, value = 5.0 : f64} : (tensor<2x3xi8>) -> tensor<2x4xi8>
  %3 = qnn.reinterpret %2 : tensor<2x4xi8> -> tensor<2x4x!quant.uniform<i8:f32, 2.0e-02:5>>
  %4 = qnn.reinterpret %w : tensor<4x4xi8> -> tensor<4x4x!quant.uniform<i8:f32, 1.0e-02>>
  %5 = qnn.matmul %3, %4 : (tensor<2x4x!quant.uniform<i8:f32, 2.0e-02:5>>, tensor<4x4x!quant.uniform<i8:f32, 1.0e-02>>) -> !s
  %6 = qnn.reinterpret %5 : !s -> tensor<2x4xi32>
  %7 = qnn.dequantize %0 : !x -> tensor<2x3xf32>
  return %6, %7 : tensor<2x4xi32>, tensor<2x3xf32>
}

// -----

// The range that an activation leaves moves with the numbers.
// CHECK-LABEL: func @range
// CHECK: qnn.requantize double_rounding %{{.*}} -> tensor<2x3x!quant.uniform<u8<73:255>:f32, 1.000000e-02:73>>
func.func @range(%a: tensor<2x3xui8>) -> tensor<2x4xi32> {
  %w = nn.constant dense<1> : tensor<3x3xi8>
  %v = nn.constant dense<1> : tensor<3x4xi8>
  %0 = qnn.reinterpret %a : tensor<2x3xui8> -> tensor<2x3x!quant.uniform<u8:f32, 1.0:7>>
  %1 = qnn.reinterpret %w : tensor<3x3xi8> -> tensor<3x3x!quant.uniform<i8:f32, 1.0>>
  %2 = qnn.matmul %0, %1 : (tensor<2x3x!quant.uniform<u8:f32, 1.0:7>>, tensor<3x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x!quant.uniform<i32:f32, 1.0>>
  %3 = qnn.requantize double_rounding %2 : tensor<2x3x!quant.uniform<i32:f32, 1.0>> -> tensor<2x3x!quant.uniform<i8<-55:127>:f32, 0.01:-55>>
  %4 = qnn.reinterpret %v : tensor<3x4xi8> -> tensor<3x4x!quant.uniform<i8:f32, 1.0>>
  %5 = qnn.matmul %3, %4 : (tensor<2x3x!quant.uniform<i8<-55:127>:f32, 0.01:-55>>, tensor<3x4x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x4x!quant.uniform<i32:f32, 0.01>>
  %6 = qnn.reinterpret %5 : tensor<2x4x!quant.uniform<i32:f32, 0.01>> -> tensor<2x4xi32>
  return %6 : tensor<2x4xi32>
}

// A product of two values becomes four terms of bytes where only bytes have dot
// products: sum (a - 100) (b - 90) = sum a b' + 38 sum a - 100 sum b' - 243200
// with b' = b - 128.
// CHECK-LABEL: @terms
// CHECK-DAG: %[[ROW:.*]] = nn.constant dense<1> : tensor<1x64xui8>
// CHECK-DAG: %[[COLUMN:.*]] = nn.constant dense<1> : tensor<64x1xi8>
// CHECK-DAG: %[[ZA:.*]] = nn.constant dense<-100> : tensor<i32>
// CHECK-DAG: %[[ZB:.*]] = nn.constant dense<38> : tensor<i32>
// CHECK-DAG: %[[BOTH:.*]] = nn.constant dense<-243200> : tensor<i32>
// CHECK: %[[B:.*]] = nn.cast %{{.*}} to tensor<2x64x48xi8>
// CHECK: %[[Y:.*]] = nn.matmul %arg0, %[[B]] {accumulator = i32{{.*}} : (tensor<2x8x64xui8>, tensor<2x64x48xi8>) -> tensor<2x8x48xi32>
// CHECK: %[[SUMS:.*]] = nn.matmul %arg0, %[[COLUMN]]
// CHECK: %[[SCALED:.*]] = nn.mul %[[SUMS]], %[[ZB]]
// CHECK: %[[SHIFT:.*]] = nn.add %[[SCALED]], %[[BOTH]]
// CHECK: %[[Z:.*]] = nn.add %[[Y]], %[[SHIFT]] : tensor<2x8x48xi32>, tensor<2x8x1xi32>
// CHECK: %[[OTHER:.*]] = nn.matmul %[[ROW]], %[[B]]
// CHECK: %[[LAST:.*]] = nn.mul %[[OTHER]], %[[ZA]]
// CHECK: nn.add %[[Z]], %[[LAST]] : tensor<2x8x48xi32>, tensor<2x1x48xi32>
// ANY-LABEL: @terms
// ANY: qnn.matmul
// Arm's dot products multiply signed bytes.
// DOT-LABEL: @terms
// DOT: nn.matmul %{{.*}} : (tensor<2x8x64xi8>, tensor<2x64x48xi8>) -> tensor<2x8x48xi32>
func.func @terms(%x: tensor<2x8x64xui8>, %y: tensor<2x64x48xui8>) -> tensor<2x8x48xi32> {
  %0 = qnn.reinterpret %x : tensor<2x8x64xui8> -> tensor<2x8x64x!quant.uniform<u8:f32, 2.0e-02:100>>
  %1 = qnn.reinterpret %y : tensor<2x64x48xui8> -> tensor<2x64x48x!quant.uniform<u8:f32, 1.0e-02:90>>
  %2 = qnn.matmul %0, %1 : (tensor<2x8x64x!quant.uniform<u8:f32, 2.0e-02:100>>, tensor<2x64x48x!quant.uniform<u8:f32, 1.0e-02:90>>) -> tensor<2x8x48x!quant.uniform<i32:f32, 2.0e-04>>
  %3 = qnn.reinterpret %2 : tensor<2x8x48x!quant.uniform<i32:f32, 2.0e-04>> -> tensor<2x8x48xi32>
  return %3 : tensor<2x8x48xi32>
}

// A product with few columns costs less than the sums of its rows.
// CHECK-LABEL: @few_columns
// CHECK: qnn.matmul
// ANY-LABEL: @few_columns
// DOT-LABEL: @few_columns
func.func @few_columns(%x: tensor<2x8x64xui8>, %y: tensor<2x64x16xui8>) -> tensor<2x8x16xi32> {
  %0 = qnn.reinterpret %x : tensor<2x8x64xui8> -> tensor<2x8x64x!quant.uniform<u8:f32, 2.0e-02:100>>
  %1 = qnn.reinterpret %y : tensor<2x64x16xui8> -> tensor<2x64x16x!quant.uniform<u8:f32, 1.0e-02:90>>
  %2 = qnn.matmul %0, %1 : (tensor<2x8x64x!quant.uniform<u8:f32, 2.0e-02:100>>, tensor<2x64x16x!quant.uniform<u8:f32, 1.0e-02:90>>) -> tensor<2x8x16x!quant.uniform<i32:f32, 2.0e-04>>
  %3 = qnn.reinterpret %2 : tensor<2x8x16x!quant.uniform<i32:f32, 2.0e-04>> -> tensor<2x8x16xi32>
  return %3 : tensor<2x8x16xi32>
}
