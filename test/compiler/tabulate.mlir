// RUN: nnc-opt --nnc-tabulate=target=portable --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-tabulate=target=x86-64-v3 --split-input-file %s | FileCheck %s --check-prefix=VECTOR
// RUN: nnc-opt --nnc-tabulate=target=aarch64 --split-input-file %s | FileCheck %s --check-prefix=LANES
// RUN: nnc-opt --nnc-tabulate=target=x86-64-v2 --split-input-file %s | FileCheck %s --check-prefix=LANES
// RUN: nnc-opt --nnc-tabulate=target=x86-64-v4-vnni --split-input-file %s | FileCheck %s --check-prefix=LANES
// RUN: nnc-opt --nnc-tabulate=target=portable --nnc-form-layers --split-input-file %s | FileCheck %s --check-prefix=LAYER

// The square of the number that an integer stands for. Negative ones have the
// upper half of the table.
// CHECK-LABEL: @square
// CHECK-NEXT: %[[Y:.*]] = nn.lookup %arg0 {table = dense<"0x000001020406{{.*}}0604020100"> : tensor<256xui8>} : tensor<300xi8> to tensor<300xui8>
// CHECK-NEXT: return %[[Y]]
// VECTOR-LABEL: @square
// VECTOR-NOT: nn.lookup
// LAYER-LABEL: @square
// LAYER: nn.layer "{{.*}}" extras(%arg0 : tensor<300xi8>) -> tensor<300xui8>
// LAYER: nn.lookup %{{.*}} {{.*}} : i8 to ui8
func.func @square(%x: tensor<300xi8>) -> tensor<300xui8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x : tensor<300xi8> to tensor<300xf32>
  %1 = nn.mul %0, %s : tensor<300xf32>, tensor<f32>
  %2 = nn.mul %1, %1 : tensor<300xf32>, tensor<300xf32>
  %3 = nn.round %2 : tensor<300xf32>
  %4 = nn.cast %3 : tensor<300xf32> to tensor<300xui8>
  return %4 : tensor<300xui8>
}

// -----

// A table that only another table reads is a part of it, and so is one that
// is added to its own source: times 2 * 3, and times 2 + 1.
// CHECK-LABEL: @chain
// CHECK-NEXT: %[[Y:.*]] = nn.lookup %arg0 {table = dense<"0x00060C12
// CHECK-NEXT: return %[[Y]]
// CHECK-LABEL: @gate
// CHECK-NEXT: %[[Y:.*]] = nn.lookup %arg0 {table = dense<"0x00030609
// CHECK-NEXT: return %[[Y]]
func.func @chain(%x: tensor<300xui8>) -> tensor<300xui8> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.cast %x : tensor<300xui8> to tensor<300xf32>
  %1 = nn.mul %0, %two : tensor<300xf32>, tensor<f32>
  %2 = nn.round %1 : tensor<300xf32>
  %3 = nn.cast %2 : tensor<300xf32> to tensor<300xui8>
  %4 = nn.cast %3 : tensor<300xui8> to tensor<300xf32>
  %5 = nn.mul %4, %three : tensor<300xf32>, tensor<f32>
  %6 = nn.round %5 : tensor<300xf32>
  %7 = nn.cast %6 : tensor<300xf32> to tensor<300xui8>
  return %7 : tensor<300xui8>
}
func.func @gate(%x: tensor<300xui8>) -> tensor<300xui8> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.cast %x : tensor<300xui8> to tensor<300xf32>
  %1 = nn.mul %0, %two : tensor<300xf32>, tensor<f32>
  %2 = nn.round %1 : tensor<300xf32>
  %3 = nn.cast %2 : tensor<300xf32> to tensor<300xui8>
  %4 = nn.cast %3 : tensor<300xui8> to tensor<300xf32>
  %5 = nn.add %4, %0 : tensor<300xf32>, tensor<300xf32>
  %6 = nn.round %5 : tensor<300xf32>
  %7 = nn.cast %6 : tensor<300xf32> to tensor<300xui8>
  return %7 : tensor<300xui8>
}

// -----

// Two sources have no table, nor have constants of channels, nor few elements
// of a cheap function; an exponential is worth one.
// CHECK-LABEL: @two
// CHECK-NOT: nn.lookup
// CHECK-LABEL: @channels
// CHECK-NOT: nn.lookup
// CHECK-LABEL: @few
// CHECK-NOT: nn.lookup
// CHECK-LABEL: @exponential
// CHECK: nn.lookup
func.func @two(%x: tensor<300xui8>, %y: tensor<300xui8>) -> tensor<300xui8> {
  %0 = nn.cast %x : tensor<300xui8> to tensor<300xf32>
  %1 = nn.cast %y : tensor<300xui8> to tensor<300xf32>
  %2 = nn.mul %0, %1 : tensor<300xf32>, tensor<300xf32>
  %3 = nn.round %2 : tensor<300xf32>
  %4 = nn.cast %3 : tensor<300xf32> to tensor<300xui8>
  return %4 : tensor<300xui8>
}
func.func @channels(%x: tensor<200x2xui8>) -> tensor<200x2xui8> {
  %s = nn.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %0 = nn.cast %x : tensor<200x2xui8> to tensor<200x2xf32>
  %1 = nn.mul %0, %s : tensor<200x2xf32>, tensor<2xf32>
  %2 = nn.round %1 : tensor<200x2xf32>
  %3 = nn.relu %2 : tensor<200x2xf32>
  %4 = nn.cast %3 : tensor<200x2xf32> to tensor<200x2xui8>
  return %4 : tensor<200x2xui8>
}
func.func @few(%x: tensor<20xui8>) -> tensor<20xui8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x : tensor<20xui8> to tensor<20xf32>
  %1 = nn.mul %0, %s : tensor<20xf32>, tensor<f32>
  %2 = nn.round %1 : tensor<20xf32>
  %3 = nn.relu %2 : tensor<20xf32>
  %4 = nn.cast %3 : tensor<20xf32> to tensor<20xui8>
  return %4 : tensor<20xui8>
}
func.func @exponential(%x: tensor<20xui8>) -> tensor<20xui8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x : tensor<20xui8> to tensor<20xf32>
  %1 = nn.mul %0, %s : tensor<20xf32>, tensor<f32>
  %2 = nn.exp %1 : tensor<20xf32>
  %3 = nn.round %2 : tensor<20xf32>
  %4 = nn.cast %3 : tensor<20xf32> to tensor<20xui8>
  return %4 : tensor<20xui8>
}

// -----

// Two divisions take longer than a look-up, also where integers of 8 bits lie
// in between, of which several ops read the same. One is faster than a look-up.
// VECTOR-LABEL: @divisions(
// VECTOR-NEXT: %[[Y:.*]] = nn.lookup %arg0
// VECTOR-NEXT: return %[[Y]]
// VECTOR-LABEL: @division(
// VECTOR-NOT: nn.lookup
// VECTOR: return
func.func @divisions(%x: tensor<300xui8>) -> tensor<300xui8> {
  %s = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.cast %x : tensor<300xui8> to tensor<300xf32>
  %1 = nn.mul %0, %0 : tensor<300xf32>, tensor<300xf32>
  %2 = nn.div %1, %s : tensor<300xf32>, tensor<f32>
  %3 = nn.round %2 : tensor<300xf32>
  %4 = nn.cast %3 : tensor<300xf32> to tensor<300xui8>
  %5 = nn.cast %4 : tensor<300xui8> to tensor<300xf32>
  %6 = nn.mul %5, %0 : tensor<300xf32>, tensor<300xf32>
  %7 = nn.div %6, %s : tensor<300xf32>, tensor<f32>
  %8 = nn.round %7 : tensor<300xf32>
  %9 = nn.cast %8 : tensor<300xf32> to tensor<300xui8>
  return %9 : tensor<300xui8>
}
func.func @division(%x: tensor<300xui8>) -> tensor<300xui8> {
  %s = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.cast %x : tensor<300xui8> to tensor<300xf32>
  %1 = nn.mul %0, %0 : tensor<300xf32>, tensor<300xf32>
  %2 = nn.div %1, %s : tensor<300xf32>, tensor<f32>
  %3 = nn.round %2 : tensor<300xf32>
  %4 = nn.cast %3 : tensor<300xf32> to tensor<300xui8>
  return %4 : tensor<300xui8>
}

// -----

// SiLU with its sigmoid quantized, as quantizers write it, is worth a table also
// where the lanes of a vector are looked up one by one: a single one, in place of
// that of the sigmoid. Scaling is not.
// VECTOR-LABEL: @silu
// VECTOR: nn.lookup %arg0
// VECTOR-NEXT: return
// LANES-LABEL: @silu
// LANES: nn.lookup %arg0
// LANES-NEXT: return
// LANES-LABEL: @scaling
// LANES-NOT: nn.lookup
// LANES: return
func.func @silu(%x: tensor<300xui8>) -> tensor<300xui8> {
  %s = nn.constant dense<0.05> : tensor<f32>
  %u = nn.constant dense<255.0> : tensor<f32>
  %0 = nn.cast %x : tensor<300xui8> to tensor<300xf32>
  %1 = nn.mul %0, %s : tensor<300xf32>, tensor<f32>
  %2 = nn.sigmoid %1 : tensor<300xf32>
  %3 = nn.mul %2, %u : tensor<300xf32>, tensor<f32>
  %4 = nn.round %3 : tensor<300xf32>
  %5 = nn.cast %4 : tensor<300xf32> to tensor<300xui8>
  %6 = nn.cast %5 : tensor<300xui8> to tensor<300xf32>
  %7 = nn.mul %6, %1 : tensor<300xf32>, tensor<300xf32>
  %8 = nn.round %7 : tensor<300xf32>
  %9 = nn.cast %8 : tensor<300xf32> to tensor<300xui8>
  return %9 : tensor<300xui8>
}
func.func @scaling(%x: tensor<300xui8>) -> tensor<300xui8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x : tensor<300xui8> to tensor<300xf32>
  %1 = nn.mul %0, %s : tensor<300xf32>, tensor<f32>
  %2 = nn.round %1 : tensor<300xf32>
  %3 = nn.relu %2 : tensor<300xf32>
  %4 = nn.cast %3 : tensor<300xf32> to tensor<300xui8>
  return %4 : tensor<300xui8>
}
