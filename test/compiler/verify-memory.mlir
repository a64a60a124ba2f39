// RUN: nnc-opt --split-input-file --nnc-verify-memory --verify-diagnostics %s

// Memory may be given out again once its value is not needed.
func.func @edited_by_hand(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 32} {
  %a = nn.relu %x {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  %b = nn.exp %a {exec.place = #exec.place<arena at 16>} : tensor<4xf32>
  %c = nn.exp %b {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  %d = nn.add %b, %c {exec.place = #exec.place<output at 0>} : tensor<4xf32>, tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

func.func @overwritten(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 32} {
  %a = nn.relu %x {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  %b = nn.exp %a {exec.place = #exec.place<arena at 16>} : tensor<4xf32>
  %c = nn.exp %b {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  // expected-error @below {{reads operand 0 at #exec.place<arena at 0>, where something else has been written by then}}
  %d = nn.add %a, %c {exec.place = #exec.place<output at 0>} : tensor<4xf32>, tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

func.func @too_small(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 32} {
  // expected-error @below {{wants 16 bytes at #exec.place<arena at 20>, which has 32}}
  %a = nn.relu %x {exec.place = #exec.place<arena at 20>} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

func.func @input_written(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 32} {
  // expected-error @below {{writes to #exec.place<input at 0>}}
  %a = nn.relu %x {exec.place = #exec.place<input at 0>} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

func.func @unplaced(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 32} {
  // expected-error @below {{has no exec.place}}
  %a = nn.relu %x : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Plain ops are not known to read in place; layers are.
func.func @over_its_operand(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 32} {
  %a = nn.relu %x {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  // expected-error @below {{writes over its operand 0}}
  %b = nn.relu %a {exec.place = #exec.place<arena at 8>} : tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

func.func @scratch(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 64} {
  %a = nn.relu %x {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  // expected-error @below {{has scratch over its operand 0}}
  %b = nn.relu %a {exec.place = #exec.place<arena at 16>, exec.scratch = #exec.place<arena at 12 bytes 4>} : tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// The view says that it lies elsewhere: a copy, over its own source.
func.func @overlapping_copy(%x: tensor<4xf32>) -> tensor<2x2xf32> attributes {exec.arena = 64} {
  %a = nn.relu %x {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  // expected-error @below {{copies operand 0 over itself}}
  %b = nn.reshape %a {exec.place = #exec.place<arena at 8>} : tensor<4xf32> -> tensor<2x2xf32>
  return %b : tensor<2x2xf32>
}

// -----

// Somebody has put in a routine that works in scratch, or changed its params.
func.func @too_little_scratch(%x: tensor<1x16x8x8xf32, #nn.layout<NCHW16c>>) -> tensor<1x16x8x8xf32, #nn.layout<NCHW16c>> attributes {exec.arena = 64} {
  %w = nn.constant dense<1.0> : tensor<16x16x3x3xf32> -> tensor<16x16x3x3xf32, #nn.layout<KRSC16k_winograd2>>
  // expected-error @below {{has too little scratch for its routine: run nnc-plan-memory again, or give it exec.scratch of}}
  %y = nn.layer "conv" inputs(%x, %w : tensor<1x16x8x8xf32, #nn.layout<NCHW16c>>, tensor<16x16x3x3xf32, #nn.layout<KRSC16k_winograd2>>) -> tensor<1x16x8x8xf32, #nn.layout<NCHW16c>> attributes {params = array<i64: 6, 2, 32, 512>, routine = "conv2d_f32_nchw16c_winograd2_avx512", exec.place = #exec.place<output at 0>, exec.scratch = #exec.place<arena at 0 bytes 64>} anchor {
  ^bb0(%a: tensor<1x16x8x8xf32>, %b: tensor<16x16x3x3xf32>):
    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
    nn.yield %c : tensor<1x16x8x8xf32>
  } epilogue {
  ^bb0(%a: f32):
    nn.yield %a : f32
  }
  return %y : tensor<1x16x8x8xf32, #nn.layout<NCHW16c>>
}

// -----

// Each memory has an arena of its own.
func.func @memories(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.arena = 32, exec.memories = [#exec.memory<name = "a", size = 64, bytes = 16>, #exec.memory<name = "b", size = 64, bytes = 16>]} {
  %a = nn.relu %x {exec.place = #exec.place<arena at 0>} : tensor<4xf32>
  %b = nn.exp %a {exec.place = #exec.place<arena[1] at 0>} : tensor<4xf32>
  %d = nn.add %a, %b {exec.place = #exec.place<output at 0>} : tensor<4xf32>, tensor<4xf32>
  // expected-error @below {{wants 16 bytes at #exec.place<arena[1] at 8>, which has 16}}
  %e = nn.exp %d {exec.place = #exec.place<arena[1] at 8>} : tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

func.func @no_such_memory(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 32} {
  // expected-error @below {{speaks of #exec.place<arena[1] at 0>, which the function does not have}}
  %a = nn.relu %x {exec.place = #exec.place<arena[1] at 0>} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{cannot have a memory named 'int'}}
func.func @bad_name(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.arena = 0, exec.memories = [#exec.memory<name = "int", size = 64>]} {
  return %x : tensor<4xf32>
}
