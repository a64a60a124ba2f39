// RUN: nnc-opt %s --split-input-file --nnc-verify-memory --verify-diagnostics

// Places that a person wrote into memory of the wrong device.

func.func @adapt(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.memories = [#exec.memory<name = "ram", size = 64, bytes = 64>, #exec.memory<name = "shadow_ram", size = 64, bytes = 64, device = "shadow">]} {
  // expected-error@below {{has a value of the device 'shadow' at #exec.place<arena at 0>, in memory of the host}}
  %0 = nn.adapt %x {exec.place = #exec.place<arena at 0>} : tensor<4xf32> -> tensor<4xf32, #nn.layout<A on shadow>>
  %1 = nn.adapt %0 {exec.place = #exec.place<output at 0>} : tensor<4xf32, #nn.layout<A on shadow>> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @back(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {exec.memories = [#exec.memory<name = "ram", size = 64, bytes = 64>, #exec.memory<name = "shadow_ram", size = 64, bytes = 64, device = "shadow">]} {
  %0 = nn.adapt %x {exec.place = #exec.place<arena[1] at 0>} : tensor<4xf32> -> tensor<4xf32, #nn.layout<A on shadow>>
  // expected-error@below {{has a value of the host at #exec.place<arena[1] at 16>, in memory of the device 'shadow'}}
  %1 = nn.adapt %0 {exec.place = #exec.place<arena[1] at 16>} : tensor<4xf32, #nn.layout<A on shadow>> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @output(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = 64 : i64} {
  // expected-error@below {{has a value of the device 'shadow' at #exec.place<output at 0>, in memory of the host}}
  %0 = nn.adapt %x {exec.place = #exec.place<output at 0>} : tensor<4xf32> -> tensor<4xf32, #nn.layout<A on shadow>>
  return %x : tensor<4xf32>
}
