// RUN: split-file %s %t
// RUN: nnc-opt %t/conv.mlir --nnc-choose-routines="target=x86-64-v3 tuning=%t/fast.tune" | FileCheck %s --check-prefix=FAST
// RUN: nnc-opt %t/conv.mlir --nnc-choose-routines="target=x86-64-v3 tuning=%t/slow.tune" | FileCheck %s --check-prefix=SLOW
// RUN: cat %t/fast.tune %t/choices >%t/chosen.tune
// RUN: cat %t/fast.tune %t/others >%t/other.tune
// RUN: nnc-opt %t/conv.mlir --nnc-choose-routines="target=x86-64-v3 tuning=%t/chosen.tune" | FileCheck %s --check-prefix=CHOSEN
// RUN: nnc-opt %t/conv.mlir --nnc-choose-routines="target=x86-64-v3 tuning=%t/chosen.tune max-error=1e-6" 2>&1 | FileCheck %s --check-prefix=UNFIT
// RUN: nnc-opt %t/conv.mlir --nnc-choose-routines="target=x86-64-v3 tuning=%t/other.tune" 2>&1 | FileCheck %s --check-prefix=UNFIT
// RUN: not nnc-opt %t/conv.mlir --nnc-choose-routines="target=x86-64-v4 tuning=%t/fast.tune" 2>&1 | FileCheck %s --check-prefix=ISA
// RUN: not nnc-opt %t/conv.mlir --nnc-choose-routines="target=x86-64-v3 tuning=%t/none.tune" 2>&1 | FileCheck %s --check-prefix=NONE

// What was measured counts, and what was not is scaled: by what the same
// routine's measurements differ from its estimates, or those of all.

// FAST: nn.plan = {bound_ns = [[NS:[0-9]+]] : i64, ns = [[NS]] : i64
// FAST: params = array<i64: 1, 5, 2>, routine = "conv2d_f32_nchw8c_direct_avx2"

// SLOW: routine = "conv2d_f32_nchw8c_winograd4_avx2"

// What was chosen by running whole plans counts whatever it costs alone, if it
// is for these layers and keeps to the error.

// CHOSEN: nn.plan = {bound_ns = {{[0-9]+}} : i64, ns = {{[0-9]+}} : i64, solver = "tuned"}
// CHOSEN: params = array<i64: 6, 2, 32>, routine = "conv2d_f32_nchw8c_winograd4_avx2"

// UNFIT: warning: has other layers, or less --max-error, than the choices of the tuning file are for
// UNFIT: params = array<i64: 1, 5, 2>, routine = "conv2d_f32_nchw8c_direct_avx2"

// ISA: fast.tune:0:0: error: was measured for avx2 sse4 portable; the target 'x86-64-v4' has avx512 avx2 sse4 portable: measure for it with nnc tune --target=x86-64-v4
// NONE: none.tune:0:0: error: cannot be read: No such file or directory

//--- fast.tune
nnc-tuning 1
chip znver3
isas avx2 sse4 portable
measured conv2d n=1 c=64 h=56 w=56 k=64 kh=3 kw=3 sh=1 sw=1 dh=1 dw=1 pt=1 pl=1 oh=56 ow=56 groups=1 fill=0 constant 1 then relu : conv2d_f32_nchw8c_direct_avx2 1 5 2 : 1000
measured conv2d n=1 c=64 h=56 w=56 k=64 kh=3 kw=3 sh=1 sw=1 dh=1 dw=1 pt=1 pl=1 oh=56 ow=56 groups=1 fill=0 constant 1 then relu : conv2d_f32_nchw8c_direct_avx2 1 6 2 : 1500000
measured conv2d n=1 c=64 h=56 w=56 k=64 kh=3 kw=3 sh=1 sw=1 dh=1 dw=1 pt=1 pl=1 oh=56 ow=56 groups=1 fill=0 constant 1 then relu : conv2d_f32_nchw8c_winograd6_avx2 6 2 32 : 800000

//--- slow.tune
nnc-tuning 1
chip znver3
isas avx2 sse4 portable
measured conv2d n=1 c=64 h=56 w=56 k=64 kh=3 kw=3 sh=1 sw=1 dh=1 dw=1 pt=1 pl=1 oh=56 ow=56 groups=1 fill=0 constant 1 then relu : conv2d_f32_nchw8c_direct_avx2 1 6 2 : 2000000
measured conv2d n=1 c=64 h=56 w=56 k=64 kh=3 kw=3 sh=1 sw=1 dh=1 dw=1 pt=1 pl=1 oh=56 ow=56 groups=1 fill=0 constant 1 then relu : conv2d_f32_nchw8c_winograd4_avx2 6 2 32 : 900000
measured conv2d n=1 c=64 h=56 w=56 k=64 kh=3 kw=3 sh=1 sw=1 dh=1 dw=1 pt=1 pl=1 oh=56 ow=56 groups=1 fill=0 constant 1 then relu : conv2d_f32_nchw8c_winograd6_avx2 6 2 32 : 9000000

//--- choices
max-error 3e-6
choice conv : conv2d_f32_nchw8c_winograd4_avx2 6 2 32

//--- others
choice conv1 : conv2d_f32_nchw8c_winograd4_avx2 6 2 32

//--- conv.mlir
func.func @f(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  anchor {
  ^bb0(%a: tensor<1x64x56x56xf32>, %b: tensor<64x64x3x3xf32>):
    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    nn.yield %c : tensor<1x64x56x56xf32>
  } epilogue {
  ^bb0(%e: f32):
    %r = nn.relu %e : f32
    nn.yield %r : f32
  }
  return %0 : tensor<1x64x56x56xf32>
}
