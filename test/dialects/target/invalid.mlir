// RUN: nnc-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{a machine has 2 caches and the bandwidth of 1}}
module attributes {nn.target = #target.machine<
    name = "x", triple = "", chip = "", isas = ["portable"], features = [], vector_bytes = 16,
    vector_registers = 32, caches = [65536, 1048576],
    bandwidth = [32], memory_mb_s = 10000, multiply_adds = 8,
    mhz = 2500, compiler = "c++", flags = "", emulator = "">} {
}

// -----

// expected-error@below {{a machine needs the names of its isas}}
module attributes {nn.target = #target.machine<
    name = "x", triple = "", chip = "", isas = [], features = [], vector_bytes = 16,
    vector_registers = 32, caches = [], bandwidth = [],
    memory_mb_s = 10000, multiply_adds = 8, mhz = 2500, compiler = "c++",
    flags = "", emulator = "">} {
}

// -----

// expected-error@below {{a machine's features are names}}
module attributes {nn.target = #target.machine<
    name = "x", triple = "", chip = "", isas = ["portable"], features = [1],
    vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [],
    memory_mb_s = 10000, multiply_adds = 8, mhz = 2500, compiler = "c++",
    flags = "", emulator = "">} {
}

// -----

// expected-error@below {{exposed is a percentage}}
module attributes {nn.target = #target.machine<
    name = "x", triple = "", chip = "", isas = ["portable"], features = [],
    vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [],
    memory_mb_s = 10000, multiply_adds = 8, mhz = 2500, compiler = "c++",
    flags = "", emulator = "", exposed = 101>} {
}

// -----

// expected-error@below {{a machine's caches and their bandwidths are above 0; leave out levels that it lacks}}
module attributes {nn.target = #target.machine<
    name = "x", triple = "", chip = "", isas = ["portable"], features = [],
    vector_bytes = 16, vector_registers = 32, caches = [32768, 0],
    bandwidth = [16, 8], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500,
    compiler = "c++", flags = "", emulator = "">} {
}

// -----

// expected-error@below {{a machine's caches and their bandwidths are above 0}}
module attributes {nn.target = #target.machine<
    name = "x", triple = "", chip = "", isas = ["portable"], features = [],
    vector_bytes = 16, vector_registers = 32, caches = [32768],
    bandwidth = [0], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500,
    compiler = "c++", flags = "", emulator = "">} {
}
