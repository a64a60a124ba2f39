// RUN: nnc-opt --verify-diagnostics --nnc-join-shapes %s

module {
module {
  exec.program @net arena 0 lower_bound 0 align 64 weights 0 {
  }
}
// expected-error @below {{has no program, or several: each shape has one}}
module {
}
}
