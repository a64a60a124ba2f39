// RUN: nnc-opt --split-input-file --verify-diagnostics %s

// expected-error@+1 {{has 2 scales along axis 0 of 'tensor<3xi8>'}}
#two = #nn.described<tensor<3xi8>, scales = [1.0, 2.0], zero_points = [0, 0], axis = 0>

// -----

// expected-error@+1 {{has 1 scales and 0 zero points}}
#none = #nn.described<tensor<3xi8>, scales = [1.0], zero_points = [], axis = -1>

// -----

#bytes = #nn.described<tensor<3xi8>, scales = [], zero_points = [], axis = -1>
func.func @operand(%x: tensor<3xf32>) {
  // expected-error@+1 {{has operands of other types than it describes}}
  %0 = nn.custom "f" of "f.h" (%x) {operator_name = "F", reads = [#bytes], writes = [#bytes], options = array<i8>, model_attributes = {}, scratch = 0 : i64, id = 0 : i64} : (tensor<3xf32>) -> tensor<3xi8>
  return
}

// -----

#bytes = #nn.described<tensor<3xi8>, scales = [], zero_points = [], axis = -1>
func.func @results() {
  // expected-error@+1 {{has a result of 'tensor<6xui8>'; it describes 'tensor<19xui8>'}}
  %0 = nn.custom "f" of "f.h" () {operator_name = "F", reads = [unit], writes = [#bytes, #bytes], options = array<i8>, model_attributes = {}, scratch = 0 : i64, id = 0 : i64} : () -> tensor<6xui8>
  return
}

// -----

func.func @part(%x: tensor<8xui8>) {
  // expected-error@+1 {{takes 8 bytes at 4 out of the 8 bytes of its operand}}
  %0 = nn.part %x at 4 : tensor<8xui8> -> tensor<2xf32>
  return
}

// -----

#bytes = #nn.described<tensor<3xi8>, scales = [], zero_points = [], axis = -1>
exec.program @tiny arena 64 lower_bound 64 align 64 weights 0 {
  %x = exec.input "x" : tensor<3xi8>
  %y = exec.output "y" : tensor<3xi8>
  // expected-error@+1 {{calls 'a b', which is no name of a C function}}
  exec.custom "f" "a b" of "f.h" inputs(%x) output(%y) {operator_name = "F", reads = [#bytes], writes = [#bytes], options = array<i8>, model_attributes = {}, id = 0 : i64}
}

// -----

#bytes = #nn.described<tensor<3xi8>, scales = [], zero_points = [], axis = -1>
exec.program @tiny arena 64 lower_bound 64 align 64 weights 0 {
  %x = exec.input "x" : tensor<3xi8>
  // expected-error@+1 {{writes 'x', which is not the program's own}}
  exec.custom "f" "f" of "f.h" output(%x) {operator_name = "F", reads = [], writes = [#bytes], options = array<i8>, model_attributes = {}, id = 0 : i64}
}
