// Operators that the user's functions compute: nothing is fused with them or folded, equal
// ones stay apart, what they read and write is row-major, and their scratch memory and all
// results of one are in the arena.
// RUN: nnc-opt %s --nnc-simplify --nnc-legalize --nnc-form-layers | FileCheck %s --check-prefix=LAYERS
// RUN: nnc-opt %s --nnc-pipeline=target=x86-64-v3 | FileCheck %s --check-prefix=EXEC

// LAYERS: nn.layer "conv"
// LAYERS: nn.custom "twist" of "twist.h"(%{{.*}}) {id = 0 : i64
// LAYERS: nn.custom "twist" of "twist.h"(%{{.*}}) {id = 1 : i64
// LAYERS: nn.custom "nothing" of "twist.h"() {id = 2 : i64
// LAYERS-NOT: id = 4
// LAYERS: %[[ALL:.*]] = nn.custom "split"
// LAYERS: nn.part %[[ALL]] at 0 : tensor<80xui8> -> tensor<1x8xi8>
// LAYERS: nn.part %[[ALL]] at 16 : tensor<80xui8> -> tensor<4x4xf32>

// EXEC: exec.call "conv"
// EXEC: %twist_scratch = exec.buffer "twist_scratch" at 512 : tensor<100xui8>
// EXEC: exec.custom "twist" "twist" of "twist.h" inputs(%conv_out) output(%output_4) scratch(%twist_scratch) {id = 0
// EXEC: exec.custom "twist_2"
// EXEC: exec.custom "nothing" "nothing" of "twist.h" output(%{{.*}}) {id = 2
// EXEC-NOT: id = 4
// EXEC: exec.custom "split" "split" of "split.h" inputs(%{{.*}}, %{{.*}}) output(%split_out)
// EXEC-SAME: reads = [#nn.described<tensor<1x8x4x4xf32>, scales = [], zero_points = [], axis = -1>, unit, #nn.described<tensor<2xi8>, scales = [5.000000e-01], zero_points = [3], axis = -1>]
// EXEC: exec.view "{{.*}}" of %split_out at 16 : tensor<4x4xf32>
#image = #nn.described<tensor<1x8x4x4xf32>, scales = [], zero_points = [], axis = -1>
#bytes = #nn.described<tensor<2xi8>, scales = [0.5], zero_points = [3], axis = -1>
func.func @main(%x: tensor<1x3x4x4xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8xi8>, tensor<4x4xf32>, tensor<1x8x4x4xf32>) {
  %w = nn.constant dense<0.5> : tensor<8x3x1x1xf32>
  %q = nn.constant dense<[1, 2]> : tensor<2xi8>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = nn.custom "twist" of "twist.h" (%0) {operator_name = "Twist", reads = [#image], writes = [#image], options = array<i8: 1, -1>, model_attributes = {alpha = 0.5 : f32}, scratch = 100 : i64, id = 0 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %2 = nn.custom "twist" of "twist.h" (%0) {operator_name = "Twist", reads = [#image], writes = [#image], options = array<i8: 1, -1>, model_attributes = {alpha = 0.5 : f32}, scratch = 100 : i64, id = 1 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %3 = nn.custom "nothing" of "twist.h" () {operator_name = "Nothing", reads = [], writes = [#image], options = array<i8>, model_attributes = {}, scratch = 0 : i64, id = 2 : i64} : () -> tensor<1x8x4x4xf32>
  %unused = nn.custom "nothing" of "twist.h" () {operator_name = "Nothing", reads = [], writes = [#image], options = array<i8>, model_attributes = {}, scratch = 0 : i64, id = 4 : i64} : () -> tensor<1x8x4x4xf32>
  %4 = nn.add %1, %2 : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
  %5 = nn.add %4, %3 : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
  %6 = nn.custom "split" of "split.h" (%5, %q) {operator_name = "Split", reads = [#image, unit, #bytes], writes = [#nn.described<tensor<1x8xi8>, scales = [], zero_points = [], axis = -1>, #nn.described<tensor<4x4xf32>, scales = [], zero_points = [], axis = -1>], options = array<i8>, model_attributes = {}, scratch = 0 : i64, id = 3 : i64} : (tensor<1x8x4x4xf32>, tensor<2xi8>) -> tensor<80xui8>
  %7 = nn.part %6 at 0 : tensor<80xui8> -> tensor<1x8xi8>
  %8 = nn.part %6 at 16 : tensor<80xui8> -> tensor<4x4xf32>
  return %5, %7, %8, %1 : tensor<1x8x4x4xf32>, tensor<1x8xi8>, tensor<4x4xf32>, tensor<1x8x4x4xf32>
}
