// RUN: nnc-opt --split-input-file --verify-diagnostics --mlir-disable-threading --pass-pipeline='builtin.module(nnc-generalize)' %s

module attributes {nn.sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>], nn.largest = array<i64: 9>} {
module {
  exec.program @net arena 0 lower_bound 0 align 64 weights 128 attributes {flags = [], headers = [], model = "net"} {
    %x = exec.input "x" : tensor<2x4xf32>
    // expected-error @+1 {{varies with the sizes in a way that nnc does not handle: weight 'table' is output 'y' at other sizes}}
    %table = exec.weight "table" at 0 = dense<0.5> : tensor<4xf32> : tensor<4xf32>
    %y = exec.output "y" : tensor<2x4xf32>
  }
}
nn.sample at [7] {
builtin.module {
  exec.program @net arena 0 lower_bound 0 align 64 weights 128 attributes {flags = [], headers = [], model = "net"} {
    %x = exec.input "x" : tensor<2x4xf32>
    %y = exec.output "y" : tensor<2x4xf32>
  }
}
}
}

// -----

module attributes {nn.sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>], nn.largest = array<i64: 9>} {
module {
  exec.program @net arena 0 lower_bound 0 align 64 weights 128 attributes {flags = [], headers = [], model = "net"} {
    %x = exec.input "x" : tensor<2x4xf32>
    %y = exec.output "y" : tensor<2x4xf32>
    %table = exec.weight "table" at 0 = dense<0.5> : tensor<4xf32> : tensor<4xf32>
    // expected-error @+1 {{varies with the sizes in a way that nnc does not handle: weight 'more' is not needed at other sizes}}
    %more = exec.weight "more" at 64 = dense<0.25> : tensor<4xf32> : tensor<4xf32>
  }
}
nn.sample at [7] {
builtin.module {
  exec.program @net arena 0 lower_bound 0 align 64 weights 128 attributes {flags = [], headers = [], model = "net"} {
    %x = exec.input "x" : tensor<2x4xf32>
    %y = exec.output "y" : tensor<2x4xf32>
    %table = exec.weight "table" at 0 = dense<0.5> : tensor<4xf32> : tensor<4xf32>
  }
}
}
}

// -----

module attributes {nn.sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>], nn.largest = array<i64: 9>} {
module {
  // expected-error @+1 {{varies with the sizes in a way that nnc does not handle: weight 'more' is needed at other sizes alone}}
  exec.program @net arena 0 lower_bound 0 align 64 weights 128 attributes {flags = [], headers = [], model = "net"} {
    %x = exec.input "x" : tensor<2x4xf32>
    %y = exec.output "y" : tensor<2x4xf32>
    %table = exec.weight "table" at 0 = dense<0.5> : tensor<4xf32> : tensor<4xf32>
  }
}
nn.sample at [7] {
builtin.module {
  exec.program @net arena 0 lower_bound 0 align 64 weights 128 attributes {flags = [], headers = [], model = "net"} {
    %x = exec.input "x" : tensor<2x4xf32>
    %y = exec.output "y" : tensor<2x4xf32>
    %table = exec.weight "table" at 0 = dense<0.5> : tensor<4xf32> : tensor<4xf32>
    %more = exec.weight "more" at 64 = dense<0.25> : tensor<4xf32> : tensor<4xf32>
  }
}
}
}
