// RUN: nnc-opt %s | nnc-opt | FileCheck %s
//
// Every op of the exec dialect, printed and parsed back.

// CHECK-LABEL: exec.program @tiny arena 1024 lower_bound 640 align 64 weights 192
// CHECK-SAME: features = ["avx2", "fma"], flags = ["-mavx2", "-mfma"], model = "tiny.onnx"
exec.program @tiny arena 1024 lower_bound 640 align 64 weights 192
    attributes {target = "x86-64-v3", features = ["avx2", "fma"], flags = ["-mavx2", "-mfma"], model = "tiny.onnx", sha256 = "00"} {
  // CHECK: %x_0 = exec.input "x_0" of "x.0" : tensor<1x4x4x4xf32>
  %x = exec.input "x_0" of "x.0" : tensor<1x4x4x4xf32>
  // CHECK: %prob = exec.output "prob" : tensor<1x128xf32>
  %prob = exec.output "prob" : tensor<1x128xf32>
  // CHECK: exec.state "h_0" of "h.0" : tensor<1x4xf32>
  %h = exec.state "h_0" of "h.0" : tensor<1x4xf32>
  // CHECK: exec.state "c" = dense<-1> : tensor<4xi8> : tensor<4xi8>
  %c = exec.state "c" = dense<-1> : tensor<4xi8> : tensor<4xi8>
  // CHECK: %conv1_w = exec.weight "conv1_w" at 0 = dense<1.000000e+00> : tensor<8x4x1x1xf32> : tensor<8x4x1x1xf32, #nn.layout<KCRS8k>>
  %w = exec.weight "conv1_w" at 0 = dense<1.0> : tensor<8x4x1x1xf32> : tensor<8x4x1x1xf32, #nn.layout<KCRS8k>>
  %b = exec.weight "conv1_b" at 128 = dense<0.5> : tensor<8xf32> : tensor<8xf32>
  // CHECK: exec.weight "one" at 160 = encoded dense<[0, 0, -128, 63]> : tensor<4xi8> : tensor<1xf32>
  %one = exec.weight "one" at 160 = encoded dense<[0, 0, -128, 63]> : tensor<4xi8> : tensor<1xf32>
  // CHECK: exec.buffer "conv1_out" at 0 : tensor<1x8x4x4xf32>
  %y = exec.buffer "conv1_out" at 0 : tensor<1x8x4x4xf32>
  %scratch = exec.buffer "conv1_scratch" at 512 : tensor<512xui8>
  // CHECK: exec.call "conv1" conv2d_f32_portable<COLS = 14, OC = 2> of "runtime/routines/convolution/conv2d/portable.h"
  // CHECK-SAME: inputs(%x_0, %conv1_w) extras(channel %conv1_b) outputs(%conv1_out) scratch(%conv1_scratch)
  // CHECK-SAME: shape <n = 1, dims = [4, 8], rows = {{\[\[}}1, 2], [3]], value = 1.000000e-05>
  exec.call "conv1" conv2d_f32_portable<COLS = 14, OC = 2> of "runtime/routines/convolution/conv2d/portable.h"
      inputs(%x, %w) extras(channel %b) outputs(%y) scratch(%scratch)
      shape <n = 1, dims = [4, 8], rows = [[1, 2], [3]], value = 1.0e-5>
      attributes {what = "1 x 1 convolution", multiply_adds = 512 : i64, work = 1280 : i64} {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  ^bb0(%v: f32, %bias: f32):
    %0 = nn.add %v, %bias : f32, f32
    // CHECK: exec.yield
    exec.yield %0 : f32
  }
  // CHECK: exec.call "relu" elementwise_portable of "e.h" inputs(%conv1_out) outputs(%conv1_out) shape <rank = 1> pointwise
  exec.call "relu" elementwise_portable of "e.h" inputs(%y) outputs(%y) shape <rank = 1> pointwise {
  ^bb0(%v: f32):
    %0 = nn.relu %v : f32
    exec.yield %0 : f32
  }
  // CHECK: exec.call "softmax" softmax_portable of "s.h" inputs(%conv1_out) outputs(%conv1_out) shape <>{{$}}
  exec.call "softmax" softmax_portable of "s.h" inputs(%y) outputs(%y) shape <>
  // CHECK: exec.call "softmax_2" softmax_portable of "s.h" inputs(%conv1_out) outputs(%conv1_out) shape <> like "softmax"{{$}}
  exec.call "softmax_2" softmax_portable of "s.h" inputs(%y) outputs(%y) shape <> like "softmax"
  // CHECK: exec.view "flat" of %conv1_out at 0 : tensor<1x128xf32>
  %flat = exec.view "flat" of %y at 0 : tensor<1x128xf32>
  // CHECK: exec.copy "copy_prob" %flat to %prob
  exec.copy "copy_prob" %flat to %prob
}

// CHECK-LABEL: exec.program @control
exec.program @control arena 64 lower_bound 64 align 64 weights 0 {
  %c = exec.input "c" : tensor<i1>
  %n = exec.input "n" : tensor<i64>
  %x = exec.input "x" : tensor<4xf32>
  %y = exec.output "y" : tensor<4xf32>
  %all = exec.output "all" : tensor<9x4xf32>
  %i = exec.buffer "i" at 0 : tensor<i64>
  // CHECK: exec.loop "steps" max 9 count %n while %c counter %i {
  // CHECK-NEXT: exec.copy "copy_all" %x to %all by_run
  // CHECK-NEXT: exec.branch "gate" on %c {
  // CHECK-NEXT: exec.copy "copy_y" %x to %y
  // CHECK-NEXT: } else {
  // CHECK-NEXT: }
  exec.loop "steps" max 9 count %n while %c counter %i {
    exec.copy "copy_all" %x to %all by_run
    exec.branch "gate" on %c {
      exec.copy "copy_y" %x to %y
    } else {
    }
  }
}

// CHECK-LABEL: func.func @placed
// CHECK-SAME: exec.arena = 64
func.func @placed(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 64, exec.lower_bound = 64} {
  // CHECK: exec.place = #exec.place<arena at 0>, exec.scratch = #exec.place<arena at 64 bytes 32>
  %0 = nn.relu %x {exec.place = #exec.place<arena at 0>, exec.scratch = #exec.place<arena at 64 bytes 32>} : tensor<4xf32>
  // CHECK: exec.place = #exec.place<output[1] at 16>
  %1 = nn.relu %0 {exec.place = #exec.place<output[1] at 16>} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
