// RUN: nnc-opt %s --nnc-propagate-layout --nnc-check-routines | FileCheck %s

module attributes {nn.target = #target.machine<
    name = "x86-64-v4", triple = "x86_64-linux-gnu", chip = "",
    devices = [#target.device<name = "host", isas = ["avx512", "avx2", "sse4", "portable"],
        features = ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"], spaces = [#target.space<name = "ram", align = 64>],
        compiler = "c++", flags = "-march=x86-64-v4",
        cost = #target.core<vector_bytes = 64, vector_registers = 32,
            caches = [32768, 1048576, 33554432], bandwidth = [128, 48, 16], memory_mb_s = 20000,
            multiply_adds = 32, mhz = 2600>>],
    emulator = "">} {

// There and back again is nothing.

// CHECK-LABEL: func.func @cancel
// CHECK-NEXT: return %arg0
func.func @cancel(%x: tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>) -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> {
  %0 = nn.adapt %x {routine = "adapt_portable"} : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x32x8x8xf32>
  %1 = nn.adapt %0 {routine = "adapt_portable"} : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
  return %1 : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
}

// Equal adapts are one; a chain is one step, whose routine is chosen anew.

// CHECK-LABEL: func.func @merge
// CHECK-NEXT: %[[A:.*]] = nn.adapt %arg0 {routine = "adapt_{{.*}}"} : tensor<1x32x8x8xf32, #nn.layout<NCHW8c>> -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
// CHECK-NEXT: return %[[A]], %[[A]]
func.func @merge(%x: tensor<1x32x8x8xf32, #nn.layout<NCHW8c>>) -> (tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>, tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>) {
  %0 = nn.adapt %x {routine = "adapt_portable"} : tensor<1x32x8x8xf32, #nn.layout<NCHW8c>> -> tensor<1x32x8x8xf32>
  %1 = nn.adapt %0 {routine = "adapt_portable"} : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
  %2 = nn.adapt %x {routine = "adapt_portable"} : tensor<1x32x8x8xf32, #nn.layout<NCHW8c>> -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
  return %1, %2 : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>, tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
}

// A constant is packed into its layout when the weights are written.

// CHECK-LABEL: func.func @constant
// CHECK-NEXT: nn.constant dense<1.0{{.*}}> : tensor<32x32x1x1xf32> -> tensor<32x32x1x1xf32, #nn.layout<KCRS16c16k>>
// CHECK-NEXT: return
func.func @constant() -> tensor<32x32x1x1xf32, #nn.layout<KCRS16c16k>> {
  %w = nn.constant dense<1.0> : tensor<32x32x1x1xf32>
  %0 = nn.adapt %w : tensor<32x32x1x1xf32> -> tensor<32x32x1x1xf32, #nn.layout<KCRS16c16k>>
  return %0 : tensor<32x32x1x1xf32, #nn.layout<KCRS16c16k>>
}

// An elementwise layer between two adapts runs where they come from.

// CHECK-LABEL: func.func @through
// CHECK-NEXT: %[[Y:.*]] = nn.layer "relu" extras(%arg0 : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>) -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
// CHECK-NOT: nn.adapt
// CHECK: return %[[Y]]
func.func @through(%x: tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>) -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> {
  %0 = nn.adapt %x {routine = "adapt_portable"} : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x32x8x8xf32>
  %1 = nn.layer "relu" extras(%0 : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> attributes {routine = "elementwise_avx512"} anchor {
  } epilogue {
  ^bb0(%e: f32):
    %c = nn.relu %e : f32
    nn.yield %c : f32
  }
  %2 = nn.adapt %1 {routine = "adapt_portable"} : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
  return %2 : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
}

// Two adapts before an add become one behind it. What maps zeros to other values
// must not meet the padding of 24 channels: there the adapts stay.

// CHECK-LABEL: func.func @sink
// CHECK-NEXT: %[[Y:.*]] = nn.layer "add" extras(%arg0, %arg1 : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>, tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>) -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
// CHECK: nn.adapt %[[Y]] {routine = "adapt_{{.*}}"}
func.func @sink(%x: tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>, %y: tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>) -> tensor<1x32x8x8xf32> {
  %0 = nn.adapt %x {routine = "adapt_portable"} : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x32x8x8xf32>
  %1 = nn.adapt %y {routine = "adapt_portable"} : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x32x8x8xf32>
  %2 = nn.layer "add" extras(%0, %1 : tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> attributes {routine = "elementwise_avx512"} anchor {
  } epilogue {
  ^bb0(%e: f32, %f: f32):
    %c = nn.add %e, %f : f32, f32
    nn.yield %c : f32
  }
  return %2 : tensor<1x32x8x8xf32>
}

// CHECK-LABEL: func.func @padding
// CHECK: nn.adapt
// CHECK: nn.layer "exp" {{.*}} -> tensor<1x24x8x8xf32> attributes
// CHECK: nn.adapt
func.func @padding(%x: tensor<1x24x8x8xf32, #nn.layout<NCHW16c>>) -> tensor<1x24x8x8xf32, #nn.layout<NCHW16c>> {
  %0 = nn.adapt %x {routine = "adapt_portable"} : tensor<1x24x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x24x8x8xf32>
  %1 = nn.layer "exp" extras(%0 : tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32> attributes {routine = "elementwise_avx512"} anchor {
  } epilogue {
  ^bb0(%e: f32):
    %c = nn.exp %e : f32
    nn.yield %c : f32
  }
  %2 = nn.adapt %1 {routine = "adapt_portable"} : tensor<1x24x8x8xf32> -> tensor<1x24x8x8xf32, #nn.layout<NCHW16c>>
  return %2 : tensor<1x24x8x8xf32, #nn.layout<NCHW16c>>
}

// Concat of whole blocks joins them as they are.

// CHECK-LABEL: func.func @concat
// CHECK-NEXT: nn.layer "cat" {{.*}} -> tensor<1x48x8x8xf32, #nn.layout<NCHW16c>>
// CHECK-NOT: nn.adapt
// CHECK: return
func.func @concat(%x: tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>, %y: tensor<1x16x8x8xf32, #nn.layout<NCHW16c>>) -> tensor<1x48x8x8xf32, #nn.layout<NCHW16c>> {
  %0 = nn.adapt %x {routine = "adapt_portable"} : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x32x8x8xf32>
  %1 = nn.adapt %y {routine = "adapt_portable"} : tensor<1x16x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x16x8x8xf32>
  %2 = nn.layer "cat" inputs(%0, %1 : tensor<1x32x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x48x8x8xf32> attributes {routine = "copy_portable"}
  anchor {
  ^bb0(%a: tensor<1x32x8x8xf32>, %b: tensor<1x16x8x8xf32>):
    %c = nn.concat %a, %b {axis = 1 : i64} : (tensor<1x32x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x48x8x8xf32>
    nn.yield %c : tensor<1x48x8x8xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %3 = nn.adapt %2 {routine = "adapt_portable"} : tensor<1x48x8x8xf32> -> tensor<1x48x8x8xf32, #nn.layout<NCHW16c>>
  return %3 : tensor<1x48x8x8xf32, #nn.layout<NCHW16c>>
}
}
