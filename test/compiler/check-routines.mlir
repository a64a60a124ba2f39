// RUN: nnc-opt %s --split-input-file --verify-diagnostics --nnc-check-routines

// What a person may get wrong in the text, and what they are told.

#machine = #target.machine<
    name = "x86-64-v3", triple = "x86_64-linux-gnu", chip = "",
    devices = [#target.device<name = "host", isas = ["avx2", "sse4", "portable"],
        features = ["avx2", "fma", "bmi2", "f16c"], spaces = [#target.space<name = "ram", align = 64>],
        compiler = "c++", flags = "-march=x86-64-v3",
        cost = #target.core<vector_bytes = 32, vector_registers = 16,
            caches = [32768, 524288, 16777216], bandwidth = [64, 32, 16], memory_mb_s = 20000,
            multiply_adds = 16, mhz = 3200>>],
    emulator = "">
module attributes {nn.target = #machine} {
  func.func @sound(%x: tensor<4x50xf32>, %w: tensor<50x40xf32, #nn.layout<NK8n>>) -> tensor<4x40xf32> {
    %0 = nn.layer "dense" inputs(%x, %w : tensor<4x50xf32>, tensor<50x40xf32, #nn.layout<NK8n>>) -> tensor<4x40xf32> attributes {routine = "matmul_f32_nk8n_avx2", params = array<i64: 6, 2>}
    anchor {
    ^bb0(%a: tensor<4x50xf32>, %b: tensor<50x40xf32>):
      %c = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<4x50xf32>, tensor<50x40xf32>) -> tensor<4x40xf32>
      nn.yield %c : tensor<4x40xf32>
    } epilogue {
    ^bb0(%e: f32):
      nn.yield %e : f32
    }
    return %0 : tensor<4x40xf32>
  }
}

// -----

#machine = #target.machine<
    name = "x86-64-v3", triple = "x86_64-linux-gnu", chip = "",
    devices = [#target.device<name = "host", isas = ["avx2", "sse4", "portable"],
        features = ["avx2", "fma", "bmi2", "f16c"], spaces = [#target.space<name = "ram", align = 64>],
        compiler = "c++", flags = "-march=x86-64-v3",
        cost = #target.core<vector_bytes = 32, vector_registers = 16,
            caches = [32768, 524288, 16777216], bandwidth = [64, 32, 16], memory_mb_s = 20000,
            multiply_adds = 16, mhz = 3200>>],
    emulator = "">
module attributes {nn.target = #machine} {
  func.func @wrong(%x: tensor<4x50xf32>, %w: tensor<50x40xf32, #nn.layout<NK8n>>, %d: tensor<4x40xf64>) {
    // expected-error@below {{has no routine; nnc-choose-routines gives it one}}
    %0 = nn.layer "a" extras(%x : tensor<4x50xf32>) -> tensor<4x50xf32> anchor {
    } epilogue {
    ^bb0(%e: f32):
      nn.yield %e : f32
    }
    // expected-error@below {{names the routine 'elementwise_mmx', which is not in the catalogue; of its family there are elementwise_avx2,}}
    %1 = nn.layer "b" extras(%x : tensor<4x50xf32>) -> tensor<4x50xf32> attributes {routine = "elementwise_mmx"} anchor {
    } epilogue {
    ^bb0(%e: f32):
      nn.yield %e : f32
    }
    // expected-error@below {{names the routine 'elementwise_avx512', which needs avx512, which the target 'x86-64-v3' lacks}}
    %2 = nn.layer "c" extras(%x : tensor<4x50xf32>) -> tensor<4x50xf32> attributes {routine = "elementwise_avx512"} anchor {
    } epilogue {
    ^bb0(%e: f32):
      nn.yield %e : f32
    }
    // expected-error@below {{names the routine 'copy_portable', which belongs to the family copy; the layer is of elementwise}}
    %3 = nn.layer "d" extras(%x : tensor<4x50xf32>) -> tensor<4x50xf32> attributes {routine = "copy_portable"} anchor {
    } epilogue {
    ^bb0(%e: f32):
      nn.yield %e : f32
    }
    // expected-error@below {{has an operand 1 of 'tensor<50x40xf32, #nn.layout<NK8n>>'; 'matmul_portable' reads 'tensor<50x40xf32>'}}
    %4 = nn.layer "e" inputs(%x, %w : tensor<4x50xf32>, tensor<50x40xf32, #nn.layout<NK8n>>) -> tensor<4x40xf32> attributes {routine = "matmul_portable"}
    anchor {
    ^bb0(%a: tensor<4x50xf32>, %b: tensor<50x40xf32>):
      %c = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<4x50xf32>, tensor<50x40xf32>) -> tensor<4x40xf32>
      nn.yield %c : tensor<4x40xf32>
    } epilogue {
    ^bb0(%e: f32):
      nn.yield %e : f32
    }
    // expected-error@below {{has 1 params; matmul_f32_nk8n_avx2 has 2 (M, B)}}
    %5 = nn.layer "f" inputs(%x, %w : tensor<4x50xf32>, tensor<50x40xf32, #nn.layout<NK8n>>) -> tensor<4x40xf32> attributes {routine = "matmul_f32_nk8n_avx2", params = array<i64: 6>}
    anchor {
    ^bb0(%a: tensor<4x50xf32>, %b: tensor<50x40xf32>):
      %c = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<4x50xf32>, tensor<50x40xf32>) -> tensor<4x40xf32>
      nn.yield %c : tensor<4x40xf32>
    } epilogue {
    ^bb0(%e: f32):
      nn.yield %e : f32
    }
    // expected-error@below {{has params of matmul_f32_nk8n_avx2 below 1}}
    %6 = nn.layer "g" inputs(%x, %w : tensor<4x50xf32>, tensor<50x40xf32, #nn.layout<NK8n>>) -> tensor<4x40xf32> attributes {routine = "matmul_f32_nk8n_avx2", params = array<i64: 0, 2>}
    anchor {
    ^bb0(%a: tensor<4x50xf32>, %b: tensor<50x40xf32>):
      %c = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<4x50xf32>, tensor<50x40xf32>) -> tensor<4x40xf32>
      nn.yield %c : tensor<4x40xf32>
    } epilogue {
    ^bb0(%e: f32):
      nn.yield %e : f32
    }
    // expected-error@below {{names the routine ''; of its family there are copy_}}
    %7 = nn.adapt %w : tensor<50x40xf32, #nn.layout<NK8n>> -> tensor<50x40xf32>
    return
  }
}

// -----

// expected-error@below {{the module has no target: give nnc-choose-routines the option target=..., or the module the attribute nn.target}}
module {
}
