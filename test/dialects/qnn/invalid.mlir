// RUN: nnc-opt --split-input-file --verify-diagnostics %s

func.func @shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.quantize' op changes the shape of 'tensor<4xf32>' to 'tensor<5x!quant.uniform<u8:f32, 2.000000e-02>>'}}
  %0 = qnn.quantize half_even %x : tensor<4xf32> -> tensor<5x!quant.uniform<u8:f32, 0.02>>
  return
}

// -----

func.func @not_quantized(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.quantize' op needs a type with scale and zero point, not 'tensor<4xui8>'}}
  %0 = qnn.quantize half_even %x : tensor<4xf32> -> tensor<4xui8>
  return
}

// -----

func.func @too_wide(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.quantize' op quantizes to at most 16 bits}}
  %0 = qnn.quantize half_even %x : tensor<4xf32> -> tensor<4x!quant.uniform<i32:f32, 0.02>>
  return
}

// -----

func.func @scales(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'qnn.quantize' op has 2 scales along axis 1 of}}
  %0 = qnn.quantize half_even %x : tensor<4x3xf32> -> tensor<4x3x!quant.uniform<i8:f32:1, {0.02, 0.5}>>
  return
}

// -----

func.func @storage(%x: tensor<4x!quant.uniform<u8:f32, 0.02>>) {
  // expected-error@+1 {{'qnn.reinterpret' op finds 'tensor<4xui8>' in 'tensor<4x!quant.uniform<u8:f32, 2.000000e-02>>', not 'tensor<4xi8>'}}
  %0 = qnn.reinterpret %x : tensor<4x!quant.uniform<u8:f32, 0.02>> -> tensor<4xi8>
  return
}

// -----

func.func @both_sides(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.reinterpret' op needs a quantized tensor on one side}}
  %0 = qnn.reinterpret %x : tensor<4xf32> -> tensor<4xi8>
  return
}

// -----

func.func @axes(%x: tensor<2x2x!quant.uniform<i32:f32:0, {0.02, 0.5}>>) {
  // expected-error@+1 {{'qnn.requantize' op has scales along axis 0 of its operand and 1 of its result}}
  %0 = qnn.requantize real %x : tensor<2x2x!quant.uniform<i32:f32:0, {0.02, 0.5}>> -> tensor<2x2x!quant.uniform<i8:f32:1, {0.02, 0.5}>>
  return
}

// -----

func.func @sums(%x: tensor<1x1x2x2x!quant.uniform<u8:f32, 0.02:1>>, %w: tensor<1x1x1x1x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'qnn.conv' op sums in i32, not in 'tensor<1x1x2x2x!quant.uniform<i16:f32, 1.000000e-02>>'}}
  %0 = qnn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2x!quant.uniform<u8:f32, 0.02:1>>, tensor<1x1x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x1x2x2x!quant.uniform<i16:f32, 1.0e-02>>
  return
}

// -----

func.func @sums_zero(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:1>>, %b: tensor<3x4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'qnn.matmul' op has sums with a zero point}}
  %0 = qnn.matmul %a, %b : (tensor<2x3x!quant.uniform<u8:f32, 0.02:1>>, tensor<3x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x4x!quant.uniform<i32:f32, 1.0e-02:7>>
  return
}

// -----

func.func @rows(%a: tensor<2x3x!quant.uniform<u8:f32:0, {0.02, 0.04}>>, %b: tensor<3x4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'qnn.matmul' op has a first operand with scales along axis 0; it may have only one scale}}
  %0 = qnn.matmul %a, %b : (tensor<2x3x!quant.uniform<u8:f32:0, {0.02, 0.04}>>, tensor<3x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x4x!quant.uniform<i32:f32, 1.0e-02>>
  return
}

// -----

func.func @product_shape(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02>>, %b: tensor<3x4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'qnn.matmul' op has a result of type 'tensor<2x3x!quant.uniform<i32:f32, 1.000000e-02>>'; its shape has to be that of 'tensor<2x4x}}
  %0 = qnn.matmul %a, %b : (tensor<2x3x!quant.uniform<u8:f32, 0.02>>, tensor<3x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x3x!quant.uniform<i32:f32, 1.0e-02>>
  return
}

// -----

func.func @blocks_divide(%q: tensor<64x3xi8>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{'qnn.dequantize_blocks' op has blocks of 48, which do not divide an axis of 64}}
  %0 = qnn.dequantize_blocks %q, %s {axis = 0 : i64, block = 48 : i64} : tensor<64x3xi8>, tensor<2x3xf32> -> tensor<64x3xf32>
  return
}

// -----

func.func @blocks_scales(%q: tensor<64x3xi8>, %s: tensor<3x3xf32>) {
  // expected-error@+1 {{'qnn.dequantize_blocks' op needs 2 x 3 scales and zero points}}
  %0 = qnn.dequantize_blocks %q, %s {axis = 0 : i64, block = 32 : i64} : tensor<64x3xi8>, tensor<3x3xf32> -> tensor<64x3xf32>
  return
}

// -----

func.func @shift_of_fixed_point(%x: tensor<2x2x!quant.uniform<i32:f32, 0.02>>, %s: tensor<2xf32>) {
  // expected-error@+1 {{'qnn.requantize' op has a shift, which only 'real' takes}}
  %0 = qnn.requantize single_rounding %x, %s : tensor<2x2x!quant.uniform<i32:f32, 0.02>>, tensor<2xf32> -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @shift_of_other_shape(%x: tensor<2x2x!quant.uniform<i32:f32, 0.02>>, %s: tensor<3xf32>) {
  // expected-error@+1 {{'qnn.requantize' op has a shift of 'tensor<3xf32>', which does not broadcast to}}
  %0 = qnn.requantize real %x, %s : tensor<2x2x!quant.uniform<i32:f32, 0.02>>, tensor<3xf32> -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  return
}
