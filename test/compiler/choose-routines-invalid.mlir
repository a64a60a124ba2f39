// RUN: nnc-opt %s --split-input-file --verify-diagnostics --nnc-choose-routines=target=aarch64
// RUN: not nnc-opt %s --nnc-choose-routines=target=vax 2>&1 | FileCheck %s
// RUN: not nnc-opt %s --nnc-choose-routines="target=aarch64 weights-encoding=zip" 2>&1 | FileCheck %s --check-prefix=ENCODING

// CHECK: there is no target 'vax'; choose one of native, aarch64, {{.*}}portable, {{.*}}x86-64-v4
// ENCODING: there is no weights-encoding 'zip'; choose one of auto, dense, codebook, csr, huffman

func.func @type(%x: tensor<1x4x8x8xbf16>, %w: tensor<4x4x1x1xbf16>) -> tensor<1x4x8x8xbf16> {
  // expected-error@below {{has no routine for the target 'aarch64' (nn.conv of 'tensor<1x4x8x8xbf16>' 'tensor<4x4x1x1xbf16>')}}
  %0 = nn.layer "a" inputs(%x, %w : tensor<1x4x8x8xbf16>, tensor<4x4x1x1xbf16>) -> tensor<1x4x8x8xbf16>
  anchor {
  ^bb0(%ax: tensor<1x4x8x8xbf16>, %aw: tensor<4x4x1x1xbf16>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xbf16>, tensor<4x4x1x1xbf16>) -> tensor<1x4x8x8xbf16>
    nn.yield %c : tensor<1x4x8x8xbf16>
  } epilogue {
  ^bb0(%e: bf16):
    nn.yield %e : bf16
  }
  return %0 : tensor<1x4x8x8xbf16>
}

// -----

func.func @isa(%x: tensor<4x50xf32>) -> tensor<4x50xf32> {
  // expected-error@below {{cannot be computed by the routine 'elementwise_avx512' that it names, with the params it names}}
  %0 = nn.layer "c" extras(%x : tensor<4x50xf32>) -> tensor<4x50xf32> attributes {routine = "elementwise_avx512"} anchor {
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<4x50xf32>
}
