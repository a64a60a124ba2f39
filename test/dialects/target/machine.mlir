// RUN: nnc-opt %s --split-input-file | FileCheck %s

// CHECK-LABEL: module @cortex
// CHECK-SAME: nn.target = #target.machine<name = "aarch64"
// CHECK-SAME: isas = {{\[}}"neon", "portable"], features = {{\[}}"neon"]
// CHECK-SAME: caches = {{\[}}65536, 1048576]
// CHECK-SAME: emulator = "qemu-aarch64 -L /usr/aarch64-linux-gnu">
module @cortex attributes {nn.target = #target.machine<
    name = "aarch64", triple = "aarch64-linux-gnu", chip = "",
    isas = ["neon", "portable"], features = ["neon"],
    vector_bytes = 16, vector_registers = 32,
    caches = [65536, 1048576], bandwidth = [32, 16],
    memory_mb_s = 10000, multiply_adds = 8, mhz = 2500,
    compiler = "aarch64-linux-gnu-g++", flags = "-march=armv8-a",
    emulator = "qemu-aarch64 -L /usr/aarch64-linux-gnu">} {
}

// -----

// CHECK-LABEL: module @hides
// CHECK-SAME: emulator = "", exposed = 25>
module @hides attributes {nn.target = #target.machine<
    name = "x86-64-v3", triple = "x86_64-linux-gnu", chip = "",
    isas = ["avx2", "portable"], features = ["avx2"],
    vector_bytes = 32, vector_registers = 16,
    caches = [32768, 1048576], bandwidth = [64, 32],
    memory_mb_s = 10000, multiply_adds = 16, mhz = 3200, compiler = "c++",
    flags = "", emulator = "", exposed = 25>} {
}
