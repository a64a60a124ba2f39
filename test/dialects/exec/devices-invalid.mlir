// RUN: nnc-opt %s --split-input-file --verify-diagnostics

exec.program @call arena 64 lower_bound 64 align 64 weights 0 {
  %x = exec.input "x" : tensor<4xf32>
  %y = exec.output "y" : tensor<4xf32>
  // expected-error@below {{runs on the device 'shadow' and takes 'x', which is on the host}}
  exec.call "relu" elementwise_portable of "runtime/routines/elementwise/elementwise.h" on "shadow"
      inputs(%x) outputs(%y) shape <rank = 1, dims = [4], strides = [[1]]>
}

// -----

exec.program @elsewhere arena 64 lower_bound 64 align 64 weights 0
    attributes {memories = [#exec.memory<name = "ram", size = 64, bytes = 64>]} {
  // expected-error@below {{is on the device 'shadow', and in memory of the host}}
  %a = exec.buffer "a" in "ram" at 0 : tensor<4xf32, #nn.layout<A on shadow>>
}

// -----

exec.program @whole arena 64 lower_bound 64 align 64 weights 0 {
  // expected-error@below {{is on the device 'shadow', and in memory of the host}}
  %a = exec.buffer "a" at 0 : tensor<4xf32, #nn.layout<A on shadow>>
}

// -----

exec.program @same arena 64 lower_bound 64 align 64 weights 0 {
  %x = exec.input "x" : tensor<4xf32>
  %y = exec.output "y" : tensor<4xf32>
  // expected-error@below {{connects the host and the host; a transfer is between the host and another device}}
  exec.transfer "t" %x to %y
}

// -----

exec.program @shape arena 64 lower_bound 64 align 64 weights 0
    attributes {memories = [#exec.memory<name = "shadow_ram", size = 64, bytes = 64, device = "shadow">]} {
  %x = exec.input "x" : tensor<4xf32>
  %a = exec.buffer "a" in "shadow_ram" at 0 : tensor<2x2xf32, #nn.layout<AB on shadow>>
  // expected-error@below {{moves 'tensor<4xf32>' to a place for 'tensor<2x2xf32, #nn.layout<AB on shadow>>'}}
  exec.transfer "t" %x to %a
}

// -----

exec.program @copy arena 64 lower_bound 64 align 64 weights 0
    attributes {memories = [#exec.memory<name = "shadow_ram", size = 64, bytes = 64, device = "shadow">]} {
  %x = exec.input "x" : tensor<4xf32>
  %a = exec.buffer "a" in "shadow_ram" at 0 : tensor<4xf32, #nn.layout<A on shadow>>
  // expected-error@below {{runs on the device 'shadow' and takes 'x', which is on the host}}
  exec.copy "c" %x to %a
}

// -----

exec.program @input arena 64 lower_bound 64 align 64 weights 0
    attributes {memories = [#exec.memory<name = "shadow_ram", size = 64, bytes = 64, device = "shadow">]} {
  %x = exec.input "x" : tensor<4xf32>
  %a = exec.buffer "a" in "shadow_ram" at 0 : tensor<4xf32, #nn.layout<A on shadow>>
  // expected-error@below {{writes 'x', which is not the program's own}}
  exec.transfer "t" %a to %x
}
