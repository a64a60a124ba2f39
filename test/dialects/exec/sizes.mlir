// RUN: nnc-opt %s | nnc-opt | FileCheck %s
// RUN: nnc-opt %s -mlir-print-op-generic | nnc-opt | FileCheck %s

// CHECK-DAG: [[DIMS:#map[0-9]*]] = affine_map<()[s0, s1] -> (s0, s1 floordiv 4)>
// CHECK-DAG: [[COUNT:#map[0-9]*]] = affine_map<()[s0, s1] -> ((s0 * s1) floordiv 4)>
// CHECK: exec.program @sized
// CHECK-SAME: sizes = [#exec.size<name = "batch", low = 1, high = 8, step = 1>, #exec.size<name = "width", low = 16, high = 64, step = 16>]
exec.program @sized arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "batch", low = 1, high = 8, step = 1>,
                         #exec.size<name = "width", low = 16, high = 64, step = 16>]} {
  // CHECK: exec.input "x" {{.*}}exec.dims = [[DIMS]]
  %x = exec.input "x" : tensor<8x16xf32>
      {exec.dims = affine_map<()[s0, s1] -> (s0, s1 floordiv 4)>}
  %y = exec.output "y" : tensor<8x16xf32>
      {exec.dims = affine_map<()[s0, s1] -> (s0, s1 floordiv 4)>}
  // CHECK: exec.call "twofold"
  // CHECK-SAME: sized ["dims"] varying {dims = [[COUNT]]}
  exec.call "twofold" elementwise_portable of "runtime/routines/elementwise/elementwise.h"
      inputs(%x) outputs(%y)
      shape <rank = 1, dims = [128], strides = [[1]], planes = 1, pixels = 1>
      pointwise sized ["dims"] varying {dims = affine_map<()[s0, s1] -> (s0 * s1 floordiv 4)>} {
  ^bb0(%a: f32):
    %0 = nn.add %a, %a : f32, f32
    exec.yield %0 : f32
  }
}
