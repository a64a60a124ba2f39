// RUN: nnc-opt %s | FileCheck %s

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
