// What is written of weights whose layouts have encodings.
// A weight whose layout ends in _winograd<m> is written as its filters' values in
// the points of Winograd's method, block by block of output channels, padding
// being zero. For m = 2 and 3 x 3 ones they are (-1 1.5 0.5 1) times themselves
// transposed. One that ends in _strassen, as the right factors of Strassen's
// products: sums of the quarters 1 (B11), 10 (B12), 100 (B21) and 1000 (B22);
// _strassen2 does that twice. _folded_winograd<m> makes four channels of each
// before, of taps in even or odd rows and columns: for m = 3 these are taken in
// 0, 1, -1 and infinity, by (-1 0), (0.5 0.5), (0.5 -0.5) and (0 1).
// _strided_winograd2 has points 0, 1 and infinity of even taps, (-1 0), (1 1) and
// (0 1), and two of the odd one.

// RUN: rm -rf %t && nnc-opt --nnc-encode-weights %s | nnc-codegen - -o %t
// The weights follow a header of 64 bytes.
// RUN: tail -c +65 %t/points_weights.bin | od -v -A d -t f4 -w64 | FileCheck %s

// 16 output channels of the first block in each line, 16 points.
// CHECK: 0000000{{( +1){16}$}}
// CHECK-NEXT: 0000064{{( +-1\.5){16}$}}
// CHECK-NEXT: 0000128{{( +-0\.5){16}$}}
// CHECK-NEXT: 0000192{{( +-1){16}$}}
// CHECK-NEXT: 0000256{{( +-1\.5){16}$}}
// CHECK-NEXT: 0000320{{( +2\.25){16}$}}
// The second block has one channel.
// CHECK: 0001024 1{{( +0){15}$}}
// CHECK-NEXT: 0001088 -1.5{{( +0){15}$}}

// Each of the seven has one channel, the first like the line before it.
// CHECK: 0002112{{ +}}100{{( +0){15}$}}
// CHECK-NEXT: 0002176{{ +}}991{{( +0){15}$}}
// CHECK-NEXT: 0002240{{ +}}990{{( +0){15}$}}
// CHECK-NEXT: 0002304{{ +}}-891{{( +0){15}$}}
// CHECK-NEXT: 0002368{{ +}}9{{( +0){15}$}}
// CHECK-NEXT: 0002432{{ +}}1000{{( +0){15}$}}

// Of 49, with 10 in the first quarter's first and 1 in the last's last.
// CHECK-NEXT: 0002496{{ +}}10{{( +0){15}$}}
// CHECK-NEXT: 0002560{{( +0){16}$}}
// CHECK: 0002752{{ +}}-10{{( +0){15}$}}
// CHECK: 0003520{{ +}}11{{( +0){15}$}}
// CHECK: 0004544{{ +}}11{{( +0){15}$}}
// CHECK: 0005568{{ +}}1{{( +0){15}$}}

// Of nine taps from 1 to 9, 16 points of four channels: of points 0 and 0 the
// first tap of each; then those of 0 and 1, and last those of infinity.
// CHECK-NEXT: 0005632{{ +}}1{{( +0){15}$}}
// CHECK-NEXT: 0005696{{ +}}2{{( +0){15}$}}
// CHECK-NEXT: 0005760{{ +}}4{{( +0){15}$}}
// CHECK-NEXT: 0005824{{ +}}5{{( +0){15}$}}
// CHECK-NEXT: 0005888{{ +}}-2{{( +0){15}$}}
// CHECK-NEXT: 0005952{{ +}}-1{{( +0){15}$}}
// CHECK-NEXT: 0006016{{ +}}-5{{( +0){15}$}}
// CHECK-NEXT: 0006080{{ +}}-2.5{{( +0){15}$}}
// CHECK: 0009472{{ +}}9{{( +0){15}$}}
// CHECK-NEXT: 0009536{{( +0){16}$}}

// Of the same nine taps, 25 points. Before the first row's last two there are
// (-1 0 0), (1 0 1) and (0 0 1) of the first row of taps, less than nothing.
// CHECK: 0009728{{ +}}1{{( +0){15}$}}
// CHECK-NEXT: 0009792{{ +}}-4{{( +0){15}$}}
// CHECK-NEXT: 0009856{{ +}}-3{{( +0){15}$}}
// CHECK-NEXT: 0009920{{ +}}-2{{( +0){15}$}}
// CHECK-NEXT: 0009984{{ +}}-2{{( +0){15}$}}
// The second row is of the first and the last row of taps, the fourth of the
// middle one.
// CHECK-NEXT: 0010048{{ +}}-8{{( +0){15}$}}
// CHECK-NEXT: 0010112{{ +}}20{{( +0){15}$}}
// CHECK: 0010688{{ +}}-4{{( +0){15}$}}
// CHECK-NEXT: 0010752{{ +}}10{{( +0){15}$}}
// CHECK-NEXT: 0010816{{ +}}6{{( +0){15}$}}
// CHECK-NEXT: 0010880{{ +}}5{{( +0){15}$}}
// CHECK-NEXT: 0010944{{ +}}5{{( +0){15}$}}

exec.program @points arena 0 lower_bound 0 align 64 weights 11328
    attributes {model = "points.onnx"} {
  %x = exec.input "x" : tensor<1xf32>
  %y = exec.output "y" : tensor<1xf32>
  %w = exec.weight "w" at 0 = dense<1.0> : tensor<17x1x3x3xf32> : tensor<17x1x3x3xf32, #nn.layout<KRSC16k_winograd2>>
  // Channels K by C: B12 is of the second half of K, B21 of the second of C.
  %v = exec.weight "v" at 2048 = dense<[[[[1.0]], [[100.0]]], [[[10.0]], [[1000.0]]]]> : tensor<2x2x1x1xf32> : tensor<2x2x1x1xf32, #nn.layout<KRSC16k_strassen>>
  %u = exec.weight "u" at 2496 = dense<[[[[10.0]], [[0.0]], [[0.0]], [[0.0]]], [[[0.0]], [[0.0]], [[0.0]], [[0.0]]], [[[0.0]], [[0.0]], [[0.0]], [[0.0]]], [[[0.0]], [[0.0]], [[0.0]], [[1.0]]]]> : tensor<4x4x1x1xf32> : tensor<4x4x1x1xf32, #nn.layout<KRSC16k_strassen2>>
  %t = exec.weight "t" at 5632 = dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32> : tensor<1x1x3x3xf32, #nn.layout<KRSC16k_folded_winograd3>>
  %s = exec.weight "s" at 9728 = dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32> : tensor<1x1x3x3xf32, #nn.layout<KRSC16k_strided_winograd2>>
  exec.copy "copy" %x to %y
}
