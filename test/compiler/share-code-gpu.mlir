// RUN: nnc-opt %s --nnc-share-code | FileCheck %s

// Kernels on blocks share code whatever --optimize says, but for different
// windows; portable routines do not. Sizes may have 32 bits.

// CHECK: exec.call "one"
// CHECK-SAME: sized ["n", "c", "h"]
// CHECK: exec.call "two"
// CHECK-SAME: like "one" sized ["n", "c", "h"]
// CHECK: exec.call "strided"
// CHECK-NOT: sized
// CHECK: exec.call "unit_1"
// CHECK-NOT: sized
// CHECK: exec.call "unit_2"
#ram = #target.space<name = "ram", align = 256>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [41943040],
    bandwidth = [5120], memory_mb_s = 1555000, multiply_adds = 6912, mhz = 1410>
#gpu = #target.gpu<architectures = ["sm_80"], multiprocessors = 108, tensor_f16 = 1024,
    tensor_i8 = 2048, launch_ns = 1000, shared_kb = 164, resident_threads = 2048, core = #core>
#host = #target.device<name = "host", isas = ["sm80", "sm75", "portable"], features = [],
    spaces = [#ram], compiler = "nvcc", flags = "", cost = #gpu>
module attributes {nn.target = #target.machine<name = "cuda-sm80", triple = "", chip = "",
    devices = [#host], emulator = "">} {
exec.program @shared arena 4096 lower_bound 4096 align 256 weights 0
    attributes {architectures = ["sm_80"]} {
  %a = exec.buffer "a" at 0 : tensor<16xf16>
  %w = exec.buffer "w" at 256 : tensor<16xf16>
  exec.call "one" conv2d_f16_nhwc_whole_sm80 of "runtime/routines/convolution/conv2d/tensor_cores.cuh" inputs(%a, %w) outputs(%a) shape <n = 1, c = 8, h = 4, kh = 3, sh = 1>
  exec.call "two" conv2d_f16_nhwc_whole_sm80 of "runtime/routines/convolution/conv2d/tensor_cores.cuh" inputs(%a, %w) outputs(%a) shape <n = 1, c = 40000, h = 2, kh = 3, sh = 1>
  exec.call "strided" conv2d_f16_nhwc_whole_sm80 of "runtime/routines/convolution/conv2d/tensor_cores.cuh" inputs(%a, %w) outputs(%a) shape <n = 1, c = 8, h = 4, kh = 3, sh = 2>
  exec.call "unit_1" conv2d_f16_units_sm75 of "runtime/routines/convolution/conv2d/portable.h" inputs(%a, %w) outputs(%a) shape <n = 1, c = 8, h = 4, kh = 3, sh = 2>
  exec.call "unit_2" conv2d_f16_units_sm75 of "runtime/routines/convolution/conv2d/portable.h" inputs(%a, %w) outputs(%a) shape <n = 1, c = 16, h = 4, kh = 3, sh = 2>
}
}
