// RUN: nnc-opt %s --split-input-file | FileCheck %s

// CHECK-LABEL: module @cortex
// CHECK-SAME: nn.target = #target.machine<name = "aarch64"
// CHECK-SAME: devices = [#target.device<name = "host", isas = {{\[}}"neon", "portable"], features = {{\[}}"neon"], spaces = [#target.space<name = "ram", align = 64>]
// CHECK-SAME: caches = {{\[}}65536, 1048576]
// CHECK-SAME: emulator = "qemu-aarch64 -L /usr/aarch64-linux-gnu">
module @cortex attributes {nn.target = #target.machine<
    name = "aarch64", triple = "aarch64-linux-gnu", chip = "",
    devices = [#target.device<name = "host", isas = ["neon", "portable"],
        features = ["neon"], spaces = [#target.space<name = "ram", align = 64>],
        compiler = "aarch64-linux-gnu-g++", flags = "-march=armv8-a",
        cost = #target.core<vector_bytes = 16, vector_registers = 32,
            caches = [65536, 1048576], bandwidth = [32, 16], memory_mb_s = 10000,
            multiply_adds = 8, mhz = 2500>>],
    emulator = "qemu-aarch64 -L /usr/aarch64-linux-gnu">} {
}

// -----

// CHECK-LABEL: module @hides
// CHECK-SAME: mhz = 3200, exposed = 25>
module @hides attributes {nn.target = #target.machine<
    name = "x86-64-v3", triple = "x86_64-linux-gnu", chip = "",
    devices = [#target.device<name = "host", isas = ["avx2", "portable"],
        features = ["avx2"], spaces = [#target.space<name = "ram", align = 64>],
        compiler = "c++", flags = "",
        cost = #target.core<vector_bytes = 32, vector_registers = 16,
            caches = [32768, 1048576], bandwidth = [64, 32], memory_mb_s = 10000,
            multiply_adds = 16, mhz = 3200, exposed = 25>>],
    emulator = "">} {
}

// -----

// CHECK-LABEL: module @two
// CHECK-SAME: #target.device<name = "npu"{{.*}} link_mb_s = 8000, link_ns = 2000>
#ram = #target.space<name = "ram", align = 64>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
#host = #target.device<name = "host", isas = ["portable"], features = [], spaces = [#ram], compiler = "c++", flags = "", cost = #core>
#npu = #target.device<name = "npu", isas = ["portable"], features = [], spaces = [#ram], compiler = "c++", flags = "", cost = #core, link_mb_s = 8000, link_ns = 2000>
module @two attributes {nn.target = #target.machine<name = "t", triple = "", chip = "", devices = [#host, #npu], emulator = "">} {
}

// -----

// CHECK-LABEL: module @gpu
// CHECK-SAME: #target.gpu<architectures = {{\[}}"sm_80"], multiprocessors = 108, tensor_f16 = 1024, tensor_i8 = 2048, launch_ns = 1000, shared_kb = 164, resident_threads = 2048, core = <{{.*}} mhz = 1410>>
#ram = #target.space<name = "ram", align = 256>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [41943040], bandwidth = [5120], memory_mb_s = 1555000, multiply_adds = 6912, mhz = 1410>
#gpu = #target.gpu<architectures = ["sm_80"], multiprocessors = 108, tensor_f16 = 1024, tensor_i8 = 2048, launch_ns = 1000, shared_kb = 164, resident_threads = 2048, core = #core>
#host = #target.device<name = "host", isas = ["portable"], features = [], spaces = [#ram], compiler = "nvcc", flags = "", cost = #gpu>
module @gpu attributes {nn.target = #target.machine<name = "cuda-sm80", triple = "", chip = "", devices = [#host], emulator = "">} {
}
