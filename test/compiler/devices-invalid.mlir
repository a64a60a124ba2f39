// RUN: nnc-opt %s --split-input-file --nnc-set-constraints=target=test-two-devices --nnc-check-routines --verify-diagnostics

func.func @lacking(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{has a value on the device 'gpu', which the target 'test-two-devices' lacks}}
  %0 = nn.adapt %x : tensor<4xf32> -> tensor<4xf32, #nn.layout<A on gpu>>
  // expected-error@below {{has a value on the device 'gpu'}}
  %1 = nn.adapt %0 : tensor<4xf32, #nn.layout<A on gpu>> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @host(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{has a value on 'host', which is the host; types name other devices alone}}
  %0 = nn.adapt %x : tensor<4xf32> -> tensor<4xf32, #nn.layout<A on host>>
  return %x : tensor<4xf32>
}

// -----

// expected-error@below {{has a value on the device 'shadow', but only the host does that; move the value with nn.adapt}}
func.func @result(%x: tensor<4xf32>) -> tensor<4xf32, #nn.layout<A on shadow>> {
  %0 = nn.adapt %x : tensor<4xf32> -> tensor<4xf32, #nn.layout<A on shadow>>
  // expected-error@below {{only the host does that}}
  return %0 : tensor<4xf32, #nn.layout<A on shadow>>
}

// -----

func.func @isa(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.adapt %x : tensor<4xf32> -> tensor<4xf32, #nn.layout<A on shadow>>
  // expected-error@below {{needs avx2}}
  %1 = nn.layer "r" extras(%0 : tensor<4xf32, #nn.layout<A on shadow>>) -> tensor<4xf32, #nn.layout<A on shadow>> attributes {routine = "elementwise_avx2"} anchor {
  } epilogue {
  ^bb0(%e: f32):
    %r = nn.relu %e : f32
    nn.yield %r : f32
  }
  %2 = nn.adapt %1 : tensor<4xf32, #nn.layout<A on shadow>> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
