// RUN: nnc-opt --split-input-file %s --nnc-encode-weights | FileCheck %s
// What is freed is what nothing needs any more; the rest is the same.
// RUN: nnc-opt --split-input-file %s --nnc-encode-weights=release=true | FileCheck %s
// Encoding again changes nothing.
// RUN: nnc-opt --split-input-file %s --nnc-encode-weights --nnc-encode-weights | FileCheck %s

// Up to 16 bytes stand in the text: 1.0 is 0, 0, -128, 63 and 2.0 is 0, 0, 0, 64.
// CHECK-LABEL: exec.program @own
exec.program @own arena 0 lower_bound 0 align 64 weights 448 {
  %x = exec.input "x" : tensor<1xf32>
  // CHECK: exec.weight "plain" at 0 = encoded dense<[0, 0, -128, 63, 0, 0, 0, 64]> : tensor<8xi8> : tensor<2xf32>
  %a = exec.weight "plain" at 0 = dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  // Splats are written out, and i1 takes a byte.
  // CHECK: exec.weight "splat" at 64 = encoded dense<[0, 64, 0, 64]> : tensor<4xi8> : tensor<2xf16>
  %b = exec.weight "splat" at 64 = dense<2.0> : tensor<2xf16> : tensor<2xf16>
  // CHECK: exec.weight "mask" at 128 = encoded dense<[1, 0, 1]> : tensor<3xi8> : tensor<3xi1>
  %c = exec.weight "mask" at 128 = dense<[true, false, true]> : tensor<3xi1> : tensor<3xi1>
  // A matrix of three rows in panels of two columns, the second one padded.
  // CHECK: exec.weight "panels" at 192 = encoded dense<[1, 2, 4, 5, 7, 8, 3, 0, 6, 0, 9, 0]> : tensor<12xi8> : tensor<3x3xi8, #nn.layout<NK2n>>
  %d = exec.weight "panels" at 192 = dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi8> : tensor<3x3xi8, #nn.layout<NK2n>>
  // CHECK: exec.weight "empty" at 256 = encoded dense<> : tensor<0xi8> : tensor<0x4xf32>
  %e = exec.weight "empty" at 256 = dense<> : tensor<0x4xf32> : tensor<0x4xf32>
  // Bytes that are encoded stay, although they could be elements, too.
  // CHECK: exec.weight "bytes" at 320 = encoded dense<[1, 2, 3, 4]> : tensor<4xi8> : tensor<4xi8>
  %f = exec.weight "bytes" at 320 = encoded dense<[1, 2, 3, 4]> : tensor<4xi8> : tensor<4xi8>
  // CHECK: exec.weight "blocks" at 384 = encoded dense<[1, 3, 2, 4]> : tensor<4xi8> : tensor<2x2xi8, #nn.layout<NK>>
  %g = exec.weight "blocks" at 384 = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8> : tensor<2x2xi8, #nn.layout<NK>>
}

// -----

// The three taps 1, 2, 3 in the points 0, 1, -1 and infinity of F(2, 3) are -1, 3,
// 1 and 3: -1 is 0, 0, -128, -65 and 3 is 0, 0, 64, 64.
// CHECK-LABEL: exec.program @encoded
exec.program @encoded arena 0 lower_bound 0 align 64 weights 64 {
  %x = exec.input "x" : tensor<1xf32>
  // CHECK: exec.weight "taps" at 0 = encoded dense<[0, 0, -128, -65, 0, 0, 64, 64, 0, 0, -128, 63, 0, 0, 64, 64]> : tensor<16xi8> : tensor<1x1x3xf32, #nn.layout<KCS_winograd2>>
  %t = exec.weight "taps" at 0 = dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32> : tensor<1x1x3xf32, #nn.layout<KCS_winograd2>>
}

// -----

// A row-major weight keeps the resource that it is in, which others that are
// packed from it do not take from it; they have resources of their own names.
// CHECK-LABEL: exec.program @resources
exec.program @resources arena 0 lower_bound 0 align 64 weights 320 {
  %x = exec.input "x" : tensor<1xf32>
  // CHECK: exec.weight "packed" at 0 = encoded dense_resource<packed> : tensor<32xi8>
  %a = exec.weight "packed" at 0 = dense_resource<shared> : tensor<3x4xi16> : tensor<3x4xi16, #nn.layout<BA4a>>
  // CHECK: exec.weight "rows" at 64 = encoded dense_resource<shared> : tensor<24xi8>
  %b = exec.weight "rows" at 64 = dense_resource<shared> : tensor<3x4xi16> : tensor<3x4xi16>
  // CHECK: exec.weight "columns" at 128 = encoded dense_resource<columns> : tensor<24xi8>
  %c = exec.weight "columns" at 128 = dense_resource<shared> : tensor<3x4xi16> : tensor<3x4xi16, #nn.layout<NK>>
  // CHECK: exec.weight "twice" at 192 = encoded dense_resource<twice> : tensor<24xi8>
  %d = exec.weight "twice" at 192 = dense_resource<two> : tensor<3x4xi16> : tensor<3x4xi16, #nn.layout<NK>>
  // CHECK: exec.weight "again" at 256 = encoded dense_resource<again> : tensor<24xi8>
  %e = exec.weight "again" at 256 = dense_resource<two> : tensor<3x4xi16> : tensor<3x4xi16, #nn.layout<NK>>
}

{-#
  dialect_resources: {
    builtin: {
      shared: "0x08000000010002000300040005000600070008000900100011001200",
      two: "0x08000000210022002300240025002600270028002900300031003200"
    }
  }
#-}

// CHECK: {-#
// CHECK-DAG: shared: "0x{{[0-9A-F]+}}010002000300040005000600070008000900100011001200"
// CHECK-DAG: packed: "0x{{[0-9A-F]+}}0100050009000000020006001000000003000700110000000400080012000000"
// CHECK-DAG: columns: "0x{{[0-9A-F]+}}010005000900020006001000030007001100040008001200"
// CHECK-DAG: twice: "0x{{[0-9A-F]+}}210025002900220026003000230027003100240028003200"
// CHECK-DAG: again: "0x{{[0-9A-F]+}}210025002900220026003000230027003100240028003200"
