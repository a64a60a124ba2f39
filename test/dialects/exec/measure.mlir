// RUN: nnc-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: exec.program @found
// CHECK-SAME: sizes = [#exec.size<name = "batch", low = 1, high = 8, step = 1>, #exec.size<name = "rows", low = 0, high = 4, step = 1, found = true>]
exec.program @found arena 4 lower_bound 4 align 64 weights 0
    attributes {sizes = [#exec.size<name = "batch", low = 1, high = 8, step = 1>,
                         #exec.size<name = "rows", low = 0, high = 4, step = 1, found = true>]} {
  %x = exec.input "x" : tensor<4x2xf32>
  // CHECK: exec.output "rows_count" tells "rows" : tensor<i32>
  %n = exec.output "rows_count" tells "rows" : tensor<i32>
  %y = exec.output "y" : tensor<4x2xf32>
      {exec.dims = affine_map<()[s0, s1] -> (s1, 2)>}
  // CHECK: exec.measure "rows" %rows_count
  exec.measure "rows" %n
  exec.copy "copy_y" %x to %y
}

// -----

exec.program @early arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "rows", low = 0, high = 4, step = 1, found = true>]} {
  %x = exec.input "x" : tensor<4x2xf32>
  %n = exec.input "n" : tensor<i32>
  %y = exec.output "y" : tensor<4x2xf32> {exec.dims = affine_map<()[s0] -> (s0, 2)>}
  // expected-error @+1 {{depends on the size 'rows', which is found behind it}}
  exec.copy "copy_y" %x to %y
  exec.measure "rows" %n
}

// -----

exec.program @twice arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "rows", low = 0, high = 4, step = 1, found = true>]} {
  %n = exec.input "n" : tensor<i32>
  exec.measure "rows" %n
  // expected-error @+1 {{finds 'rows', which is no size of the program that is found, or is known already}}
  exec.measure "rows" %n
}

// -----

exec.program @wide arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "rows", low = 0, high = 4, step = 1, found = true>]} {
  %n = exec.input "n" : tensor<2xi32>
  // expected-error @+1 {{needs a place of one i32}}
  exec.measure "rows" %n
}

// -----

// expected-error @+1 {{has the size 'batch' of the caller behind one that is found}}
exec.program @order arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "rows", low = 0, high = 4, step = 1, found = true>,
                         #exec.size<name = "batch", low = 1, high = 4, step = 1>]} {
}

// -----

// expected-error @+2 {{needs sizes from 1 on}}
exec.program @zero arena 0 lower_bound 0 align 64 weights 0
    attributes {sizes = [#exec.size<name = "batch", low = 0, high = 4, step = 1>]} {
}
