// RUN: nnc-opt %s --split-input-file --verify-diagnostics

// The discardable attributes of exec: those that there are, their values, and what
// may carry them.

// expected-error @below {{has 'exec.arenas', which is not an attribute of exec; those are 'exec.arena', 'exec.dims'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arenas = 64 : i64} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 has 'exec.plac', which is not an attribute of exec}}
func.func @main(%x: tensor<4xf32> {exec.plac = 1 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a number of bytes as 'exec.arena'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.arena = -64 : i64} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.arena', which only a function may have}}
module attributes {exec.arena = 64 : i64} {
}

// -----

// expected-error @below {{needs a number of bytes as 'exec.lower_bound'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.lower_bound = "64"} {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'exec.lower_bound', which only a function may have}}
  %y = nn.relu %x {exec.lower_bound = 64 : i64} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{needs no value as 'exec.ports_in_arena'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.ports_in_arena = true} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs no value as 'exec.host_ports'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.host_ports = true} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.host_ports', which only a function may have}}
module attributes {exec.host_ports} {
}

// -----

// expected-error @below {{has 'exec.ports_in_arena', which only a function may have}}
module attributes {exec.ports_in_arena} {
}

// -----

// expected-error @below {{needs no value as 'exec.sample'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.sample = true} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.sample', which only a function may have}}
module attributes {exec.sample} {
}

// -----

// expected-error @below {{argument 0 needs a #exec.place as 'exec.place'}}
func.func @main(%x: tensor<4xf32> {exec.place = 0 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{result 0 needs a #exec.place as 'exec.place'}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {exec.place = 0 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.place', which only an op with a result, or an argument or result of a function, may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.place = #exec.place<arena at 0>} {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a #exec.place of each result as 'exec.places'}}
  %y = nn.relu %x {exec.places = [#exec.place<arena at 0>, #exec.place<arena at 64>]} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a #exec.place of each result as 'exec.places'}}
  %y = nn.relu %x {exec.places = [1]} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.places', which only an op with a result may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.places = []} {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a #exec.place as 'exec.scratch'}}
  %y = nn.relu %x {exec.scratch = 64 : i64} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.scratch', which only an op in a function may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.scratch = #exec.place<arena at 0 bytes 64>} {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs no value as 'exec.serial'}}
  %y = nn.relu %x {exec.serial = true} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.serial', which only an op with a result may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.serial} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a list of #exec.memory as 'exec.memories'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.memories = ["ram"]} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{cannot have a memory named 'a b'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.memories = [#exec.memory<name = "a b", size = 64>]} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.memories', which only a function may have}}
module attributes {exec.memories = [#exec.memory<name = "ram", size = 64>]} {
}

// -----

// expected-error @below {{needs a size and bytes from 0 on of the memory 'flash'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.weight_memories = [#exec.memory<name = "flash", size = -1>]} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{needs a list of #exec.memory as 'exec.weight_memories'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.weight_memories = "flash"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.weight_memories', which only a function may have}}
module attributes {exec.weight_memories = []} {
}

// -----

// expected-error @below {{needs a list of #exec.size as 'exec.sizes'}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.sizes = [4]} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has 'exec.sizes', which only a function may have}}
module attributes {exec.sizes = [#exec.size<name = "batch", low = 1, high = 8, step = 1>]} {
}

// -----

exec.program @program arena 64 lower_bound 64 align 64 weights 0 {
  // expected-error @below {{needs a map of sizes as 'exec.dims'}}
  %a = exec.buffer "a" at 0 : tensor<4xf32> {exec.dims = 4 : i64}
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'exec.dims', which only a place of an exec.program may have}}
  %y = nn.relu %x {exec.dims = affine_map<()[s0] -> (s0)>} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{needs a text that is not empty as 'exec.module'}}
exec.program @program arena 64 lower_bound 64 align 64 weights 0 attributes {exec.module = ""} {
}

// -----

// expected-error @below {{has 'exec.module', which only an exec.program may have}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.module = "net"} {
  return %x : tensor<4xf32>
}
