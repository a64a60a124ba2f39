// RUN: nnc-opt --nnc-simplify %s | FileCheck %s

// CHECK-LABEL: @cancel_adapts
// CHECK-NEXT: return %arg0
func.func @cancel_adapts(%x: tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32> {
  %0 = nn.adapt %x : tensor<1x32x4x4xf32> -> tensor<1x32x4x4xf32, #nn.layout<NCHW16c>>
  %1 = nn.adapt %0 : tensor<1x32x4x4xf32, #nn.layout<NCHW16c>> -> tensor<1x32x4x4xf32>
  return %1 : tensor<1x32x4x4xf32>
}
