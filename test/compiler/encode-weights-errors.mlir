// RUN: nnc-opt --split-input-file --nnc-encode-weights --verify-diagnostics %s

exec.program @elided arena 0 lower_bound 0 align 64 weights 64 {
  // expected-error @below {{has a value whose data is not in memory; was it elided?}}
  %w = exec.weight "w" at 0 = dense_resource<__elided__> : tensor<4xf32> : tensor<4xf32>
}

// -----

// Sums of products with these weights may exceed 16 bits.
exec.program @saturates arena 0 lower_bound 0 align 64 weights 768 {
  // expected-error @below {{has values that the encoding 'bounded2' cannot represent; its readers need another routine}}
  %w = exec.weight "w" at 0 = dense<127> : tensor<8x64x1x1xi8> : tensor<8x64x1x1xi8, #nn.layout<KCRS8k8c_bounded2>>
}

// -----

// A code beyond the table.
exec.program @damaged arena 64 lower_bound 64 align 64 weights 64 {
  %w = exec.weight "w" at 0 = dense<[1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<28xui8> : tensor<28xui8>
  %y = exec.buffer "y" at 0 : tensor<36xi8>
  // expected-error @below {{reads 'w', which has a block 0 of which the code 35 is beyond its table of 3 values: it is damaged}}
  exec.call "decode" decode_codes_portable of "runtime/routines/stored_weights/decode/codes.h" inputs(%w) outputs(%y) shape <form = 0, elements = 36, block = 36, values = 3, value_bits = 2, gaps = 0, gap_bits = 0, entries = 0>
}

// -----

// Codes that are cut off.
exec.program @damaged arena 64 lower_bound 64 align 64 weights 64 {
  %w = exec.weight "w" at 0 = dense<[1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<27xui8> : tensor<27xui8>
  %y = exec.buffer "y" at 0 : tensor<36xi8>
  // expected-error @below {{has a shape that needs 28 bytes at least}}
  exec.call "decode" decode_codes_portable of "runtime/routines/stored_weights/decode/codes.h" inputs(%w) outputs(%y) shape <form = 0, elements = 36, block = 36, values = 3, value_bits = 2, gaps = 0, gap_bits = 0, entries = 0>
}

// -----

// Entries behind the end of a block.
exec.program @damaged arena 64 lower_bound 64 align 64 weights 64 {
  %w = exec.weight "w" at 0 = dense<[5, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<29xui8> : tensor<29xui8>
  %y = exec.buffer "y" at 0 : tensor<8xi8>
  // expected-error @below {{which has a block 0 of which the entry 8 is beyond its 8 elements: it is damaged}}
  exec.call "decode" decode_entries_portable of "runtime/routines/stored_weights/decode/entries.h" inputs(%w) outputs(%y) shape <form = 2, elements = 8, block = 8, values = 2, value_bits = 1, gaps = 0, gap_bits = 1, entries = 9>
}

// -----

// A block that is not there.
exec.program @damaged arena 64 lower_bound 64 align 64 weights 64 {
  %w = exec.weight "w" at 0 = dense<[5, 0, 0, 0, 200, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<29xui8> : tensor<29xui8>
  %y = exec.buffer "y" at 0 : tensor<8xi8>
  // expected-error @below {{which has a block 0 of which the place is beyond the bytes: it is damaged}}
  exec.call "decode" decode_entries_portable of "runtime/routines/stored_weights/decode/entries.h" inputs(%w) outputs(%y) shape <form = 2, elements = 8, block = 8, values = 2, value_bits = 1, gaps = 0, gap_bits = 1, entries = 9>
}

// -----

// More codes than there can be.
exec.program @damaged arena 64 lower_bound 64 align 64 weights 64 {
  %w = exec.weight "w" at 0 = dense<[5, 6, 3, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<25xui8> : tensor<25xui8>
  %y = exec.buffer "y" at 0 : tensor<8xi8>
  // expected-error @below {{which has more Huffman codes of values than there can be: it is damaged}}
  exec.call "decode" decode_huffman_portable of "runtime/routines/stored_weights/decode/huffman.h" inputs(%w) outputs(%y) shape <form = 1, elements = 8, block = 8, values = 2, value_bits = 1, gaps = 0, gap_bits = 0, entries = 0>
}

// -----

// More elements than the output has room for.
exec.program @damaged arena 64 lower_bound 64 align 64 weights 64 {
  %w = exec.weight "w" at 0 = dense<[1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<29xui8> : tensor<29xui8>
  %y = exec.buffer "y" at 0 : tensor<35xi8>
  // expected-error @below {{decodes 36 elements, and its output has room for 35}}
  exec.call "decode" decode_codes_portable of "runtime/routines/stored_weights/decode/codes.h" inputs(%w) outputs(%y) shape <form = 0, elements = 36, block = 36, values = 4, value_bits = 2, gaps = 0, gap_bits = 0, entries = 0>
}
