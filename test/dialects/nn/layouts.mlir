// RUN: nnc-opt %s | nnc-opt | FileCheck %s
// Layouts are printed as they are written; the shape stays logical.

// CHECK-LABEL: @layouts
// CHECK-SAME: tensor<1x40x7x7xf32, #nn.layout<NCHW16c>>
// CHECK-SAME: tensor<64x40x3x3xf32, #nn.layout<KCRS16c16k>>
// CHECK-SAME: tensor<1x7x9x3xf32, #nn.layout<NHWC>>
// CHECK-SAME: tensor<768x100xf32, #nn.layout<NK16n>>
// CHECK-SAME: tensor<2x3x4xf32, #nn.layout<ACB4b>>
// CHECK-SAME: tensor<64x40x3x3xf32, #nn.layout<KRSC16k_winograd4>>
func.func @layouts(%a: tensor<1x40x7x7xf32, #nn.layout<NCHW16c>>, %b: tensor<64x40x3x3xf32, #nn.layout<KCRS16c16k>>,
                   %c: tensor<1x7x9x3xf32, #nn.layout<NHWC>>, %d: tensor<768x100xf32, #nn.layout<"NK16n">>,
                   %e: tensor<2x3x4xf32, #nn.layout<ACB4b>>, %f: tensor<64x40x3x3xf32, #nn.layout<KRSC16k_winograd4>>) {
  return
}

// An encoding is an attribute of its own, too.
// CHECK: @encoding() attributes {e = #nn.encoding<folded_winograd4>}
func.func private @encoding() attributes {e = #nn.encoding<folded_winograd4>}

// The shape of a call holds numbers, lists of them, and lists of lists, in order.
// CHECK: @shape() attributes {s = #nn.shape<rank = 2, dims = [4, 8], b = [], strides = {{\[\[}}8, 1], [], [0, -1]], value = 1.500000e+00>}
func.func private @shape() attributes {s = #nn.shape<rank = 2, dims = [4, 8], b = [], strides = [[8, 1], [], [0, -1]], value = 1.5>}

// A constant's value is row-major; its type says how it will be packed.
// CHECK-LABEL: @packed_constant
// CHECK: nn.constant dense<1.000000e+00> : tensor<64x3x7x7xf32> -> tensor<64x3x7x7xf32, #nn.layout<KCRS16k>>
func.func @packed_constant() -> tensor<64x3x7x7xf32, #nn.layout<KCRS16k>> {
  %0 = nn.constant dense<1.0> : tensor<64x3x7x7xf32> -> tensor<64x3x7x7xf32, #nn.layout<KCRS16k>>
  return %0 : tensor<64x3x7x7xf32, #nn.layout<KCRS16k>>
}

// The result of an elementwise op has the layout of what is not broadcast.
// CHECK-LABEL: @elementwise
// CHECK: nn.add %arg0, %arg1 : tensor<1x40x7x7xf32, #nn.layout<NCHW16c>>, tensor<1x40x1x1xf32>
// CHECK-NEXT: return %{{.*}} : tensor<1x40x7x7xf32, #nn.layout<NCHW16c>>
func.func @elementwise(%a: tensor<1x40x7x7xf32, #nn.layout<NCHW16c>>, %b: tensor<1x40x1x1xf32>) -> tensor<1x40x7x7xf32, #nn.layout<NCHW16c>> {
  %0 = nn.add %a, %b : tensor<1x40x7x7xf32, #nn.layout<NCHW16c>>, tensor<1x40x1x1xf32>
  return %0 : tensor<1x40x7x7xf32, #nn.layout<NCHW16c>>
}
