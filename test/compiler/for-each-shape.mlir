// RUN: split-file %s %t
// RUN: nnc-opt --mlir-disable-threading --pass-pipeline='builtin.module(nnc-for-each-shape{passes=builtin.module(nnc-set-constraints{target=portable},func.func(nnc-simplify,nnc-form-layers)),builtin.module(nnc-set-constraints{memories=fast:64,large:4096:slow target=x86-64-v3})})' %t/two.mlir | FileCheck %s
// RUN: not nnc-opt --pass-pipeline='builtin.module(nnc-for-each-shape{passes=builtin.module(nnc-set-constraints)})' %t/two.mlir 2>&1 | FileCheck --check-prefix=COUNT %s
// The passes are printed as they are read.
// RUN: nnc-opt --dump-pass-pipeline --pass-pipeline='builtin.module(nnc-for-each-shape{passes=builtin.module(nnc-set-constraints{memories=fast:64,large:4096:slow target=x86-64-v3},func.func(nnc-simplify,nnc-form-layers)),builtin.module(func.func(nnc-simplify))},nnc-drop-unread)' %t/none.mlir 2>&1 | FileCheck --check-prefix=PRINTED %s

// CHECK: module {
// CHECK: module attributes {{.*}}portable
// CHECK-NOT: exec.memories
// CHECK: nn.layer
// CHECK: module attributes {{.*}}x86-64-v3
// CHECK: exec.memories = [{{.*}}"fast"
// CHECK-NOT: nn.layer
// CHECK: nn.relu

// COUNT: error: holds 2 modules, and there are pipelines for 1; give each module one

// PRINTED: nnc-for-each-shape{passes=builtin.module(nnc-set-constraints{memories=fast:64,large:4096:slow {{.*}}target=x86-64-v3{{.*}}},func.func(nnc-simplify,nnc-form-layers)),builtin.module(func.func(nnc-simplify))},nnc-drop-unread

//--- two.mlir
module {
module {
  func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = nn.relu %x : tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}
module {
  func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %0 = nn.relu %x : tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }
}
}

//--- none.mlir
module {
module {
}
module {
}
}
