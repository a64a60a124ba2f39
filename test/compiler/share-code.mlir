// RUN: nnc-opt %s --nnc-share-code=optimize=size | FileCheck %s
// RUN: nnc-opt %s --nnc-share-code=optimize=speed | FileCheck %s --check-prefix=SPEED
// RUN: sed 's/board = "b"/board = ""/' %s | nnc-opt - --nnc-share-code=optimize=size | FileCheck %s --check-prefix=SPEED

// The two convolutions differ in k, h and oh, and "n" is always an argument. The
// third is like the second; the fourth has another parameter; the lists of the
// pads have no run-time form of the same size; the last two convolutions differ
// in a size beyond 16 bits.

// CHECK: exec.call "one"
// CHECK-SAME: sized ["n", "h", "k", "oh"]
// CHECK: exec.call "two"
// CHECK-SAME: like "one" sized ["n", "h", "k", "oh"]
// CHECK: exec.call "three"
// CHECK-SAME: like "one" sized ["n", "h", "k", "oh"]
// CHECK: exec.call "four"
// CHECK-NOT: sized
// CHECK: exec.call "pad_1"
// CHECK: exec.call "wide_2"

// SPEED: exec.call "one"
// SPEED-NOT: sized
module attributes {nn.target = #target.machine<
    name = "t", triple = "arm-none-eabi", chip = "",
    devices = [#target.device<name = "host", isas = ["fpu", "portable"],
        features = [], spaces = [#target.space<name = "ram", align = 8>],
        compiler = "c", flags = "",
        cost = #target.core<vector_bytes = 4, vector_registers = 13,
            caches = [], bandwidth = [], memory_mb_s = 672,
            multiply_adds = 1, mhz = 168>>],
    emulator = "e", board = "b">} {
exec.program @shared arena 4096 lower_bound 4096 align 8 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  %w = exec.buffer "w" at 64 : tensor<16xf32>
  exec.call "one" conv2d_f32_nhwc_fpu <INLINE = 0> of "runtime/routines/convolution/conv2d/fpu.h" inputs(%a, %w) outputs(%a) shape <n = 1, c = 1, h = 4, k = 1, oh = 4>
  exec.call "two" conv2d_f32_nhwc_fpu <INLINE = 0> of "runtime/routines/convolution/conv2d/fpu.h" inputs(%a, %w) outputs(%a) shape <n = 1, c = 1, h = 2, k = 2, oh = 2>
  exec.call "three" conv2d_f32_nhwc_fpu <INLINE = 0> of "runtime/routines/convolution/conv2d/fpu.h" inputs(%a, %w) outputs(%a) shape <n = 1, c = 1, h = 2, k = 2, oh = 2> like "two"
  exec.call "four" conv2d_f32_nhwc_fpu <INLINE = 1> of "runtime/routines/convolution/conv2d/fpu.h" inputs(%a, %w) outputs(%a) shape <n = 1, c = 1, h = 2, k = 2, oh = 2>
  exec.call "pad_1" pad_portable of "runtime/routines/moves/pad/portable.h" inputs(%a) outputs(%w) shape <rank = 1, dims = [4]>
  exec.call "pad_2" pad_portable of "runtime/routines/moves/pad/portable.h" inputs(%a) outputs(%w) shape <rank = 1, dims = [5]>
  exec.call "wide_1" softmax_portable of "runtime/routines/normalization/softmax/portable.h" inputs(%a) outputs(%w) shape <outer = 1, size = 40000>
  exec.call "wide_2" softmax_portable of "runtime/routines/normalization/softmax/portable.h" inputs(%a) outputs(%w) shape <outer = 1, size = 4>
}
}
