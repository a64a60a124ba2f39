// RUN: nnc-opt %s -split-input-file -verify-diagnostics

exec.program @outside arena 64 lower_bound 64 align 64 weights 0 {
  // expected-error @below {{holds 64 bytes at 32 of the 64 bytes of the arena}}
  %a = exec.buffer "a" at 32 : tensor<16xf32>
}

// -----

exec.program @misaligned arena 128 lower_bound 64 align 64 weights 0 {
  // expected-error @below {{is not aligned to its elements}}
  %a = exec.buffer "a" at 2 : tensor<16xf32>
}

// -----

exec.program @twice arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{cannot be named 'a'}}
  %b = exec.buffer "a" at 0 : tensor<16xf32>
}

// -----

exec.program @keyword arena 64 lower_bound 64 align 64 weights 0 {
  // expected-error @below {{cannot be named 'double'}}
  %a = exec.buffer "double" at 0 : tensor<16xf32>
}

// -----

exec.program @macro arena 64 lower_bound 64 align 64 weights 0 {
  // expected-error @below {{cannot be named 'M_PI'}}
  %a = exec.buffer "M_PI" at 0 : tensor<16xf32>
}

// -----

// expected-error @below {{cannot be named 'math', which is the name of the header <math.h>}}
exec.program @math arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
}

// -----

// The parts of a call have names too.
exec.program @part arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "conv_shape" at 0 : tensor<16xf32>
  // expected-error @below {{cannot be named 'conv'}}
  exec.call "conv" r of "r.h" inputs(%a) outputs(%a) shape <>
}

// -----

exec.program @reads_only arena 0 lower_bound 0 align 64 weights 0 {
  %x = exec.input "x" : tensor<16xf32>
  %v = exec.view "v" of %x at 0 : tensor<8xf32>
  // expected-error @below {{writes 'v', which is not the program's own}}
  exec.call "relu" r of "r.h" inputs(%x) outputs(%v) shape <>
}

// -----

exec.program @kinds arena 64 lower_bound 64 align 64 weights 0 {
  %x = exec.input "x" : tensor<16xf32>
  %i = exec.input "i" : tensor<16xi64>
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{has an expression whose arguments are not the element types of what it reads}}
  exec.call "add" r of "r.h" inputs(%x) extras(full %i) outputs(%a) shape <> {
  ^bb0(%0: f32, %1: f32):
    exec.yield %0 : f32
  }
}

// -----

exec.program @stray arena 64 lower_bound 64 align 64 weights 0 {
  %x = exec.input "x" : tensor<8xf32>
  // expected-error @below {{does not belong in a program}}
  %c = nn.constant dense<0.0> : tensor<8xf32>
}

// -----

exec.program @sizes arena 64 lower_bound 64 align 64 weights 0 {
  %x = exec.input "x" : tensor<8xf32>
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{copies 'tensor<8xf32>' to a place for 'tensor<16xf32>'}}
  exec.copy "c" %x to %a
}

// -----

// expected-error @below {{needs a #exec.place as 'exec.place'}}
func.func @attribute(%x: tensor<4xf32>) attributes {exec.place = 1} {
  return
}

// -----

exec.program @later arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  exec.call "one" r of "r.h" inputs(%a) outputs(%a) shape <n = 1>
  // expected-error @below {{is like 'one', which has other code or comes later}}
  exec.call "two" r of "r.h" inputs(%a) outputs(%a) shape <n = 2> like "one"
}

// -----

exec.program @elements arena 64 lower_bound 64 align 64 weights 64 {
  // expected-error @below {{has a value of type 'tensor<2xf32>', its elements are a 'tensor<4xf32>'}}
  %w = exec.weight "w" at 0 = dense<0.0> : tensor<2xf32> : tensor<4xf32>
}

// -----

exec.program @bytes arena 64 lower_bound 64 align 64 weights 64 {
  // expected-error @below {{has a value of type 'tensor<2x2xf32>', its stored bytes are a 'tensor<16xi8>'}}
  %w = exec.weight "w" at 0 = encoded dense<0.0> : tensor<2x2xf32> : tensor<2x2xf32, #nn.layout<NK2n>>
}

// -----

exec.program @padding arena 64 lower_bound 64 align 64 weights 64 {
  // expected-error @below {{has a value of type 'tensor<8xi8>', its stored bytes are a 'tensor<16xi8>'}}
  %w = exec.weight "w" at 0 = encoded dense<0> : tensor<8xi8> : tensor<2x1xf32, #nn.layout<NK2n>>
}

// -----

exec.program @twice arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{'n' is given twice}}
  exec.call "one" r of "r.h" inputs(%a) outputs(%a) shape <n = 1, m = 1, n = 1>
}

// -----

exec.program @params arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{'P' is given twice}}
  exec.call "one" r<P = 1, P = 2> of "r.h" inputs(%a) outputs(%a) shape <>
}

// -----

exec.program @text arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{'n' is not a number or a list of numbers}}
  exec.call "one" r of "r.h" inputs(%a) outputs(%a) shape <n = "one">
}

// -----

exec.program @narrow arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{'n' is not a number or a list of numbers}}
  exec.call "one" r of "r.h" inputs(%a) outputs(%a) shape <n = 1 : i32>
}

// -----

exec.program @unsigned arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{'n' is not a number or a list of numbers}}
  exec.call "one" r of "r.h" inputs(%a) outputs(%a) shape <n = [1, 2 : ui8]>
}

// -----

exec.program @mixed arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{'n' is not a number or a list of numbers}}
  exec.call "one" r of "r.h" inputs(%a) outputs(%a) shape <n = [1, [2]]>
}

// -----

exec.program @deep arena 64 lower_bound 64 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{'n' is not a number or a list of numbers}}
  exec.call "one" r of "r.h" inputs(%a) outputs(%a) shape <n = [[[1]]]>
}

// -----

exec.program @p arena 64 lower_bound 0 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{has as argument 'size', which is no integer of 16 bits}}
  exec.call "one" r of "r.h" inputs(%a) outputs(%a) shape <n = 1, size = 40000> sized ["n", "size"]
}

// -----

exec.program @p arena 64 lower_bound 0 align 64 weights 0 {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  exec.call "one" r of "r.h" inputs(%a) outputs(%a) shape <n = 1, size = 4> sized ["n"]
  // expected-error @below {{is like 'one', which has other code or comes later}}
  exec.call "two" r of "r.h" inputs(%a) outputs(%a) shape <n = 2, size = 5> like "one" sized ["n"]
}

// -----

exec.program @steps arena 0 lower_bound 0 align 64 weights 0
    // expected-error @below {{needs sizes from 1 on, a step of at least 1, and a high end that steps from the low end reach, for 'n'}}
    attributes {sizes = [#exec.size<name = "n", low = 1, high = 8, step = 2>]} {
}

// -----

// expected-error @below {{cannot be named 'int'}}
exec.program @named arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "int", low = 1, high = 8, step = 1>]} {
}

// -----

exec.program @dims arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "n", low = 1, high = 8, step = 1>]} {
  // expected-error @below {{needs as 'exec.dims' a map from the program's sizes to its dimensions}}
  %x = exec.input "x" : tensor<8x4xf32> {exec.dims = affine_map<()[s0] -> (s0)>}
}

// -----

exec.program @varying arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "n", low = 1, high = 8, step = 1>]} {
  %x = exec.input "x" : tensor<8xf32> {exec.dims = affine_map<()[s0] -> (s0)>}
  %y = exec.output "y" : tensor<8xf32> {exec.dims = affine_map<()[s0] -> (s0)>}
  // expected-error @below {{needs a map from the program's sizes to the entries of a field of its shape for 'dims'}}
  exec.call "twofold" elementwise_portable of "runtime/routines/elementwise/elementwise.h"
      inputs(%x) outputs(%y)
      shape <rank = 1, dims = [8], strides = [[1]], planes = 1, pixels = 1>
      pointwise sized ["dims"] varying {dims = affine_map<()[s0] -> (s0, s0)>} {
  ^bb0(%a: f32):
    exec.yield %a : f32
  }
}

// -----

exec.program @argument arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "n", low = 1, high = 8, step = 1>]} {
  %x = exec.input "x" : tensor<8xf32> {exec.dims = affine_map<()[s0] -> (s0)>}
  %y = exec.output "y" : tensor<8xf32> {exec.dims = affine_map<()[s0] -> (s0)>}
  // expected-error @below {{has a field 'dims' that varies and is no argument}}
  exec.call "twofold" elementwise_portable of "runtime/routines/elementwise/elementwise.h"
      inputs(%x) outputs(%y)
      shape <rank = 1, dims = [8], strides = [[1]], planes = 1, pixels = 1>
      pointwise varying {dims = affine_map<()[s0] -> (s0)>} {
  ^bb0(%a: f32):
    exec.yield %a : f32
  }
}

// -----

exec.program @p arena 64 lower_bound 0 align 64 weights 0 {
  %x = exec.input "x" : tensor<4xf32>
  %y = exec.output "y" : tensor<9x4xf32>
  // expected-error @below {{is by run, but not in a loop}}
  exec.copy "copy_y" %x to %y by_run
}

// -----

exec.program @p arena 64 lower_bound 0 align 64 weights 0 {
  %x = exec.input "x" : tensor<4xf32>
  %y = exec.output "y" : tensor<9x4xf32>
  exec.loop "steps" max 10 {
    // expected-error @below {{copies 'tensor<4xf32>' in each of 10 runs to a place for 'tensor<9x4xf32>'}}
    exec.copy "copy_y" %x to %y by_run
  }
}

// -----

exec.program @p arena 64 lower_bound 0 align 64 weights 0 {
  %x = exec.input "x" : tensor<4xf32>
  // expected-error @below {{needs as condition one integer of 1 bit, has 'tensor<4xf32>'}}
  exec.branch "gate" on %x {
  } else {
  }
}

// -----

exec.program @p arena 64 lower_bound 0 align 64 weights 0 {
  %i = exec.input "i" : tensor<i64>
  // expected-error @below {{counts in 'i', which is not the program's own}}
  exec.loop "steps" max 10 counter %i {
  }
}

// -----

exec.program @p arena 64 lower_bound 0 align 64 weights 0 {
  %x = exec.input "x" : tensor<4xf32>
  exec.loop "steps" max 10 {
    // expected-error @below {{does not belong in a program}}
    %0 = nn.constant dense<1.0> : tensor<4xf32>
  }
}

// -----

// expected-error @below {{has 'host_ports', which only programs for GPUs have}}
exec.program @cpu arena 64 lower_bound 64 align 64 weights 0 attributes {host_ports} {
}

// -----

// The counters of blocks are the last bytes of the arena.

// expected-error @below {{has counters of 128 bytes in an arena of 64}}
exec.program @counters arena 64 lower_bound 0 align 64 weights 0 attributes {counter_bytes = 128 : i64} {
}

// -----

exec.program @more arena 128 lower_bound 64 align 64 weights 0 attributes {counter_bytes = 64 : i64} {
  %a = exec.buffer "a" at 0 : tensor<16xf32>
  // expected-error @below {{has 17 counters, more than the program has}}
  exec.call "sum" r of "r.h" inputs(%a) outputs(%a) shape <> attributes {counters = 17 : i64}
}

// -----

exec.program @behind arena 128 lower_bound 64 align 64 weights 0 attributes {counter_bytes = 64 : i64} {
  // expected-error @below {{arena}}
  %a = exec.buffer "a" at 64 : tensor<16xf32>
}
