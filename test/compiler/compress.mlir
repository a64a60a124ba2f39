// RUN: nnc-opt %s --nnc-compress=sparsity=0.5 | FileCheck %s --check-prefix=HALF
// RUN: nnc-opt %s --nnc-compress=clusters=2 | FileCheck %s --check-prefix=SHARED
// RUN: nnc-opt %s --nnc-compress="sparsity=0.5 exclude=y" | FileCheck %s --check-prefix=SAME
// RUN: nnc-opt %s --nnc-compress=pattern=1:2 | FileCheck %s --check-prefix=PATTERN
// RUN: not nnc-opt %s --nnc-compress=pattern=2 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not nnc-opt %s --nnc-compress=clusters=1 2>&1 | FileCheck %s --check-prefix=FEW

// Only what products multiply by changes; the bias does not, nor does a
// constant that another op reads, too.

// HALF: dense<{{\[\[}}0.899999976, 0.000000e+00, 0.000000e+00], [0.000000e+00, -1.100000e+00, 5.000000e-01]]>
// HALF: dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// HALF: dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]>
// SHARED: dense<{{\[\[}}4.000000e-01, 4.000000e-01, 4.000000e-01], [4.000000e-01, -1.100000e+00, 4.000000e-01]]>
// SAME: dense<{{\[\[}}0.899999976, 1.000000e-01, 2.000000e-01], [3.000000e-01, -1.100000e+00, 5.000000e-01]]>
// PATTERN: dense<{{\[\[}}0.899999976, 0.000000e+00, 0.000000e+00], [0.000000e+00, -1.100000e+00, 5.000000e-01]]>
// WRONG: pattern says how many weights of how many stay, as 2:4
// FEW: clusters is a number from 2 to 256, or 0

func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x3xf32>, tensor<2x2xf32>) {
  %w = nn.constant dense<[[0.9, 0.1, 0.2], [0.3, -1.1, 0.5]]> : tensor<2x3xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %both = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %sums = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
  %y = nn.add %sums, %b : tensor<2x3xf32>, tensor<3xf32>
  %p = nn.matmul %x, %both {transpose_a = false, transpose_b = false} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = nn.mul %p, %both : tensor<2x2xf32>, tensor<2x2xf32>
  return %y, %z : tensor<2x3xf32>, tensor<2x2xf32>
}
