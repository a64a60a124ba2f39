// RUN: nnc-opt %s --split-input-file --nnc-choose-routines="target=portable weights-encoding=codebook" | FileCheck %s
// RUN: nnc-opt %s --split-input-file --nnc-choose-routines="target=portable weights-encoding=codebook" --nnc-check-routines --nnc-assign-threads --nnc-plan-memory --nnc-lower-to-exec | FileCheck %s --check-prefix=EXEC

// Filters that would take more memory, decoded, than the images: both layers
// decode a strip of them at a time, from the same bytes.

// CHECK-LABEL: func.func @strips
// CHECK: %[[STORED:.*]] = nn.constant {{.*}} : tensor<{{[0-9]+}}xui8>
// CHECK-NOT: nn.decode
// CHECK: nn.layer "first" inputs(%{{.*}}, %[[STORED]] : {{.*}}routine = "stored_conv2d_f32_portable"
// CHECK: nn.stored_conv {{.*}} <form = 0, elements = 4096, block = 4096, {{.*}}> {{{.*}}filters = 64 : i64{{.*}}order = 4 : i64{{.*}}strip = 8 : i64
// CHECK: nn.layer "second" inputs(%{{.*}}, %[[STORED]] :

// EXEC: exec.call "first" stored_conv2d_f32_portable
// EXEC: exec.call "second" stored_conv2d_f32_portable
func.func @strips(%x: tensor<1x64x2x2xf32>) -> tensor<1x64x2x2xf32> {
  %w = nn.constant dense<0.5> : tensor<64x64x1x1xf32>
  %0 = nn.layer "first" inputs(%x, %w : tensor<1x64x2x2xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x2x2xf32> anchor {
  ^bb0(%p: tensor<1x64x2x2xf32>, %q: tensor<64x64x1x1xf32>):
    %y = nn.conv %p, %q {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x64x2x2xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x2x2xf32>
    nn.yield %y : tensor<1x64x2x2xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "second" inputs(%0, %w : tensor<1x64x2x2xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x2x2xf32> anchor {
  ^bb0(%p: tensor<1x64x2x2xf32>, %q: tensor<64x64x1x1xf32>):
    %y = nn.conv %p, %q {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x64x2x2xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x2x2xf32>
    nn.yield %y : tensor<1x64x2x2xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %1 : tensor<1x64x2x2xf32>
}

// -----

// The images of the first layer take more memory than the filters of the
// second one, which are decoded whole where these images are no longer needed.

// CHECK-LABEL: func.func @room
// CHECK: %[[W:.*]] = nn.decode
// CHECK: nn.layer "pointwise" inputs(%{{.*}}, %[[W]] :
func.func @room(%x: tensor<1x8x40x40xf32>) -> tensor<1x64x1x1xf32> {
  %w = nn.constant dense<0.5> : tensor<64x8x1x1xf32>
  %0 = nn.layer "large" inputs(%x : tensor<1x8x40x40xf32>) -> tensor<1x8x40x40xf32> anchor {
  ^bb0(%p: tensor<1x8x40x40xf32>):
    %y = nn.max_pool %p {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false} : (tensor<1x8x40x40xf32>) -> tensor<1x8x40x40xf32>
    nn.yield %y : tensor<1x8x40x40xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "small" inputs(%0 : tensor<1x8x40x40xf32>) -> tensor<1x8x1x1xf32> anchor {
  ^bb0(%p: tensor<1x8x40x40xf32>):
    %y = nn.max_pool %p {kernel = array<i64: 40, 40>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false} : (tensor<1x8x40x40xf32>) -> tensor<1x8x1x1xf32>
    nn.yield %y : tensor<1x8x1x1xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %2 = nn.layer "pointwise" inputs(%1, %w : tensor<1x8x1x1xf32>, tensor<64x8x1x1xf32>) -> tensor<1x64x1x1xf32> anchor {
  ^bb0(%p: tensor<1x8x1x1xf32>, %q: tensor<64x8x1x1xf32>):
    %y = nn.conv %p, %q {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x1x1xf32>, tensor<64x8x1x1xf32>) -> tensor<1x64x1x1xf32>
    nn.yield %y : tensor<1x64x1x1xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %2 : tensor<1x64x1x1xf32>
}
