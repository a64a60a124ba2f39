// RUN: nnc-opt %s --split-input-file --verify-diagnostics

func.func @two_at_once(%x: tensor<1x16x3x4xf32>) {
  // expected-error@below {{moves a tensor in layout plain to another device in layout NCHW16c; change one after the other}}
  %0 = nn.adapt %x : tensor<1x16x3x4xf32> -> tensor<1x16x3x4xf32, #nn.layout<NCHW16c on shadow>>
  return
}

// -----

func.func @past_the_host(%x: tensor<4xf32, #nn.layout<A on one>>) {
  // expected-error@below {{moves a tensor from 'one' to 'two', neither of which is the host; move it to the host first}}
  %0 = nn.adapt %x : tensor<4xf32, #nn.layout<A on one>> -> tensor<4xf32, #nn.layout<A on two>>
  return
}

// -----

func.func @type(%x: tensor<4xf32>) {
  // expected-error@below {{changes more than the layout}}
  %0 = nn.adapt %x : tensor<4xf32> -> tensor<4xi32, #nn.layout<A on shadow>>
  return
}

// -----

// expected-error@below {{'' does not name the axes of a layout}}
func.func @none(%x: tensor<f32, #nn.layout<"">>) {
  return
}

// -----

func.func @layer(%x: tensor<4xf32>) {
  // expected-error@below {{has an operand of 'tensor<4xf32>' and a result of 'tensor<4xf32, #nn.layout<A on shadow>>', which is on another device; nn.adapt moves a tensor}}
  %0 = nn.layer "r" extras(%x : tensor<4xf32>) -> tensor<4xf32, #nn.layout<A on shadow>> anchor {
  } epilogue {
  ^bb0(%e: f32):
    %r = nn.relu %e : f32
    nn.yield %r : f32
  }
  return
}
