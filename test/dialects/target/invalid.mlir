// RUN: nnc-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{a core has 2 caches and the bandwidth of 1}}
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [65536, 1048576], bandwidth = [32], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>

// -----

// expected-error@below {{a core's caches and their bandwidths are above 0; leave out levels that it lacks}}
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [32768, 0], bandwidth = [16, 8], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>

// -----

// expected-error@below {{a core's caches and their bandwidths are above 0}}
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [32768], bandwidth = [0], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>

// -----

// expected-error@below {{exposed is a percentage}}
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500, exposed = 101>

// -----

// expected-error@below {{align is a power of two, 8 at least}}
#ram = #target.space<name = "ram", align = 24>

// -----

// expected-error@below {{a memory space needs a name}}
#ram = #target.space<name = "", align = 64>

// -----

#ram = #target.space<name = "ram", align = 64>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
// expected-error@below {{a device needs a name}}
#device = #target.device<name = "", isas = ["portable"], features = [], spaces = [#ram], compiler = "c++", flags = "", cost = #core>

// -----

#ram = #target.space<name = "ram", align = 64>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
// expected-error@below {{a device needs the names of its isas}}
#device = #target.device<name = "host", isas = [], features = [], spaces = [#ram], compiler = "c++", flags = "", cost = #core>

// -----

#ram = #target.space<name = "ram", align = 64>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
// expected-error@below {{a device's features are names}}
#device = #target.device<name = "host", isas = ["portable"], features = [1], spaces = [#ram], compiler = "c++", flags = "", cost = #core>

// -----

#ram = #target.space<name = "ram", align = 64>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
// expected-error@below {{a device needs a list of #target.space}}
#device = #target.device<name = "host", isas = ["portable"], features = [], spaces = [], compiler = "c++", flags = "", cost = #core>

// -----

#ram = #target.space<name = "ram", align = 64>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
// expected-error@below {{a device needs as cost the attribute of a kind of devices: #target.core or #target.gpu}}
#device = #target.device<name = "host", isas = ["portable"], features = [], spaces = [#ram], compiler = "c++", flags = "", cost = #ram>

// -----

#ram = #target.space<name = "ram", align = 64>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
// expected-error@below {{a device's link_mb_s and link_ns are not below 0}}
#device = #target.device<name = "host", isas = ["portable"], features = [], spaces = [#ram], compiler = "c++", flags = "", cost = #core, link_mb_s = -1>

// -----

// expected-error@below {{a machine needs a list of #target.device, the host first}}
#machine = #target.machine<name = "x", triple = "", chip = "", devices = [], emulator = "">

// -----

#ram = #target.space<name = "ram", align = 64>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
#host = #target.device<name = "host", isas = ["portable"], features = [], spaces = [#ram], compiler = "c++", flags = "", cost = #core>
// expected-error@below {{a machine has two devices named 'host'}}
#machine = #target.machine<name = "x", triple = "", chip = "", devices = [#host, #host], emulator = "">

// -----

#ram = #target.space<name = "ram", align = 64>
#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
#host = #target.device<name = "host", isas = ["portable"], features = [], spaces = [#ram], compiler = "c++", flags = "", cost = #core>
#other = #target.device<name = "other", isas = ["portable"], features = [], spaces = [#ram], compiler = "c++", flags = "", cost = #core>
// expected-error@below {{each device but the machine's host needs a link_mb_s above 0}}
#machine = #target.machine<name = "x", triple = "", chip = "", devices = [#host, #other], emulator = "">

// -----

#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
// expected-error@below {{a GPU needs a list of architectures, each of which is sm_ and a number}}
#gpu = #target.gpu<architectures = ["sm_80", "volta"], multiprocessors = 108, tensor_f16 = 1024, tensor_i8 = 2048, launch_ns = 1000, shared_kb = 164, resident_threads = 2048, core = #core>

// -----

#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
// expected-error@below {{a GPU needs multiprocessors, tensor_f16, tensor_i8, shared_kb and resident_threads above 0}}
#gpu = #target.gpu<architectures = ["sm_80"], multiprocessors = 0, tensor_f16 = 1024, tensor_i8 = 2048, launch_ns = 1000, shared_kb = 164, resident_threads = 2048, core = #core>

// -----

#core = #target.core<vector_bytes = 16, vector_registers = 32, caches = [], bandwidth = [], memory_mb_s = 10000, multiply_adds = 8, mhz = 2500>
// expected-error@below {{a GPU's launch_ns is not below 0}}
#gpu = #target.gpu<architectures = ["sm_80"], multiprocessors = 108, tensor_f16 = 1024, tensor_i8 = 2048, launch_ns = -1, shared_kb = 164, resident_threads = 2048, core = #core>
