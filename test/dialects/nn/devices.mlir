// RUN: nnc-opt %s | nnc-opt | FileCheck %s

// CHECK-LABEL: func.func @spellings
// Row-major order on a device has one spelling.
// CHECK-SAME: tensor<1x2x3x4xf32, #nn.layout<NCHW on shadow>>
// CHECK-SAME: tensor<1x2x3x4xf32, #nn.layout<NCHW on shadow>>
// CHECK-SAME: tensor<1x2x3xf32, #nn.layout<NCW on shadow>>
// CHECK-SAME: tensor<4x5xf32, #nn.layout<AB on shadow>>
// CHECK-SAME: tensor<f32, #nn.layout<"" on shadow>>
// CHECK-SAME: tensor<1x2x3x4x5xf32, #nn.layout<ABCDE on "a b">>
// CHECK-SAME: tensor<1x16x3x4xf32, #nn.layout<NCHW16c on shadow>>
// CHECK-SAME: tensor<32x16x3x3xf32, #nn.layout<KRSC16k_winograd4 on shadow>>
func.func @spellings(%a: tensor<1x2x3x4xf32, #nn.layout<NCHW on shadow>>,
                     %b: tensor<1x2x3x4xf32, #nn.layout<KCRS on shadow>>,
                     %c: tensor<1x2x3xf32, #nn.layout<ABC on shadow>>,
                     %d: tensor<4x5xf32, #nn.layout<KN on shadow>>,
                     %e: tensor<f32, #nn.layout<"" on shadow>>,
                     %f: tensor<1x2x3x4x5xf32, #nn.layout<ABCDE on "a b">>,
                     %g: tensor<1x16x3x4xf32, #nn.layout<NCHW16c on shadow>>,
                     %h: tensor<32x16x3x3xf32, #nn.layout<KRSC16k_winograd4 on shadow>>) {
  return
}

// CHECK-LABEL: func.func @path
// CHECK: nn.adapt %arg0 : tensor<1x16x3x4xf32> -> tensor<1x16x3x4xf32, #nn.layout<NCHW on shadow>>
// CHECK: nn.adapt %{{.*}} : tensor<1x16x3x4xf32, #nn.layout<NCHW on shadow>> -> tensor<1x16x3x4xf32, #nn.layout<NCHW16c on shadow>>
// CHECK: nn.adapt %{{.*}} : tensor<1x16x3x4xf32, #nn.layout<NCHW16c on shadow>> -> tensor<1x16x3x4xf32, #nn.layout<NCHW16c>>
func.func @path(%x: tensor<1x16x3x4xf32>) -> tensor<1x16x3x4xf32, #nn.layout<NCHW16c>> {
  %0 = nn.adapt %x : tensor<1x16x3x4xf32> -> tensor<1x16x3x4xf32, #nn.layout<NCHW on shadow>>
  %1 = nn.adapt %0 : tensor<1x16x3x4xf32, #nn.layout<NCHW on shadow>> -> tensor<1x16x3x4xf32, #nn.layout<NCHW16c on shadow>>
  %2 = nn.adapt %1 : tensor<1x16x3x4xf32, #nn.layout<NCHW16c on shadow>> -> tensor<1x16x3x4xf32, #nn.layout<NCHW16c>>
  return %2 : tensor<1x16x3x4xf32, #nn.layout<NCHW16c>>
}
