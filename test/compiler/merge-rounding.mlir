// RUN: nnc-opt %s --nnc-merge-rounding | FileCheck %s

module attributes {nn.target = #target.machine<
    name = "x86-64-v3", triple = "x86_64-linux-gnu", chip = "",
    devices = [#target.device<name = "host", isas = ["avx2", "sse4", "portable"],
        features = ["avx2", "fma"], spaces = [#target.space<name = "ram", align = 64>],
        compiler = "c++", flags = "-march=x86-64-v3",
        cost = #target.core<vector_bytes = 32, vector_registers = 16,
            caches = [32768, 524288, 16777216], bandwidth = [64, 32, 16], memory_mb_s = 20000,
            multiply_adds = 16, mhz = 3200>>],
    emulator = "">} {

// A division by a constant scale becomes a product with the parts of its reciprocal, and the
// limits of an activation become those of the requantization.

// CHECK-LABEL: func.func @quotient
// CHECK-DAG: %[[F:.*]] = arith.constant 13.698{{.*}} : f32
// CHECK-DAG: %[[R:.*]] = arith.constant 5.368{{.*}}E-9 : f32
// CHECK: %[[Y:.*]] = nn.requantize parts %{{.*}}, %[[F]], %[[R]] {element = ui8, high = 200 : i64, low = 3 : i64, zero_point = 7 : i64} : f32, f32, f32
// CHECK-NEXT: nn.yield %[[Y]]
func.func @quotient(%x: tensor<4xf32>) -> tensor<4xui8> {
  %y = nn.layer "q" extras(%x : tensor<4xf32>) -> tensor<4xui8> epilogue {
  ^bb0(%a: f32):
    %s = arith.constant 0.073 : f32
    %z = arith.constant 7.0 : f32
    %0 = nn.div %a, %s : f32, f32
    %1 = nn.round %0 : f32
    %2 = nn.add %1, %z : f32, f32
    %3 = nn.clip %2 {min = 3.0 : f64, max = 200.0 : f64} : f32
    %4 = nn.cast %3 : f32 to ui8
    nn.yield %4 : ui8
  }
  return %y : tensor<4xui8>
}

// The pass keeps the division for 16 bits, which have more results than it compares.

// CHECK-LABEL: func.func @words
// CHECK: nn.div
// CHECK-NOT: parts
func.func @words(%x: tensor<4xf32>) -> tensor<4xi16> {
  %y = nn.layer "q" extras(%x : tensor<4xf32>) -> tensor<4xi16> epilogue {
  ^bb0(%a: f32):
    %s = arith.constant 0.073 : f32
    %0 = nn.div %a, %s : f32, f32
    %1 = nn.round %0 : f32
    %2 = nn.cast %1 : f32 to i16
    nn.yield %2 : i16
  }
  return %y : tensor<4xi16>
}

// The reciprocal of this scale is not a finite number.

// CHECK-LABEL: func.func @tiny
// CHECK: nn.div
// CHECK-NOT: parts
func.func @tiny(%x: tensor<4xf32>) -> tensor<4xi8> {
  %y = nn.layer "q" extras(%x : tensor<4xf32>) -> tensor<4xi8> epilogue {
  ^bb0(%a: f32):
    %s = arith.constant 1.0e-40 : f32
    %0 = nn.div %a, %s : f32, f32
    %1 = nn.round %0 : f32
    %2 = nn.cast %1 : f32 to i8
    nn.yield %2 : i8
  }
  return %y : tensor<4xi8>
}

// An integer that is only read as a float is not made, and its zero point is not added.

// CHECK-LABEL: func.func @residual
// CHECK: %[[A:.*]] = nn.requantize real %{{.*}}, %{{.*}} {element = f32, high = 119 : i64, low = -136 : i64} : i32, f32
// CHECK-NEXT: %[[B:.*]] = nn.mul %[[A]],
func.func @residual(%x: tensor<4xi32>, %f: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.layer "r" extras(%x, %f : tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32> epilogue {
  ^bb0(%a: i32, %b: f32):
    %s = arith.constant 0.5 : f32
    %z = arith.constant 136.0 : f32
    %0 = nn.requantize real %a, %b {element = ui8, low = 0 : i64, high = 255 : i64, zero_point = 136 : i64} : i32, f32
    %1 = nn.cast %0 : ui8 to f32
    %2 = nn.sub %1, %z : f32, f32
    %3 = nn.mul %2, %s : f32, f32
    nn.yield %3 : f32
  }
  return %y : tensor<4xf32>
}

// An integer with another reader stays.

// CHECK-LABEL: func.func @shared
// CHECK: nn.requantize real {{.*}}element = ui8
// CHECK: nn.cast
func.func @shared(%x: tensor<4xi32>, %f: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.layer "r" extras(%x, %f : tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32> epilogue {
  ^bb0(%a: i32, %b: f32):
    %0 = nn.requantize real %a, %b {element = ui8, low = 0 : i64, high = 255 : i64} : i32, f32
    %1 = nn.cast %0 : ui8 to f32
    %2 = nn.cast %0 : ui8 to f32
    %3 = nn.mul %1, %2 : f32, f32
    nn.yield %3 : f32
  }
  return %y : tensor<4xf32>
}
}
