// RUN: nnc-opt --nnc-recompose --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-test-equivalence=passes=nnc-recompose --split-input-file %s

// As paddle2onnx writes it.
// CHECK-LABEL: @hard_swish_div
// CHECK-NEXT: nn.hard_swish %arg0
// CHECK-NEXT: return
func.func @hard_swish_div(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %three = nn.constant dense<3.0> : tensor<1xf32>
  %six = nn.constant dense<6.0> : tensor<1xf32>
  %0 = nn.add %x, %three : tensor<1x8x4x4xf32>, tensor<1xf32>
  %1 = nn.clip %0 {min = 0.0 : f64, max = 6.0 : f64} : tensor<1x8x4x4xf32>
  %2 = nn.mul %x, %1 : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
  %3 = nn.div %2, %six : tensor<1x8x4x4xf32>, tensor<1xf32>
  return %3 : tensor<1x8x4x4xf32>
}

// -----

// The number in front, as a factor of the gate, and the clip as max and min.
// CHECK-LABEL: @hard_swish_mul
// CHECK-NEXT: nn.hard_swish %arg0
// CHECK-NEXT: return
func.func @hard_swish_mul(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %six = nn.constant dense<6.0> : tensor<f32>
  %sixth = nn.constant dense<0.16666667> : tensor<f32>
  %0 = nn.add %three, %x : tensor<f32>, tensor<2x3xf32>
  %1 = nn.max %0, %zero : tensor<2x3xf32>, tensor<f32>
  %2 = nn.min %1, %six : tensor<2x3xf32>, tensor<f32>
  %3 = nn.mul %sixth, %2 : tensor<f32>, tensor<2x3xf32>
  %4 = nn.mul %3, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}

// -----

// As PyTorch writes it: x times the operator HardSigmoid.
// CHECK-LABEL: @hard_swish_gate
// CHECK-NEXT: nn.hard_swish %arg0
// CHECK-NEXT: return
func.func @hard_swish_gate(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.hard_sigmoid %x {alpha = 0.1666666716337204 : f64, beta = 0.5 : f64} : tensor<2x3xf32>
  %1 = nn.mul %x, %0 : tensor<2x3xf32>, tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// PaddlePaddle's hard-sigmoid has a slope of 0.2: not a hard-swish.
// CHECK-LABEL: @not_hard_swish
// CHECK-NEXT: nn.hard_sigmoid
// CHECK-NEXT: nn.mul
func.func @not_hard_swish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.hard_sigmoid %x {alpha = 0.2 : f64, beta = 0.5 : f64} : tensor<2x3xf32>
  %1 = nn.mul %x, %0 : tensor<2x3xf32>, tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// The next scale and shift have met the sixth: one number is left of both.
// CHECK-LABEL: @hard_swish_and_scale
// CHECK-NEXT: %[[T:.*]] = nn.constant dense<2.500000e-01>
// CHECK-NEXT: %[[S:.*]] = nn.constant dense<3.000000e+00>
// CHECK-NEXT: %[[H:.*]] = nn.hard_swish %arg0
// CHECK-NEXT: %[[M:.*]] = nn.mul %[[H]], %[[S]]
// CHECK-NEXT: nn.add %[[M]], %[[T]]
func.func @hard_swish_and_scale(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %three = nn.constant dense<3.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %quarter = nn.constant dense<0.25> : tensor<f32>
  %0 = nn.add %x, %three : tensor<2x3xf32>, tensor<f32>
  %1 = nn.clip %0 {min = 0.0 : f64, max = 6.0 : f64} : tensor<2x3xf32>
  %2 = nn.mul %x, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  %3 = nn.mul %2, %half : tensor<2x3xf32>, tensor<f32>
  %4 = nn.add %3, %quarter : tensor<2x3xf32>, tensor<f32>
  return %4 : tensor<2x3xf32>
}

// -----

// Squeeze and excitation: the gate of one tensor scales another.
// CHECK-LABEL: @hard_sigmoid
// CHECK-NEXT: %[[G:.*]] = nn.hard_sigmoid %arg0 {alpha = 0.16666666666666666 : f64, beta = 5.000000e-01 : f64}
// CHECK-NEXT: nn.mul %arg1, %[[G]]
func.func @hard_sigmoid(%x: tensor<1x8x1x1xf32>, %y: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %three = nn.constant dense<3.0> : tensor<f32>
  %six = nn.constant dense<6.0> : tensor<f32>
  %0 = nn.add %x, %three : tensor<1x8x1x1xf32>, tensor<f32>
  %1 = nn.clip %0 {min = 0.0 : f64, max = 6.0 : f64} : tensor<1x8x1x1xf32>
  %2 = nn.div %1, %six : tensor<1x8x1x1xf32>, tensor<f32>
  %3 = nn.mul %y, %2 : tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>
  return %3 : tensor<1x8x4x4xf32>
}

// -----

// CHECK-LABEL: @hard_sigmoid_to_one
// CHECK-NEXT: nn.hard_sigmoid %arg0 {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64}
func.func @hard_sigmoid_to_one(%x: tensor<5x4xf64>) -> tensor<5x4xf64> {
  %slope = nn.constant dense<0.2> : tensor<f64>
  %half = nn.constant dense<0.5> : tensor<f64>
  %0 = nn.mul %x, %slope : tensor<5x4xf64>, tensor<f64>
  %1 = nn.add %0, %half : tensor<5x4xf64>, tensor<f64>
  %2 = nn.clip %1 {min = 0.0 : f64, max = 1.0 : f64} : tensor<5x4xf64>
  return %2 : tensor<5x4xf64>
}

// -----

// PaddlePaddle multiplies by beta = 1 first.
// CHECK-LABEL: @silu
// CHECK-NEXT: nn.silu %arg0
// CHECK-NEXT: return
func.func @silu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = nn.constant dense<1.0> : tensor<1xf32>
  %0 = nn.mul %x, %one : tensor<2x3xf32>, tensor<1xf32>
  %1 = nn.sigmoid %0 : tensor<2x3xf32>
  %2 = nn.mul %x, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @silu_and_sigmoid_with_exp
// CHECK-DAG: %[[A:.*]] = nn.silu %arg0
// CHECK-DAG: %[[B:.*]] = nn.sigmoid %arg0
// CHECK-DAG: %[[C:.*]] = nn.sigmoid %arg1
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @silu_and_sigmoid_with_exp(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.exp %0 : tensor<2x3xf32>
  %2 = nn.add %1, %one : tensor<2x3xf32>, tensor<f32>
  %3 = nn.div %x, %2 : tensor<2x3xf32>, tensor<2x3xf32>
  %4 = nn.div %one, %2 : tensor<f32>, tensor<2x3xf32>
  %5 = nn.neg %y : tensor<2x3xf32>
  %6 = nn.exp %5 : tensor<2x3xf32>
  %7 = nn.add %one, %6 : tensor<f32>, tensor<2x3xf32>
  %8 = nn.reciprocal %7 : tensor<2x3xf32>
  return %3, %4, %8 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// As PyTorch writes it: x * (1 + erf(x / sqrt(2))) * 0.5.
// CHECK-LABEL: @gelu_erf
// CHECK-NEXT: nn.gelu %arg0
// CHECK-NEXT: return
func.func @gelu_erf(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %root = nn.constant dense<1.4142135381698608> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.div %x, %root : tensor<2x3xf32>, tensor<f32>
  %1 = nn.erf %0 : tensor<2x3xf32>
  %2 = nn.add %1, %one : tensor<2x3xf32>, tensor<f32>
  %3 = nn.mul %x, %2 : tensor<2x3xf32>, tensor<2x3xf32>
  %4 = nn.mul %3, %half : tensor<2x3xf32>, tensor<f32>
  return %4 : tensor<2x3xf32>
}

// -----

// The half on x, on the gate, inside of it.
// CHECK-LABEL: @gelu_erf_variants
// CHECK-DAG: %[[A:.*]] = nn.gelu %arg0
// CHECK-DAG: %[[B:.*]] = nn.gelu %arg1
// CHECK-DAG: %[[C:.*]] = nn.gelu %arg2
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @gelu_erf_variants(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %root = nn.constant dense<0.707106769> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %two = nn.constant dense<2.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.mul %x, %root : tensor<2x3xf32>, tensor<f32>
  %1 = nn.erf %0 : tensor<2x3xf32>
  %2 = nn.add %one, %1 : tensor<f32>, tensor<2x3xf32>
  %3 = nn.div %x, %two : tensor<2x3xf32>, tensor<f32>
  %4 = nn.mul %3, %2 : tensor<2x3xf32>, tensor<2x3xf32>
  %5 = nn.mul %y, %root : tensor<2x3xf32>, tensor<f32>
  %6 = nn.erf %5 : tensor<2x3xf32>
  %7 = nn.add %6, %one : tensor<2x3xf32>, tensor<f32>
  %8 = nn.mul %7, %half : tensor<2x3xf32>, tensor<f32>
  %9 = nn.mul %8, %y : tensor<2x3xf32>, tensor<2x3xf32>
  %10 = nn.mul %z, %root : tensor<2x3xf32>, tensor<f32>
  %11 = nn.erf %10 : tensor<2x3xf32>
  %12 = nn.mul %11, %half : tensor<2x3xf32>, tensor<f32>
  %13 = nn.add %12, %half : tensor<2x3xf32>, tensor<f32>
  %14 = nn.mul %z, %13 : tensor<2x3xf32>, tensor<2x3xf32>
  return %4, %9, %14 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// 1.4142 is not the square root of 2 as an f32.
// CHECK-LABEL: @nearly_gelu
// CHECK: nn.erf
// CHECK-NOT: nn.gelu
func.func @nearly_gelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %root = nn.constant dense<1.4142> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.div %x, %root : tensor<2x3xf32>, tensor<f32>
  %1 = nn.erf %0 : tensor<2x3xf32>
  %2 = nn.add %1, %one : tensor<2x3xf32>, tensor<f32>
  %3 = nn.mul %x, %2 : tensor<2x3xf32>, tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// -----

// With x^3 as a power, and as products with the inner number distributed.
// CHECK-LABEL: @gelu_tanh
// CHECK-DAG: %[[A:.*]] = nn.gelu_tanh %arg0
// CHECK-DAG: %[[B:.*]] = nn.gelu_tanh %arg1
// CHECK: return %[[A]], %[[B]]
func.func @gelu_tanh(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %c = nn.constant dense<0.044715> : tensor<f32>
  %r = nn.constant dense<0.797884583> : tensor<f32>
  %0 = nn.pow %x, %three : tensor<2x3xf32>, tensor<f32>
  %1 = nn.mul %0, %c : tensor<2x3xf32>, tensor<f32>
  %2 = nn.add %x, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  %3 = nn.mul %2, %r : tensor<2x3xf32>, tensor<f32>
  %4 = nn.tanh %3 : tensor<2x3xf32>
  %5 = nn.add %4, %one : tensor<2x3xf32>, tensor<f32>
  %6 = nn.mul %x, %half : tensor<2x3xf32>, tensor<f32>
  %7 = nn.mul %6, %5 : tensor<2x3xf32>, tensor<2x3xf32>
  %8 = nn.mul %y, %c : tensor<2x3xf32>, tensor<f32>
  %9 = nn.mul %8, %y : tensor<2x3xf32>, tensor<2x3xf32>
  %10 = nn.add %9, %one : tensor<2x3xf32>, tensor<f32>
  %11 = nn.mul %y, %r : tensor<2x3xf32>, tensor<f32>
  %12 = nn.mul %11, %10 : tensor<2x3xf32>, tensor<2x3xf32>
  %13 = nn.tanh %12 : tensor<2x3xf32>
  %14 = nn.add %13, %one : tensor<2x3xf32>, tensor<f32>
  %15 = nn.mul %y, %14 : tensor<2x3xf32>, tensor<2x3xf32>
  %16 = nn.mul %15, %half : tensor<2x3xf32>, tensor<f32>
  return %7, %16 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @mish
// CHECK-NEXT: nn.mish %arg0
// CHECK-NEXT: return
func.func @mish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.softplus %x : tensor<2x3xf32>
  %1 = nn.tanh %0 : tensor<2x3xf32>
  %2 = nn.mul %x, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// A third factor stays one.
// CHECK-LABEL: @gate_among_factors
// CHECK-NEXT: %[[S:.*]] = nn.silu %arg0
// CHECK-NEXT: nn.mul %[[S]], %arg1
func.func @gate_among_factors(%x: tensor<2x3xf32>, %y: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %0 = nn.sigmoid %x : tensor<2x3xf32>
  %1 = nn.mul %x, %y : tensor<2x3xf32>, tensor<4x2x3xf32>
  %2 = nn.mul %1, %0 : tensor<4x2x3xf32>, tensor<2x3xf32>
  return %2 : tensor<4x2x3xf32>
}

// -----

// CHECK-LABEL: @bounds
// CHECK-DAG: %[[A:.*]] = nn.clip %arg0 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64}
// CHECK-DAG: %[[B:.*]] = nn.relu %arg1
// CHECK-DAG: %[[C:.*]] = nn.clip %arg2 {max = 2.000000e+00 : f64, min = -1.000000e+00 : f64}
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @bounds(%x: tensor<9xf32>, %y: tensor<9xf32>, %z: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) {
  %six = nn.constant dense<6.0> : tensor<f32>
  %zero = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.relu %x : tensor<9xf32>
  %1 = nn.min %0, %six : tensor<9xf32>, tensor<f32>
  %2 = nn.clip %y {min = 0.0 : f64, max = 3.4028234663852886e+38 : f64} : tensor<9xf32>
  %3 = nn.clip %z {min = -3.0 : f64, max = 2.0 : f64} : tensor<9xf32>
  %4 = nn.clip %3 {min = -1.0 : f64, max = 5.0 : f64} : tensor<9xf32>
  return %1, %2, %4 : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>
}
