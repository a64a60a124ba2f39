// RUN: nnc-opt %s --nnc-choose-routines="target=aarch64-fp16 precision=f16" --split-input-file | FileCheck %s
// RUN: not nnc-opt %s --nnc-choose-routines="target=aarch64 precision=f16" --split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: the target 'aarch64' has no arithmetic on halves, which the precision f16 needs; there is for aarch64-dotprod, aarch64-fp16, aarch64-i8mm
// The weights are rounded, the bias stays a float; the epilogue computes with
// floats; what the caller sees is cast, in the order in which few bytes move.

// CHECK-LABEL: func.func @conv
// CHECK: %[[X:.*]] = nn.layer "input_f16" extras(%arg0 : tensor<1x128x32x32xf32>) -> tensor<1x128x32x32xf16> attributes {routine = "elementwise_neon"} epilogue {
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT: %[[C:.*]] = nn.cast %[[E]] : f32 to f16
// CHECK-NEXT: nn.yield %[[C]] : f16
// CHECK: %[[P:.*]] = nn.adapt %[[X]] {{.*}} -> tensor<1x128x32x32xf16, #nn.layout<NCHW8c>>
// CHECK-DAG: %[[B:.*]] = nn.constant {{.*}} -> tensor<1x128x1x1xf32, #nn.layout<NCHW8c>>
// CHECK-DAG: %[[W:.*]] = nn.constant {{.*}} -> tensor<128x128x1x1xf16, #nn.layout<KRSC8k_strassen>>
// CHECK: %[[Y:.*]] = nn.layer "conv" inputs(%[[P]], %[[W]] : {{.*}}) extras(%[[B]] : {{.*}}) -> tensor<1x128x32x32xf16, #nn.layout<NCHW8c>>
// CHECK: nn.conv {{.*}} -> tensor<1x128x32x32xf16>
// CHECK: epilogue {
// CHECK-NEXT: ^bb0(%[[E:.*]]: f16, %[[EB:.*]]: f32):
// CHECK-NEXT: %[[F:.*]] = nn.cast %[[E]] : f16 to f32
// CHECK-NEXT: %[[S:.*]] = nn.add %[[F]], %[[EB]] : f32, f32
// CHECK-NEXT: %[[C:.*]] = nn.cast %[[S]] : f32 to f16
// CHECK-NEXT: nn.yield %[[C]] : f16
// CHECK: %[[U:.*]] = nn.adapt %[[Y]] {{.*}} -> tensor<1x128x32x32xf16>
// CHECK: %[[R:.*]] = nn.layer "conv_f32" extras(%[[U]] : tensor<1x128x32x32xf16>) -> tensor<1x128x32x32xf32>
// CHECK: return %[[R]]
func.func @conv(%x: tensor<1x128x32x32xf32>) -> tensor<1x128x32x32xf32> {
  %w = nn.constant dense<0.1> : tensor<128x128x1x1xf32>
  %b = nn.constant dense<0.5> : tensor<1x128x1x1xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x128x32x32xf32>, tensor<128x128x1x1xf32>) extras(%b : tensor<1x128x1x1xf32>) -> tensor<1x128x32x32xf32> anchor {
  ^bb0(%ax: tensor<1x128x32x32xf32>, %aw: tensor<128x128x1x1xf32>):
    %1 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x128x32x32xf32>, tensor<128x128x1x1xf32>) -> tensor<1x128x32x32xf32>
    nn.yield %1 : tensor<1x128x32x32xf32>
  } epilogue {
  ^bb0(%e: f32, %eb: f32):
    %1 = nn.add %e, %eb : f32, f32
    nn.yield %1 : f32
  }
  return %0 : tensor<1x128x32x32xf32>
}

// -----
// Pooling takes what it is given. Its few results are cast once for both
// readers; the last softmax computes with floats, which rounds less.

// CHECK-LABEL: func.func @follow
// CHECK: nn.layer "conv" {{.*}} -> tensor<1x128x32x32xf16, #nn.layout<NCHW8c>>
// CHECK: %[[P:.*]] = nn.layer "pool" {{.*}} -> tensor<1x128x1x1xf16, #nn.layout<NCHW8c>>
// CHECK: %[[A:.*]] = nn.adapt %[[P]]
// CHECK: %[[F:.*]] = nn.layer "pool_f32" extras(%[[A]] : tensor<1x128x1x1xf16>) -> tensor<1x128x1x1xf32>
// CHECK: %[[V:.*]] = nn.reshape %[[F]] : tensor<1x128x1x1xf32> -> tensor<1x128xf32>
// CHECK: nn.layer "relu" extras(%[[V]] : tensor<1x128xf32>) -> tensor<1x128xf32>
// CHECK: nn.layer "softmax" inputs(%[[V]] : tensor<1x128xf32>)
func.func @follow(%x: tensor<1x128x32x32xf32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %w = nn.constant dense<0.5> : tensor<128x128x1x1xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x128x32x32xf32>, tensor<128x128x1x1xf32>) -> tensor<1x128x32x32xf32> anchor {
  ^bb0(%ax: tensor<1x128x32x32xf32>, %aw: tensor<128x128x1x1xf32>):
    %5 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x128x32x32xf32>, tensor<128x128x1x1xf32>) -> tensor<1x128x32x32xf32>
    nn.yield %5 : tensor<1x128x32x32xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "pool" inputs(%0 : tensor<1x128x32x32xf32>) -> tensor<1x128x1x1xf32> anchor {
  ^bb0(%ax: tensor<1x128x32x32xf32>):
    %5 = nn.avg_pool %ax {kernel = array<i64: 32, 32>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x128x32x32xf32>) -> tensor<1x128x1x1xf32>
    nn.yield %5 : tensor<1x128x1x1xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %2 = nn.reshape %1 : tensor<1x128x1x1xf32> -> tensor<1x128xf32>
  %3 = nn.layer "relu" extras(%2 : tensor<1x128xf32>) -> tensor<1x128xf32> epilogue {
  ^bb0(%e: f32):
    %5 = nn.relu %e : f32
    nn.yield %5 : f32
  }
  %4 = nn.layer "softmax" inputs(%2 : tensor<1x128xf32>) -> tensor<1x128xf32> anchor {
  ^bb0(%ax: tensor<1x128xf32>):
    %5 = nn.softmax %ax {axis = 1 : i64, log = false} : (tensor<1x128xf32>) -> tensor<1x128xf32>
    nn.yield %5 : tensor<1x128xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %3, %4 : tensor<1x128xf32>, tensor<1x128xf32>
}

// -----
// A weight that is too large for a half: the layer stays as it is.

// CHECK-LABEL: func.func @too_large
// CHECK-NOT: f16
// CHECK: return
func.func @too_large(%x: tensor<1x128x32x32xf32>) -> tensor<1x128x32x32xf32> {
  %w = nn.constant dense<1.0e5> : tensor<128x128x1x1xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x128x32x32xf32>, tensor<128x128x1x1xf32>) -> tensor<1x128x32x32xf32> anchor {
  ^bb0(%ax: tensor<1x128x32x32xf32>, %aw: tensor<128x128x1x1xf32>):
    %1 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x128x32x32xf32>, tensor<128x128x1x1xf32>) -> tensor<1x128x32x32xf32>
    nn.yield %1 : tensor<1x128x32x32xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<1x128x32x32xf32>
}

// -----
// Layers without products take halves, and their constants are rounded. A sum
// of squares has no routine for halves. What the caller gets is cast before the
// last softmax, not behind it.

// CHECK-LABEL: func.func @rows
// CHECK: nn.layer "conv" {{.*}} -> tensor<1x128x32x32xf16, #nn.layout<NCHW8c>>
// CHECK: nn.layer "resize" {{.*}} -> tensor<1x128x64x64xf16, #nn.layout<NCHW8c>>
// CHECK: %[[V:.*]] = nn.reshape {{.*}} : tensor<1x128x64x64xf16> -> tensor<1x128x4096xf16>
// CHECK-COUNT-2: nn.constant dense<{{.*}}> : tensor<4096xf16>
// CHECK: %[[N:.*]] = nn.layer "norm" inputs(%[[V]], {{.*}} -> tensor<1x128x4096xf16>
// CHECK: %[[P:.*]] = nn.layer "softmax" inputs(%[[N]] : tensor<1x128x4096xf16>) -> tensor<1x128x4096xf16>
// CHECK: %[[PF:.*]] = nn.layer "softmax_f32"
// CHECK: %[[M:.*]] = nn.layer "mean" inputs(%[[P]] : tensor<1x128x4096xf16>) -> tensor<1x128xf16>
// CHECK: %[[MF:.*]] = nn.layer "mean_f32"
// CHECK: nn.layer "squares" inputs(%[[PF]] : tensor<1x128x4096xf32>) -> tensor<1x128xf32>
// CHECK: nn.layer "last" inputs(%[[MF]] : tensor<1x128xf32>) -> tensor<1x128xf32>
// CHECK-NOT: nn.layer
// CHECK: return
func.func @rows(%x: tensor<1x128x32x32xf32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %w = nn.constant dense<0.5> : tensor<128x128x1x1xf32>
  %s = nn.constant dense<0.1> : tensor<4096xf32>
  %b = nn.constant dense<0.3> : tensor<4096xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x128x32x32xf32>, tensor<128x128x1x1xf32>) -> tensor<1x128x32x32xf32> anchor {
  ^bb0(%ax: tensor<1x128x32x32xf32>, %aw: tensor<128x128x1x1xf32>):
    %9 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x128x32x32xf32>, tensor<128x128x1x1xf32>) -> tensor<1x128x32x32xf32>
    nn.yield %9 : tensor<1x128x32x32xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "resize" inputs(%0 : tensor<1x128x32x32xf32>) -> tensor<1x128x64x64xf32> anchor {
  ^bb0(%ax: tensor<1x128x32x32xf32>):
    %9 = nn.resize nearest asymmetric floor %ax {scales = array<f64: 2.0, 2.0>, cubic_a = -7.5e-01 : f64, exclude_outside = false} : tensor<1x128x32x32xf32> -> tensor<1x128x64x64xf32>
    nn.yield %9 : tensor<1x128x64x64xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %2 = nn.reshape %1 : tensor<1x128x64x64xf32> -> tensor<1x128x4096xf32>
  %3 = nn.layer "norm" inputs(%2, %s, %b : tensor<1x128x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<1x128x4096xf32> anchor {
  ^bb0(%ax: tensor<1x128x4096xf32>, %as: tensor<4096xf32>, %ab: tensor<4096xf32>):
    %9 = nn.layer_norm %ax, %as, %ab {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<1x128x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<1x128x4096xf32>
    nn.yield %9 : tensor<1x128x4096xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %4 = nn.layer "softmax" inputs(%3 : tensor<1x128x4096xf32>) -> tensor<1x128x4096xf32> anchor {
  ^bb0(%ax: tensor<1x128x4096xf32>):
    %9 = nn.softmax %ax {axis = 2 : i64, log = false} : (tensor<1x128x4096xf32>) -> tensor<1x128x4096xf32>
    nn.yield %9 : tensor<1x128x4096xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %5 = nn.layer "mean" inputs(%4 : tensor<1x128x4096xf32>) -> tensor<1x128xf32> anchor {
  ^bb0(%ax: tensor<1x128x4096xf32>):
    %9 = nn.reduce mean %ax {axes = array<i64: 2>, keepdims = false} : (tensor<1x128x4096xf32>) -> tensor<1x128xf32>
    nn.yield %9 : tensor<1x128xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %6 = nn.layer "squares" inputs(%4 : tensor<1x128x4096xf32>) -> tensor<1x128xf32> anchor {
  ^bb0(%ax: tensor<1x128x4096xf32>):
    %9 = nn.reduce sum_square %ax {axes = array<i64: 2>, keepdims = false} : (tensor<1x128x4096xf32>) -> tensor<1x128xf32>
    nn.yield %9 : tensor<1x128xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %7 = nn.layer "last" inputs(%5 : tensor<1x128xf32>) -> tensor<1x128xf32> anchor {
  ^bb0(%ax: tensor<1x128xf32>):
    %9 = nn.softmax %ax {axis = 1 : i64, log = false} : (tensor<1x128xf32>) -> tensor<1x128xf32>
    nn.yield %9 : tensor<1x128xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %6, %7 : tensor<1x128xf32>, tensor<1x128xf32>
}

// -----
// CHECK-LABEL: func.func @transposed
// CHECK: nn.layer "input_f16"
// CHECK: nn.layer "up" {{.*}} -> tensor<1x128x64x64xf16, #nn.layout<NCHW8c>>
// CHECK: nn.layer "up_f32"
func.func @transposed(%x: tensor<1x128x32x32xf32>) -> tensor<1x128x64x64xf32> {
  %w = nn.constant dense<0.5> : tensor<128x128x2x2xf32>
  %0 = nn.layer "up" inputs(%x, %w : tensor<1x128x32x32xf32>, tensor<128x128x2x2xf32>) -> tensor<1x128x64x64xf32> anchor {
  ^bb0(%ax: tensor<1x128x32x32xf32>, %aw: tensor<128x128x2x2xf32>):
    %1 = nn.conv_transpose %ax, %aw {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x128x32x32xf32>, tensor<128x128x2x2xf32>) -> tensor<1x128x64x64xf32>
    nn.yield %1 : tensor<1x128x64x64xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<1x128x64x64xf32>
}

// -----
// The mask stays what it is: what hides keys may be no half.

// CHECK-LABEL: func.func @attention
// CHECK: %[[M:.*]] = nn.constant dense<-3.40282347E+38> : tensor<1x1x1x128xf32>
// CHECK: nn.layer "attention" inputs({{.*}}, %[[M]] : {{.*}} -> tensor<1x128x256xf16>
func.func @attention(%x: tensor<1x128x768xf32>) -> tensor<1x128x256xf32> {
  %m = nn.constant dense<-3.40282347E+38> : tensor<1x1x1x128xf32>
  %0 = nn.layer "attention" inputs(%x, %x, %x, %m : tensor<1x128x768xf32>, tensor<1x128x768xf32>, tensor<1x128x768xf32>, tensor<1x1x1x128xf32>) -> tensor<1x128x256xf32> anchor {
  ^bb0(%q: tensor<1x128x768xf32>, %k: tensor<1x128x768xf32>, %v: tensor<1x128x768xf32>, %am: tensor<1x1x1x128xf32>):
    %1 = nn.attention %q, %k, %v, %am {heads = 4 : i64, dim = 64 : i64, value_dim = 64 : i64, starts = array<i64: 0, 256, 512>, scale = 0.5 : f64} : (tensor<1x128x768xf32>, tensor<1x128x768xf32>, tensor<1x128x768xf32>, tensor<1x1x1x128xf32>) -> tensor<1x128x256xf32>
    nn.yield %1 : tensor<1x128x256xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<1x128x256xf32>
}

// -----
// A scale and a bias for each channel stay what they are. A product of two
// values takes halves.

// CHECK-LABEL: func.func @scaled
// CHECK: nn.layer "conv" inputs({{.*}} : tensor<1x128x32x32xf16, #nn.layout<NCHW8c>>, tensor<1x128x1x1xf32, #nn.layout<NCHW8c>>, tensor<1x128x1x1xf32, #nn.layout<NCHW8c>>, tensor<256x128x1x1xf16, {{.*}} -> tensor<1x256x32x32xf16, #nn.layout<NCHW8c>>
// CHECK: nn.layer "product" inputs({{.*}} : tensor<1x256x1024xf16>, tensor<1x256x1024xf16, #nn.layout<ABC8b>>) -> tensor<1x256x256xf16>
func.func @scaled(%x: tensor<1x128x32x32xf32>) -> tensor<1x256x256xf32> {
  %s = nn.constant dense<0.5> : tensor<1x128x1x1xf32>
  %b = nn.constant dense<0.1> : tensor<1x128x1x1xf32>
  %v = nn.constant dense<0.3> : tensor<256x128x1x1xf32>
  %0 = nn.layer "conv" inputs(%x, %s, %b, %v : tensor<1x128x32x32xf32>, tensor<1x128x1x1xf32>, tensor<1x128x1x1xf32>, tensor<256x128x1x1xf32>) -> tensor<1x256x32x32xf32> anchor {
  ^bb0(%ax: tensor<1x128x32x32xf32>, %as: tensor<1x128x1x1xf32>, %ab: tensor<1x128x1x1xf32>, %av: tensor<256x128x1x1xf32>):
    %9 = nn.scaled_conv relu %ax, %as, %ab, %av : (tensor<1x128x32x32xf32>, tensor<1x128x1x1xf32>, tensor<1x128x1x1xf32>, tensor<256x128x1x1xf32>) -> tensor<1x256x32x32xf32>
    nn.yield %9 : tensor<1x256x32x32xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.reshape %0 : tensor<1x256x32x32xf32> -> tensor<1x256x1024xf32>
  %2 = nn.layer "product" inputs(%1, %1 : tensor<1x256x1024xf32>, tensor<1x256x1024xf32>) -> tensor<1x256x256xf32> anchor {
  ^bb0(%ax: tensor<1x256x1024xf32>, %bx: tensor<1x256x1024xf32>):
    %9 = nn.matmul %ax, %bx {transpose_a = false, transpose_b = true} : (tensor<1x256x1024xf32>, tensor<1x256x1024xf32>) -> tensor<1x256x256xf32>
    nn.yield %9 : tensor<1x256x256xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %2 : tensor<1x256x256xf32>
}

// -----

// A network so small that the casts would take longer than halves save.

// CHECK-LABEL: func.func @small
// CHECK-NOT: f16
// CHECK: return
func.func @small(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> anchor {
  ^bb0(%ax: tensor<1x8x4x4xf32>, %aw: tensor<8x8x1x1xf32>):
    %1 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    nn.yield %1 : tensor<1x8x4x4xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<1x8x4x4xf32>
}
