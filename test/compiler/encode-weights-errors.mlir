// RUN: nnc-opt --split-input-file --nnc-encode-weights --verify-diagnostics %s

exec.program @elided arena 0 lower_bound 0 align 64 weights 64 {
  // expected-error @below {{has a value whose data is not in memory; was it elided?}}
  %w = exec.weight "w" at 0 = dense_resource<__elided__> : tensor<4xf32> : tensor<4xf32>
}
