// RUN: nnc-opt --split-input-file --verify-diagnostics %s

func.func @conv_channels(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error@+2 {{'nn.conv' op failed to infer returned types}}
  // expected-error@+1 {{has 3 input channels and 1 groups, which a weight of 4 x 2 channels does not fit}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_result(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'nn.conv' op failed to infer returned types}}
  // expected-error@+1 {{'nn.conv' op inferred type(s) 'tensor<1x4x6x6xf32>' are incompatible with return type(s) of operation 'tensor<1x4x8x8xf32>'}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @conv_kernel(%x: tensor<1x3x2x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'nn.conv' op failed to infer returned types}}
  // expected-error@+1 {{has a kernel larger than its padded input along spatial axis 0}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x3x2x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x1x6xf32>
  return
}

// -----

func.func @conv_strides(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{'nn.conv' op failed to infer returned types}}
  // expected-error@+1 {{needs positive kernel, strides and dilations and no negative pads}}
  %0 = nn.conv %x, %w {strides = array<i64: 0, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @separable_conv_filters(%x: tensor<1x8x9x9xf32>, %w: tensor<8x1x3x3xf32>, %b: tensor<1x8x1x1xf32>, %v: tensor<4x8x3x3xf32>) {
  // expected-error@+2 {{'nn.separable_conv' op failed to infer returned types}}
  // expected-error@+1 {{needs one filter and one bias for each of 8 channels, and then filters of one pixel of them all; has 'tensor<8x1x3x3xf32>', 'tensor<1x8x1x1xf32>' and 'tensor<4x8x3x3xf32>'}}
  %0 = nn.separable_conv relu %x, %w, %b, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x9x9xf32>, tensor<8x1x3x3xf32>, tensor<1x8x1x1xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x9x9xf32>
  return
}

// -----

func.func @separable_conv_depthwise(%x: tensor<1x8x9x9xf32>, %w: tensor<16x1x3x3xf32>, %b: tensor<1x8x1x1xf32>, %v: tensor<4x8x1x1xf32>) {
  // expected-error@+2 {{'nn.separable_conv' op failed to infer returned types}}
  // expected-error@+1 {{needs one filter and one bias for each of 8 channels}}
  %0 = nn.separable_conv relu %x, %w, %b, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x9x9xf32>, tensor<16x1x3x3xf32>, tensor<1x8x1x1xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x9x9xf32>
  return
}

// -----

func.func @expanded_conv_filters(%x: tensor<1x4x9x9xf32>, %v: tensor<8x5x1x1xf32>, %b: tensor<1x8x1x1xf32>, %w: tensor<8x1x3x3xf32>) {
  // expected-error@+2 {{'nn.expanded_conv' op failed to infer returned types}}
  // expected-error@+1 {{needs filters of one pixel of all channels of 'tensor<1x4x9x9xf32>', and one bias for each; has 'tensor<8x5x1x1xf32>' and 'tensor<1x8x1x1xf32>'}}
  %0 = nn.expanded_conv relu %x, %v, %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x9x9xf32>, tensor<8x5x1x1xf32>, tensor<1x8x1x1xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x9x9xf32>
  return
}

// -----

func.func @expanded_conv_depthwise(%x: tensor<1x4x9x9xf32>, %v: tensor<8x4x1x1xf32>, %b: tensor<1x8x1x1xf32>, %w: tensor<16x1x3x3xf32>) {
  // expected-error@+2 {{'nn.expanded_conv' op failed to infer returned types}}
  // expected-error@+1 {{needs one filter for each of 8 channels, then; has 'tensor<16x1x3x3xf32>'}}
  %0 = nn.expanded_conv silu %x, %v, %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x9x9xf32>, tensor<8x4x1x1xf32>, tensor<1x8x1x1xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x9x9xf32>
  return
}

// -----

func.func @scaled_conv_bias(%x: tensor<1x8x9x9xf32>, %s: tensor<1x8x1x1xf32>, %b: tensor<1x8x9x9xf32>, %v: tensor<4x8x1x1xf32>) {
  // expected-error@+2 {{'nn.scaled_conv' op failed to infer returned types}}
  // expected-error@+1 {{needs one scale and one bias for each of 8 channels, and filters of one pixel of them all; has 'tensor<1x8x1x1xf32>', 'tensor<1x8x9x9xf32>' and 'tensor<4x8x1x1xf32>'}}
  %0 = nn.scaled_conv relu %x, %s, %b, %v : (tensor<1x8x9x9xf32>, tensor<1x8x1x1xf32>, tensor<1x8x9x9xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x9x9xf32>
  return
}

// -----

func.func @scaled_conv_rank(%x: tensor<1x8xf32>, %s: tensor<1x8xf32>, %v: tensor<4x8xf32>) {
  // expected-error@+2 {{'nn.scaled_conv' op failed to infer returned types}}
  // expected-error@+1 {{needs 1 or 2 spatial axes, not 0}}
  %0 = nn.scaled_conv none %x, %s, %s, %v : (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @matmul_sizes(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+2 {{'nn.matmul' op failed to infer returned types}}
  // expected-error@+1 {{multiplies 2 x 3 by 4 x 5}}
  %0 = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @attention_heads(%x: tensor<1x5x24xf32>) {
  // expected-error@+2 {{'nn.attention' op failed to infer returned types}}
  // expected-error@+1 {{needs 2 heads of 4 elements from column 17 on of 'tensor<1x5x24xf32>'}}
  %0 = nn.attention %x, %x, %x {heads = 2 : i64, dim = 4 : i64, value_dim = 4 : i64, starts = array<i64: 0, 8, 17>, scale = 1.0 : f64} : (tensor<1x5x24xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>) -> tensor<1x5x8xf32>
  return
}

// -----

func.func @attention_values(%q: tensor<1x5x8xf32>, %k: tensor<1x6x8xf32>) {
  // expected-error@+2 {{'nn.attention' op failed to infer returned types}}
  // expected-error@+1 {{needs one batch, and a value for each key}}
  %0 = nn.attention %q, %k, %q {heads = 2 : i64, dim = 4 : i64, value_dim = 4 : i64, starts = array<i64: 0, 0, 0>, scale = 1.0 : f64} : (tensor<1x5x8xf32>, tensor<1x6x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  return
}

// -----

func.func @attention_mask(%x: tensor<1x5x8xf32>, %mask: tensor<1x1x5x1xf32>) {
  // expected-error@+2 {{'nn.attention' op failed to infer returned types}}
  // expected-error@+1 {{needs a mask that broadcasts to 'tensor<1x2x5x5xf32>' and has all keys}}
  %0 = nn.attention %x, %x, %x, %mask {heads = 2 : i64, dim = 4 : i64, value_dim = 4 : i64, starts = array<i64: 0, 0, 0>, scale = 1.0 : f64} : (tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x1x5x1xf32>) -> tensor<1x5x8xf32>
  return
}

// -----

func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<4xf32>) {
  // expected-error@+2 {{has operands that do not broadcast}}
  // expected-error@+1 {{'nn.add' op failed to infer returned types}}
  %0 = "nn.add"(%a, %b) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'nn.softmax' op failed to infer returned types}}
  // expected-error@+1 {{has axis 2 of a tensor of rank 2}}
  %0 = nn.softmax %x {axis = 2 : i64, log = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'nn.reshape' op cannot turn 'tensor<2x3xf32>' into 'tensor<7xf32>'}}
  %0 = nn.reshape %x : tensor<2x3xf32> -> tensor<7xf32>
  return
}

// -----

func.func @transpose(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'nn.transpose' op failed to infer returned types}}
  // expected-error@+1 {{needs a permutation of 2 axes}}
  %0 = nn.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>) {
  // expected-error@+2 {{'nn.slice' op failed to infer returned types}}
  // expected-error@+1 {{leaves its input along axis 0}}
  %0 = nn.slice %x {starts = array<i64: 2>, sizes = array<i64: 3>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @concat_elements(%x: tensor<4x2xi8>, %y: tensor<4x2xf32>) {
  // expected-error@+2 {{'nn.concat' op failed to infer returned types}}
  // expected-error@+1 {{joins tensors of different element types}}
  %0 = nn.concat %x, %y {axis = 0 : i64} : (tensor<4x2xi8>, tensor<4x2xf32>) -> tensor<8x2xi8>
  return
}

// -----

func.func @concat(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error@+2 {{'nn.concat' op failed to infer returned types}}
  // expected-error@+1 {{joins shapes that differ besides axis 0}}
  %0 = nn.concat %x, %y {axis = 0 : i64} : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @expand(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'nn.expand' op cannot broadcast 'tensor<2x3xf32>' to 'tensor<4x3xf32>'}}
  %0 = nn.expand %x : tensor<2x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @constant() {
  // expected-error@+1 {{'nn.constant' op has a value of type 'tensor<2xf32>' and a result of type 'tensor<3xf32>'}}
  %0 = nn.constant dense<1.0> : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @adapt(%x: tensor<1x16x2x2xf32>) {
  // expected-error@+1 {{'nn.adapt' op changes more than the layout}}
  %0 = nn.adapt %x : tensor<1x16x2x2xf32> -> tensor<1x16x4x1xf32, #nn.layout<NCHW16c>>
  return
}

// -----

func.func @lookup(%x: tensor<4xui8>) {
  // expected-error@+1 {{'nn.lookup' op needs a table of 'tensor<256xi8>', not 'tensor<255xi8>'}}
  %0 = nn.lookup %x {table = dense<7> : tensor<255xi8>} : tensor<4xui8> to tensor<4xi8>
  return
}

// -----

func.func @lookup_of_floats(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.lookup' op looks up integers of 8 bits, not 'f32'}}
  %0 = nn.lookup %x {table = dense<7> : tensor<256xi8>} : tensor<4xf32> to tensor<4xi8>
  return
}

// -----

func.func @cast(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.cast' op changes the shape}}
  %0 = nn.cast %x : tensor<4xf32> to tensor<2x2xi32>
  return
}

// -----

// expected-error@+1 {{'NCHW16c_winograd4' transforms taps, which only a weight has}}
func.func @layout_taps(%x: tensor<1x16x2x2xf32, #nn.layout<NCHW16c_winograd4>>) {
  return
}

// -----

// expected-error@+1 {{'KSC16k_folded_winograd3' parts rows and columns, which only a weight of four axes has}}
func.func @layout_folds(%x: tensor<16x4x3xf32, #nn.layout<KSC16k_folded_winograd3>>) {
  return
}

// -----

// expected-error@+1 {{layout 'KRSC16k_strided_winograd6' has 9 points along an axis of 7 taps; there can be up to 8}}
func.func @layout_points(%x: tensor<16x4x7x7xf32, #nn.layout<KRSC16k_strided_winograd6>>) {
  return
}

// -----

// expected-error@+1 {{layout 'KRSC16k_strided_winograd2' has 1 points along an axis of 1 taps}}
func.func @layout_parts(%x: tensor<16x4x1x3xf32, #nn.layout<KRSC16k_strided_winograd2>>) {
  return
}

// -----

// expected-error@+1 {{layout 'KRSC16k_strassen' cuts filters and channels into 2 equal parts each, of a weight of one tap}}
func.func @layout_halves(%x: tensor<32x31x1x1xf32, #nn.layout<KRSC16k_strassen>>) {
  return
}

// -----

// expected-error@+1 {{layout 'KRSC16k_strassen2' cuts filters and channels into 4 equal parts each, of a weight of one tap}}
func.func @layout_quarters(%x: tensor<32x30x1x1xf32, #nn.layout<KRSC16k_strassen2>>) {
  return
}

// -----

// expected-error@+1 {{layout 'KRSC16k_strassen' cuts filters and channels into 2 equal parts each, of a weight of one tap}}
func.func @layout_one_tap(%x: tensor<32x32x3x3xf32, #nn.layout<KRSC16k_strassen>>) {
  return
}

// -----

// expected-error@+1 {{layout 'KRSC16k_winograd4' has 10 points along an axis of 7 taps; there can be up to 8}}
func.func @layout_points(%x: tensor<16x16x7x7xf32, #nn.layout<KRSC16k_winograd4>>) {
  return
}

// -----

// expected-error@+1 {{'KRSC16k_codebook16' has tables of values, which only a matrix may have}}
func.func @layout_codebook(%x: tensor<32x32x1x1xf32, #nn.layout<KRSC16k_codebook16>>) {
  return
}

// -----

// expected-error@+1 {{'KN_codebook16' needs one block, of the columns of the result}}
func.func @layout_codebook_blocks(%x: tensor<32x32xf32, #nn.layout<KN_codebook16>>) {
  return
}

// -----

// expected-error@+1 {{layout 'NK2n_codebook16' needs blocks of a multiple of 4}}
func.func @layout_codebook_block(%x: tensor<32x32xf32, #nn.layout<NK2n_codebook16>>) {
  return
}

// -----

// expected-error@+1 {{layout 'NK16n_codebook16' does not encode elements of type 'f16'}}
func.func @layout_codebook_of(%x: tensor<32x32xf16, #nn.layout<NK16n_codebook16>>) {
  return
}

// -----

// expected-error@+1 {{'NK16n_int16' ends in 'int16', which is not an encoding of weights; there are bounded2, bounded4, ordered2, codebook16, fragments, grouped, integer_winograd2, int4, phases<s>, pixels, signed_pairs, strassen, strassen2, winograd<m>, strided_winograd<m>, folded_winograd<m>}}
func.func @layout_unknown_encoding(%x: tensor<32x32xf32, #nn.layout<NK16n_int16>>) {
  return
}

// -----

// expected-error@+1 {{'NK16n_winograd9' ends in 'winograd9', which is not an encoding of weights}}
func.func @layout_too_many_outputs(%x: tensor<32x32xf32, #nn.layout<NK16n_winograd9>>) {
  return
}

// -----

// expected-error@+1 {{layout 'KRSC8k4c_integer_winograd2' transforms only filters of 3 x 3 taps}}
func.func @layout_integer_winograd_taps(%x: tensor<8x4x1x1xi8, #nn.layout<KRSC8k4c_integer_winograd2>>) {
  return
}

// -----

// expected-error@+1 {{'KRSC8k_integer_winograd2' stores two numbers of 16 bits together: it needs the axes KCRS and blocks of 4c}}
func.func @layout_integer_winograd_blocks(%x: tensor<8x4x3x3xi8, #nn.layout<KRSC8k_integer_winograd2>>) {
  return
}

// -----

// expected-error@+1 {{layout 'KRSC8k4c_integer_winograd2' does not encode elements of type 'f32'}}
func.func @layout_integer_winograd_floats(%x: tensor<8x4x3x3xf32, #nn.layout<KRSC8k4c_integer_winograd2>>) {
  return
}

// -----

// expected-error@+1 {{layout 'KRSC16k_winograd4' does not encode elements of type 'i8'}}
func.func @layout_encodes_integers(%x: tensor<16x16x3x3xi8, #nn.layout<KRSC16k_winograd4>>) {
  return
}

// -----

// expected-error@+1 {{'A4a_strassen' needs one block, of the filters, which are one of the first two axes}}
func.func @layout_strassen_of_a_vector(%x: tensor<32xf32, #nn.layout<A4a_strassen>>) {
  return
}

// -----

// expected-error@+1 {{'KRSC16s_strassen' needs one block, of the filters, which are one of the first two axes}}
func.func @layout_strassen_of_taps(%x: tensor<32x32x1x1xf32, #nn.layout<KRSC16s_strassen>>) {
  return
}

// -----

// expected-error@+1 {{'int16' is not an encoding of weights; there are bounded2, bounded4, ordered2, codebook16, fragments, grouped, integer_winograd2, int4}}
func.func private @encoding() attributes {e = #nn.encoding<int16>}

// -----

// expected-error@+1 {{'NCHX' does not name the axes of a layout}}
func.func @layout_axes(%x: tensor<1x16x2x2xf32, #nn.layout<NCHX>>) {
  return
}

// -----

// expected-error@+1 {{'NCHW16k' has a block that is not a number from 2 to 1024 and the letter of one of its axes}}
func.func @layout_block(%x: tensor<1x16x2x2xf32, #nn.layout<NCHW16k>>) {
  return
}

// -----

// expected-error@+1 {{layout 'NCHW16c' has 4 axes, the tensor 3}}
func.func @layout_rank(%x: tensor<1x16x4xf32, #nn.layout<NCHW16c>>) {
  return
}

// -----

func.func @layer_extra(%x: tensor<2x3xf32>, %y: tensor<4x2x3xf32>) {
  // expected-error@+1 {{'nn.layer' op has extras that do not broadcast to its result}}
  %0 = nn.layer "sum" extras(%x, %y : tensor<2x3xf32>, tensor<4x2x3xf32>) -> tensor<2x3xf32>
  anchor {} epilogue {
  ^bb0(%a: f32, %b: f32):
    %1 = nn.add %a, %b : f32, f32
    nn.yield %1 : f32
  }
  return
}

// -----

func.func @layer_epilogue(%x: tensor<2x3xf32>) {
  %0 = nn.layer "sum" extras(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  anchor {} epilogue {
  ^bb0(%a: f32):
    // expected-error@+1 {{'arith.addf' op is not elementwise and stands in an epilogue}}
    %1 = arith.addf %a, %a : f32
    nn.yield %1 : f32
  }
  return
}

// -----

func.func @no_accumulator(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>) {
  // expected-error@+2 {{'nn.matmul' op failed to infer returned types}}
  // expected-error@+1 {{multiplies 'ui8' by 'i8' without an accumulator; add accumulator = i32}}
  %0 = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi32>
  return
}

// -----

func.func @float_accumulator(%x: tensor<1x1x2x2xf32>, %w: tensor<1x1x1x1xf32>) {
  // expected-error@+2 {{'nn.conv' op failed to infer returned types}}
  // expected-error@+1 {{multiplies 'f32' by 'f32' and sums in 'i32'; sums of integers of up to 32 bits may be i32}}
  %0 = nn.conv %x, %w {accumulator = i32, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xi32>
  return
}

// -----

func.func @block_matmul_bits(%x: tensor<1x64xf32>, %q: tensor<3x64xui8>, %s: tensor<3x2xf32>, %z: tensor<1x1xui8>) {
  // expected-error@+2 {{'nn.block_matmul' op failed to infer returned types}}
  // expected-error@+1 {{has weights of 3 bits, not of 4 or 8}}
  %0 = nn.block_matmul %x, %q, %s, %z {bits = 3 : i64, block = 32 : i64} : (tensor<1x64xf32>, tensor<3x64xui8>, tensor<3x2xf32>, tensor<1x1xui8>) -> tensor<1x3xf32>
  return
}

// -----

func.func @block_matmul_scales(%x: tensor<1x64xf32>, %q: tensor<3x64xui8>, %s: tensor<3x3xf32>, %z: tensor<1x1xui8>) {
  // expected-error@+2 {{'nn.block_matmul' op failed to infer returned types}}
  // expected-error@+1 {{needs 3 x 2 scales, has a 'tensor<3x3xf32>'}}
  %0 = nn.block_matmul %x, %q, %s, %z {bits = 4 : i64, block = 32 : i64} : (tensor<1x64xf32>, tensor<3x64xui8>, tensor<3x3xf32>, tensor<1x1xui8>) -> tensor<1x3xf32>
  return
}

// -----

func.func @block_matmul_block(%x: tensor<1x64xf32>, %q: tensor<3x64xui8>, %s: tensor<3x16xf32>, %z: tensor<1x1xui8>) {
  // expected-error@+2 {{'nn.block_matmul' op failed to infer returned types}}
  // expected-error@+1 {{has blocks of 4 weights; a block is a multiple of 8 or all 64 weights of a column}}
  %0 = nn.block_matmul %x, %q, %s, %z {bits = 4 : i64, block = 4 : i64} : (tensor<1x64xf32>, tensor<3x64xui8>, tensor<3x16xf32>, tensor<1x1xui8>) -> tensor<1x3xf32>
  return
}

// -----

// expected-error@+1 {{layout 'NK32n_int4' does not encode elements of type 'f32'}}
func.func @nibbles_of_floats(%w: tensor<64x3xf32, #nn.layout<NK32n_int4>>) {
  return
}

// -----

func.func @conv_axes(%x: tensor<1x1x4x4x4x4xf32>, %w: tensor<1x1x1x1x1x1xf32>) {
  // expected-error@+2 {{'nn.conv' op failed to infer returned types}}
  // expected-error@+1 {{needs 1 to 3 spatial axes, not 4}}
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4x4x4xf32>, tensor<1x1x1x1x1x1xf32>) -> tensor<1x1x4x4x4x4xf32>
  return
}

// -----

func.func @dft_parts(%x: tensor<2x4x3xf32>, %w: tensor<1xf32>, %r: tensor<4x2xf32>) {
  // expected-error@+2 {{'nn.dft' op failed to infer returned types}}
  // expected-error@+1 {{needs 1 or 2 parts along the last axis, not 3}}
  %0 = nn.dft %x, %w, %r {axis = 1 : i64, length = 4 : i64, step = 0 : i64, inverse = false, onesided = false} : (tensor<2x4x3xf32>, tensor<1xf32>, tensor<4x2xf32>) -> tensor<2x4x2xf32>
  return
}

// -----

func.func @dft_roots(%x: tensor<2x4x1xf32>, %w: tensor<3xf32>, %r: tensor<4x2xf32>) {
  // expected-error@+2 {{'nn.dft' op failed to infer returned types}}
  // expected-error@+1 {{has a window of type 'tensor<3xf32>' and roots of type 'tensor<4x2xf32>'}}
  %0 = nn.dft %x, %w, %r {axis = 1 : i64, length = 4 : i64, step = 0 : i64, inverse = false, onesided = false} : (tensor<2x4x1xf32>, tensor<3xf32>, tensor<4x2xf32>) -> tensor<2x4x2xf32>
  return
}

// -----

func.func @filter_taps(%x: tensor<2x3xf32>, %s: tensor<5xi64>, %w: tensor<5x4xf32>) {
  // expected-error@+2 {{'nn.filter' op failed to infer returned types}}
  // expected-error@+1 {{has 4 taps along an axis of 3 elements}}
  %0 = nn.filter %x, %s, %w {axis = 1 : i64} : (tensor<2x3xf32>, tensor<5xi64>, tensor<5x4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @roi_columns(%x: tensor<1x8x9x9xf32>, %r: tensor<4x5xf32>, %i: tensor<4xi64>) {
  // expected-error@+2 {{'nn.roi_align' op failed to infer returned types}}
  // expected-error@+1 {{needs regions of 4 numbers of the images' type, not a 'tensor<4x5xf32>'}}
  %0 = nn.roi_align avg %x, %r, %i {sizes = array<i64: 3, 2>, samples = 2 : i64, scale = 0.5 : f64, half_pixel = true} : (tensor<1x8x9x9xf32>, tensor<4x5xf32>, tensor<4xi64>) -> tensor<4x8x3x2xf32>
  return
}

// -----

func.func @det_shape(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{'nn.det' op failed to infer returned types}}
  // expected-error@+1 {{needs square matrices, not a 'tensor<2x3xf32>'}}
  %0 = nn.det %x : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @format_of_codes(%x: tensor<3xf32>) {
  // expected-error@+1 {{'nn.encode_float' op knows no format 'e4m4'}}
  %0 = nn.encode_float %x {format = "e4m4"} : tensor<3xf32>
  return
}

// -----

func.func @rounding_of_codes(%x: tensor<3xf32>) {
  // expected-error@+1 {{'nn.encode_float' op needs a rounding for the format e8m0, and for no other}}
  %0 = nn.encode_float %x {format = "e5m2", rounding = 1.0 : f64} : tensor<3xf32>
  return
}

// -----

func.func @codes_of_integers(%x: tensor<3xi32>) {
  // expected-error@+1 {{'nn.decode_float' op needs operands of f32, not 'i32'}}
  %0 = nn.decode_float %x {format = "e5m2"} : tensor<3xi32>
  return
}

// -----

func.func @bits_of_bytes(%x: tensor<3xi8>) {
  // expected-error@+1 {{has no type with the bits of 'i8'}}
  %0 = nn.bit_cast %x : tensor<3xi8>
  return
}

// -----

func.func @tree_tests(%x: tensor<4x5xf32>, %v: tensor<3xf32>, %t: tensor<3xi8>, %r: tensor<1xi32>, %s: tensor<1xf32>) {
  // expected-error@+2 {{'nn.tree_ensemble' op failed to infer returned types}}
  // expected-error@+1 {{it needs vectors of one length, of i16 or i32 for tests and jumps}}
  %0 = nn.tree_ensemble sum %x, %v, %t, %t, %r, %s {targets = 1 : i64, dense = false} : (tensor<4x5xf32>, tensor<3xf32>, tensor<3xi8>, tensor<3xi8>, tensor<1xi32>, tensor<1xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @tree_scores(%x: tensor<4x5xf32>, %v: tensor<3xf32>, %t: tensor<3xi16>, %r: tensor<1xi32>, %s: tensor<2x2xf32>) {
  // expected-error@+2 {{'nn.tree_ensemble' op failed to infer returned types}}
  // expected-error@+1 {{has scores of type 'tensor<2x2xf32>' for 3 targets}}
  %0 = nn.tree_ensemble sum %x, %v, %t, %t, %r, %s {targets = 3 : i64, dense = true} : (tensor<4x5xf32>, tensor<3xf32>, tensor<3xi16>, tensor<3xi16>, tensor<1xi32>, tensor<2x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @distances(%x: tensor<4x5xf32>, %w: tensor<3x6xf32>) {
  // expected-error@+2 {{'nn.squared_distance' op failed to infer returned types}}
  // expected-error@+1 {{it needs matrices with rows of one length}}
  %0 = nn.squared_distance %x, %w : (tensor<4x5xf32>, tensor<3x6xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @pairs(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{'nn.couple_probabilities' op failed to infer returned types}}
  // expected-error@+1 {{for 4 classes; it needs one for each pair}}
  %0 = nn.couple_probabilities %x {classes = 4 : i64} : (tensor<4x5xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @decode_of_floats(%x: tensor<42xf32>) -> tensor<6x6xi8> {
  // expected-error@+1 {{reads bytes, a tensor of ui8 with one axis; found 'tensor<42xf32>'}}
  %w = nn.decode %x, <form = 0, elements = 36, block = 36, values = 16, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> : tensor<42xf32> -> tensor<6x6xi8>
  return %w : tensor<6x6xi8>
}

// -----

func.func @decode_of_fewer_elements(%x: tensor<42xui8>) -> tensor<6x6xi8> {
  // expected-error@+1 {{has a result of 36 elements, padding included, but a shape of 35}}
  %w = nn.decode %x, <form = 0, elements = 35, block = 36, values = 16, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> : tensor<42xui8> -> tensor<6x6xi8>
  return %w : tensor<6x6xi8>
}

// -----

func.func @decode_of_a_table_too_long(%x: tensor<42xui8>) -> tensor<6x6xi8> {
  // expected-error@+1 {{has a shape that has 17 as 'values', which is not between 1 and 16}}
  %w = nn.decode %x, <form = 0, elements = 36, block = 36, values = 17, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> : tensor<42xui8> -> tensor<6x6xi8>
  return %w : tensor<6x6xi8>
}

// -----

func.func @decode_of_too_few_bytes(%x: tensor<42xui8>) -> tensor<6x6xi8> {
  // expected-error@+1 {{has a shape that needs 52 bytes at least}}
  %w = nn.decode %x, <form = 1, elements = 36, block = 18, values = 16, value_bits = 5, gaps = 0, gap_bits = 0, entries = 0> : tensor<42xui8> -> tensor<6x6xi8>
  return %w : tensor<6x6xi8>
}

// -----

func.func @decode_without_a_field(%x: tensor<42xui8>) -> tensor<6x6xi8> {
  // expected-error@+1 {{has a shape whose field 'entries' is missing, negative or too large}}
  %w = nn.decode %x, <form = 0, elements = 36, block = 36, values = 16, value_bits = 4, gaps = 0, gap_bits = 0> : tensor<42xui8> -> tensor<6x6xi8>
  return %w : tensor<6x6xi8>
}

// -----

func.func @stored_order(%x: tensor<1x16x5x5xi8>, %w: tensor<272xui8>) {
  // expected-error@+2 {{has weights in the order 7, which is not one of 0 to 6}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = nn.stored_conv %x, %w, <form = 0, elements = 512, block = 512, values = 16, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> {filters = 32 : i64, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, order = 7 : i64, strip = 8 : i64, accumulator = i32} : (tensor<1x16x5x5xi8>, tensor<272xui8>) -> tensor<1x32x5x5xi32>
  return
}

// -----

func.func @stored_filters(%x: tensor<1x16x5x5xi8>, %w: tensor<272xui8>) {
  // expected-error@+2 {{has filters of 528 weights, padding included; its shape has 512}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = nn.stored_conv %x, %w, <form = 0, elements = 512, block = 512, values = 16, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> {filters = 33 : i64, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, order = 0 : i64, strip = 8 : i64, accumulator = i32} : (tensor<1x16x5x5xi8>, tensor<272xui8>) -> tensor<1x33x5x5xi32>
  return
}

// -----

func.func @stored_bytes(%x: tensor<1x16x5x5xi8>, %w: tensor<271xui8>) {
  // expected-error@+2 {{has a shape that}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = nn.stored_conv %x, %w, <form = 0, elements = 512, block = 512, values = 16, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> {filters = 32 : i64, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, order = 0 : i64, strip = 8 : i64, accumulator = i32} : (tensor<1x16x5x5xi8>, tensor<271xui8>) -> tensor<1x32x5x5xi32>
  return
}

// -----

func.func @stored_fill(%x: tensor<1x16x5x5xi8>, %w: tensor<272xui8>) {
  // expected-error@+2 {{pads 'i8' with 200}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = nn.stored_conv %x, %w, <form = 0, elements = 512, block = 512, values = 16, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> {filters = 32 : i64, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, fill = 200 : i64, order = 0 : i64, strip = 8 : i64, accumulator = i32} : (tensor<1x16x5x5xi8>, tensor<272xui8>) -> tensor<1x32x5x5xi32>
  return
}

// -----

func.func @stored_result(%x: tensor<1x16x5x5xi8>, %w: tensor<272xui8>) {
  // expected-error@+2 {{op inferred type}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = nn.stored_conv %x, %w, <form = 0, elements = 512, block = 512, values = 16, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> {filters = 32 : i64, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, order = 0 : i64, strip = 8 : i64, accumulator = i32} : (tensor<1x16x5x5xi8>, tensor<272xui8>) -> tensor<1x32x5x4xi32>
  return
}

// -----

func.func @requantize_range(%x: tensor<4xi32>, %m: tensor<i32>) {
  // expected-error@+1 {{limits results to the range from -129 to 127, which 'i8' does not have}}
  %y = nn.requantize single_rounding %x, %m, %m {element = i8, low = -129 : i64, high = 127 : i64} : tensor<4xi32>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @requantize_element(%x: tensor<4xi32>, %m: tensor<i32>) {
  // expected-error@+1 {{needs an element type and both ends of its range}}
  %y = nn.requantize single_rounding %x, %m, %m {zero_point = 3 : i64} : tensor<4xi32>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @requantize_shift(%x: tensor<4xi32>, %m: tensor<i32>) {
  // expected-error@+1 {{needs three operands of i32}}
  %y = nn.requantize double_rounding %x, %m : tensor<4xi32>, tensor<i32>
  return
}

// -----

func.func @requantize_parts(%x: tensor<4xi32>, %m: tensor<f32>) {
  // expected-error@+1 {{needs three operands of f32, and a result of at most 16 bits}}
  %y = nn.requantize parts %x, %m, %m {element = i8, low = -128 : i64, high = 127 : i64} : tensor<4xi32>, tensor<f32>, tensor<f32>
  return
}

// -----

func.func @requantize_factors(%x: tensor<4xf32>, %m: tensor<4xf32>, %r: tensor<f32>) {
  // expected-error@+1 {{needs a single factor}}
  %y = nn.requantize parts %x, %m, %r {element = i8, low = -128 : i64, high = 127 : i64} : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return
}

// -----

func.func @requantize_to_float(%x: tensor<4xi32>, %m: tensor<i32>) {
  // expected-error@+1 {{rescales integers to integers}}
  %y = nn.requantize double_rounding %x, %m, %m {element = f32, low = 0 : i64, high = 9 : i64} : tensor<4xi32>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @requantize_real(%x: tensor<4xi64>, %m: tensor<f32>) {
  // expected-error@+1 {{needs integers of at most 32 bits, and f32}}
  %y = nn.requantize real %x, %m {element = i8, low = -128 : i64, high = 127 : i64} : tensor<4xi64>, tensor<f32>
  return
}
