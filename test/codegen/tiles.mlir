// REQUIRES: x86-64
// A program whose attribute says that routines multiply tiles of AMX. Its routine
// does not; what is tested is what a run does before and after its layers.
// RUN: rm -rf %t && nnc-opt --nnc-encode-weights %s -o %t.mlir
// RUN: nnc-codegen %t.mlir -o %t --weights=array
// RUN: FileCheck %s --check-prefix=CPP < %t/tiny.cpp
// RUN: FileCheck %s --check-prefix=H < %t/tiny.h
// Tiles are configured and released once in a run without a pool, with every
// compiler. Without the instructions nothing is left of that.
// RUN: g++ -std=c++17 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror -fno-exceptions -fno-rtti -mamx-tile -mamx-int8 -mamx-bf16 -c %t/tiny.cpp -o %t/gcc.o
// RUN: llvm-objdump-19 -d --no-show-raw-insn %t/gcc.o | FileCheck %s --check-prefix=ONCE
// RUN: clang++-19 -std=c++20 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror -fno-exceptions -fno-rtti -mamx-tile -mamx-int8 -mamx-bf16 -c %t/tiny.cpp -o %t/clang.o
// RUN: llvm-objdump-19 -d --no-show-raw-insn %t/clang.o | FileCheck %s --check-prefix=ONCE
// RUN: clang++-19 -std=c++17 -O2 -Wall -Wextra -Werror -mamx-tile -mamx-int8 -mamx-bf16 -DNNC_PLAIN_TILES -c %t/tiny.cpp -o %t/plain.o
// RUN: llvm-objdump-19 -d --no-show-raw-insn %t/plain.o | FileCheck %s --check-prefix=PLAIN
// Without the flags a module does not compile, unless its tiles may be arrays.
// RUN: not g++ -std=c++17 -mamx-tile -fsyntax-only %t/tiny.cpp 2>&1 | FileCheck %s --check-prefix=FLAGS
// RUN: g++ -std=c++17 -DNNC_PLAIN_TILES -fsyntax-only %t/tiny.cpp
// RUN: g++ -std=c++17 -DNNC_PORTABLE_SIMD -fsyntax-only %t/tiny.cpp
// A run succeeds where the processor has tiles and Linux grants them. Elsewhere
// it says so, and the outputs stay as they were.
// RUN: clang-19 -I%t -Wall -Wextra -Werror %S/tiles_main.c %t/gcc.o %t/tiny_weights.c -o %t/main
// RUN: %t/main | FileCheck %s --check-prefix=RESULT
// RUN: clang-19 -I%t -Wall -Wextra -Werror %S/tiles_main.c %t/clang.o %t/tiny_weights.c -o %t/main
// RUN: %t/main | FileCheck %s --check-prefix=RESULT
// RUN: clang-19 -I%t -Wall -Wextra -Werror %S/tiles_main.c %t/plain.o %t/tiny_weights.c -o %t/main
// RUN: %t/main plain | FileCheck %s --check-prefix=RESULT
// With threads, too.
// RUN: rm -rf %t.threads && nnc-codegen %t.mlir -o %t.threads --with-threads=2 --weights=array
// RUN: FileCheck %s --check-prefix=THREADS < %t.threads/tiny.cpp
// RUN: g++ -std=c++17 -O2 -Wall -Wextra -Werror -fno-exceptions -fno-rtti -mamx-tile -mamx-int8 -mamx-bf16 -c %t.threads/tiny.cpp -o %t/threads.o
// RUN: clang-19 -I%t -Wall -Wextra -Werror %S/tiles_main.c %t/threads.o %t/tiny_weights.c -o %t/main
// RUN: %t/main | FileCheck %s --check-prefix=RESULT

// CPP: int tiny_run(
// CPP: return fault;
// CPP-NEXT: if (!nnc::amx_permitted())
// CPP-NEXT: return TINY_NO_TILES;
// CPP-NEXT: const nnc::amx_scope tiles;
// CPP-NEXT: return tiny_layers::run(
// THREADS: int tiny_run_parallel(
// THREADS: if (!nnc::amx_permitted())
// THREADS-NEXT: return TINY_NO_TILES;
// THREADS-NEXT: const nnc::amx_scope tiles;
// THREADS-NEXT: return tiny_layers::run(pool

// H: TINY_NO_TILES = 21, /* of AMX for this process */

// ONCE: <tiny_run>:
// ONCE-NOT: ldtilecfg
// ONCE: syscall
// ONCE-NOT: tilerelease
// ONCE: ldtilecfg
// ONCE-NOT: ldtilecfg
// ONCE: tilerelease
// ONCE-NOT: {{ldtilecfg|tilerelease|syscall}}

// FLAGS: compile it with -mamx-tile -mamx-int8 -mamx-bf16, or with -DNNC_PLAIN_TILES

// PLAIN-NOT: {{ldtilecfg|tilerelease|syscall}}

// RESULT: as expected

exec.program @tiny arena 0 lower_bound 0 align 64 weights 192
    attributes {headers = ["runtime/simd/amx.h", "runtime/simd/arithmetic.h"], tiles} {
  %x = exec.input "x" : tensor<1x4x4x4xf32>
  %y = exec.output "y" : tensor<1x8x4x4xf32>
  %w = exec.weight "conv1_w" at 0 = dense<1.0> : tensor<8x4x1x1xf32> : tensor<8x4x1x1xf32>
  %b = exec.weight "conv1_b" at 128 = dense<0.5> : tensor<8xf32> : tensor<8xf32>
  exec.call "conv1" conv2d_f32_portable of "runtime/routines/convolution/conv2d/portable.h"
      inputs(%x, %w) extras(channel %b) outputs(%y)
      shape <n = 1, c = 4, h = 4, w = 4, k = 8, kh = 1, kw = 1, sh = 1, sw = 1,
             dh = 1, dw = 1, pt = 0, pl = 0, oh = 4, ow = 4, groups = 1, fill = 0>
      attributes {form = #exec.form<floats>, what = "1 x 1 convolution", multiply_adds = 512 : i64, work = 1280 : i64} {
  ^bb0(%v: f32, %bias: f32):
    %0 = nn.add %v, %bias : f32, f32
    exec.yield %0 : f32
  }
}
