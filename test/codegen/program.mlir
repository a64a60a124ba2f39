// RUN: rm -rf %t && nnc-opt --nnc-encode-weights --mlir-print-debuginfo %s -o %t.mlir
// RUN: nnc-codegen %t.mlir -o %t --with-threads=2
// RUN: FileCheck %s --check-prefix=CPP < %t/tiny.cpp
// RUN: FileCheck %s --check-prefix=H < %t/tiny.h
// RUN: FileCheck %s --check-prefix=JSON < %t/manifest.json
// RUN: FileCheck %s --check-prefix=RUNTIME < %t/tiny_runtime.h
// The module builds without a warning, and computes 1 * 4 channels + 0.5.
// RUN: g++ -std=c++17 -O1 -Wall -Wextra -Werror -fno-exceptions -fno-rtti -c %t/tiny.cpp -o %t/gcc.o
// RUN: clang++-19 -std=c++17 -O1 -Wall -Wextra -Werror -fno-exceptions -fno-rtti -c %t/tiny.cpp -o %t/clang.o
// RUN: clang-19 -I%t -c %t/tiny_weights.S -o %t/weights.o
// RUN: clang-19 -I%t -Wall -Wextra -Werror %S/main.c %t/clang.o %t/weights.o -o %t/main
// RUN: %t/main | FileCheck %s --check-prefix=RESULT
// As a C array, and from a file, the program is the same.
// RUN: rm -rf %t.array && nnc-codegen %t.mlir -o %t.array --weights=array --with-threads=2
// RUN: diff %t/tiny.cpp %t.array/tiny.cpp
// RUN: clang-19 -I%t.array -Wall -Wextra -Werror %S/main.c %t/clang.o %t.array/tiny_weights.c -o %t/main
// RUN: %t/main | FileCheck %s --check-prefix=RESULT
// A folder that somebody else wrote stays.
// RUN: mkdir -p %t.foreign && touch %t.foreign/thesis.tex
// RUN: not nnc-codegen %t.mlir -o %t.foreign 2>&1 | FileCheck %s --check-prefix=FOREIGN
// Weights must be bytes by then.
// RUN: not nnc-codegen %s -o %t.elements 2>&1 | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS: error: 'exec.weight' op is not encoded; nnc-encode-weights has to run before the code is written

// CPP: // 3 layers, 1024 multiply-adds.
// CPP: // Tensors are row-major: the last axis is innermost.
// CPP-NOT: NCHW
// CPP: // Layer 0, conv1: 1 x 1 convolution; [1][4][4][4] and [8][4][1][1] ->
// CPP-NEXT: //   [1][8][4][4], 512 multiply-adds, 50.0 % of the model's.
// CPP: struct conv1_shape {
// CPP-NEXT: static constexpr int n = 1, c = 4
// CPP: template <class V> V operator()(V v, V bias) const {
// CPP-NEXT: return nnc::clip(nnc::add(v, bias), V(-1.5f), V(6.0f));
// CPP: nnc::launch<routine>(pool, conv1_shape{}, x, w, y, epilogue{bias});
// CPP: namespace place {
// CPP: Where values lie in the arena
// CPP: // [1][8][4][4], layers 0 to 2
// CPP-NEXT: conv1_out = 0,
// CPP: Where weights lie
// CPP: // [8][4][1][1]
// CPP-NEXT: conv1_w = 64,
// CPP-NEXT: // [8], bias.0 in the model
// CPP-NEXT: conv1_b = 192,
// CPP: conv1_w = at<float>(weights, place::conv1_w);
// CPP: conv1(pool, x, conv1_w, conv1_b, conv1_out);
// CPP: Has the code of
// CPP-NEXT: conv1. Too short to share: one thread computes it.
// CPP: conv1(nnc::pool{}, x, conv1_w, conv1_b, conv1_out);
// CPP: ::memcpy(prob, flat, 512);
// CPP: tiny_run_parallel

// H: * Needs a CPU with avx2, fma.
// H-NEXT: */
// H: #define TINY_ARENA_BYTES ((size_t)512)
// H: const float *x; /* x.0: [1][4][4][4] */
// H: float *prob; /* [1][128] */

// JSON: "isa": ["avx2","fma"]
// JSON: "arena_bytes": 512
// JSON: {{.*}}"multiply_adds":512,"name":"conv1"

// What the calls use, no more: no other instruction sets, no exponentials.
// RUNTIME-NOT: #include "runtime/
// RUNTIME-NOT: // runtime/simd/{{fold_x86|vec_avx2|vec_avx512|vec_neon|vec_sse4|math}}.h
// RUNTIME: // runtime/simd/arithmetic.h
// RUNTIME-NOT: // runtime/simd/{{fold_x86|vec_avx2|vec_avx512|vec_neon|vec_sse4|math}}.h
// RUNTIME: using conv2d_f32_portable

// RESULT: 4.5 4.5 bad=4 weights=0

// FOREIGN: exists and nnc did not write it

exec.program @tiny arena 512 lower_bound 512 align 64 weights 192
    attributes {model = "tiny.onnx", features = ["avx2", "fma"], headers = ["runtime/simd/arithmetic.h"]} {
  %x = exec.input "x" of "x.0" : tensor<1x4x4x4xf32>
  %prob = exec.output "prob" : tensor<1x128xf32>
  %w = exec.weight "conv1_w" at 0 = dense<1.0> : tensor<8x4x1x1xf32> : tensor<8x4x1x1xf32>
  %b = exec.weight "conv1_b" at 128 = dense<0.5> : tensor<8xf32> : tensor<8xf32> loc("bias.0")
  %y = exec.buffer "conv1_out" at 0 : tensor<1x8x4x4xf32>
  exec.call "conv1" conv2d_f32_portable of "runtime/routines/convolution/conv2d/portable.h"
      inputs(%x, %w) extras(channel %b) outputs(%y)
      shape <n = 1, c = 4, h = 4, w = 4, k = 8, kh = 1, kw = 1, sh = 1, sw = 1,
             dh = 1, dw = 1, pt = 0, pl = 0, oh = 4, ow = 4, groups = 1, fill = 0>
      attributes {form = #exec.form<floats>, what = "1 x 1 convolution", multiply_adds = 512 : i64, work = 1280 : i64} {
  ^bb0(%v: f32, %bias: f32):
    %0 = nn.add %v, %bias : f32, f32
    %1 = nn.clip %0 {min = -1.5 : f64, max = 6.0 : f64} : f32
    exec.yield %1 : f32
  }
  exec.call "conv1_again" conv2d_f32_portable of "runtime/routines/convolution/conv2d/portable.h"
      inputs(%x, %w) extras(channel %b) outputs(%y)
      shape <n = 1, c = 4, h = 4, w = 4, k = 8, kh = 1, kw = 1, sh = 1, sw = 1,
             dh = 1, dw = 1, pt = 0, pl = 0, oh = 4, ow = 4, groups = 1, fill = 0>
      like "conv1" serial
      attributes {form = #exec.form<floats>, what = "1 x 1 convolution", multiply_adds = 512 : i64, work = 1280 : i64} {
  ^bb0(%v: f32, %bias: f32):
    %0 = nn.add %v, %bias : f32, f32
    %1 = nn.clip %0 {min = -1.5 : f64, max = 6.0 : f64} : f32
    exec.yield %1 : f32
  }
  %flat = exec.view "flat" of %y at 0 : tensor<1x128xf32>
  exec.copy "copy_prob" %flat to %prob
}
