// RUN: nnc-opt --split-input-file --nnc-lower-to-exec --verify-diagnostics %s

// Routines are checked, as nnc-check-routines does: they may have been edited.
func.func @no_routine(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{has no routine; nnc-choose-routines gives it one}}
  %a = nn.layer "a" extras(%x : tensor<16xf32>) -> tensor<16xf32> attributes {exec.place = #exec.place<output at 0>} epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %a : tensor<16xf32>
}

// -----

func.func @unknown_routine(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{names the routine 'elementwise_quantum', which is not in the catalogue; of its family there are elementwise_avx2}}
  %a = nn.layer "a" extras(%x : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_quantum", exec.place = #exec.place<output at 0>} epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %a : tensor<16xf32>
}

// -----

func.func @other_family(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{names the routine 'copy_portable', which belongs to the family copy; the layer is of elementwise}}
  %a = nn.layer "a" extras(%x : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "copy_portable", exec.place = #exec.place<output at 0>} epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %a : tensor<16xf32>
}

// -----

// Places are checked: they may have been edited.
func.func @unplaced(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{has no exec.place}}
  %a = nn.layer "a" extras(%x : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %a : tensor<16xf32>
}

// -----

func.func @blocked_result(%x: tensor<1x16x2x2xf32, #nn.layout<NCHW16c>>) -> tensor<1x16x2x2xf32, #nn.layout<NCHW16c>> {
  // expected-error @below {{gives result 0 in layout NCHW16c; results are row-major}}
  return %x : tensor<1x16x2x2xf32, #nn.layout<NCHW16c>>
}
