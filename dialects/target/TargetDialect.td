//===- TargetDialect.td - The machine that code is made for -*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_TARGET_DIALECT
#define NNC_DIALECTS_TARGET_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Target_Dialect : Dialect {
  let name = "target";
  let cppNamespace = "::nnc::target";
  let summary = "The machine that code is made for, as text in the IR";
  let description = [{
    Attributes, no ops. See `README.md` in this folder.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Target_Attr<string name, string attrMnemonic>
    : AttrDef<Target_Dialect, name> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Target_CoreAttr : Target_Attr<"Core", "core"> {
  let summary = "The cost model of a device of the kind core: a processor core";
  let description = [{
    The figures from which the compiler estimates how long a layer takes on one
    core:

    - `vector_bytes` and `vector_registers`: size and number of vector
      registers.
    - `caches`: the size of each cache in bytes, from level 1 on; empty for
      none.
    - `bandwidth`: the bytes per cycle that arrive from each of these caches.
    - `memory_mb_s`: the bandwidth of memory in MB/s.
    - `multiply_adds`: the f32 multiply-adds per cycle at the peak.
    - `mhz`: the clock rate in MHz.
    - `exposed`: arithmetic and reads of memory overlap, except for this
      percentage of the shorter of the two; 60 by default.

    Example:
    ```mlir
    #target.core<vector_bytes = 32, vector_registers = 16,
        caches = [32768, 524288, 16777216], bandwidth = [64, 32, 16],
        memory_mb_s = 20000, multiply_adds = 16, mhz = 3200>
    ```
  }];
  let parameters = (ins "int64_t":$vector_bytes, "int64_t":$vector_registers,
    "::mlir::DenseI64ArrayAttr":$caches,
    "::mlir::DenseI64ArrayAttr":$bandwidth, "int64_t":$memory_mb_s,
    "int64_t":$multiply_adds, "int64_t":$mhz,
    DefaultValuedParameter<"int64_t",
        "::nnc::target::costs::kUsualExposedPercent">:$exposed);
  let extraClassDeclaration = [{
    /// Returns the peak rate of one core in f32 multiply-adds per second.
    double getPeak() const;
    /// Returns the peak rate of one core in f32 multiply-adds per second, with
    /// the vectors of `isa`.
    double getPeak(::llvm::StringRef isa) const;
    /// Returns the number of multiply-adds of vectors of `isa` that a core
    /// starts per cycle.
    double getVectorRate(::llvm::StringRef isa) const;
    /// Seconds for e^x of one float, computed in vectors of `isa`.
    double getExponentialSeconds(::llvm::StringRef isa) const;
    /// Seconds for a gate of one float (a function of runtime/simd/gates.h),
    /// computed in vectors of `isa`.
    double getGateSeconds(::llvm::StringRef isa) const;
    /// Seconds to look up one byte in a table of 256, in vectors of `isa`; 0 if
    /// that is not known, and for instruction sets without vectors.
    double getLookupSeconds(::llvm::StringRef isa) const;
    /// Returns true if `bytes` fit into one of the first two caches.
    bool isNear(int64_t bytes) const;
    /// Returns the index of the first cache into which `bytes` fit, or nullopt
    /// if they fit into none. Of the last of several caches, only a third of
    /// its size counts, as other cores and other data share it.
    std::optional<size_t> getLevelFor(int64_t bytes) const;
    /// Returns the bytes per second that arrive from the cache into which
    /// `bytes` fit, or from memory.
    double getBandwidthFor(int64_t bytes) const;
    /// Returns the seconds to read `bytes` that were written or read before. If
    /// they fit into a cache, the caches nearer to the core hold a part of
    /// them. A cache between two others holds weights, too, so that a part of
    /// the bytes that would fit into it comes from the next one. Bytes that fit
    /// into no cache all come from memory.
    double getReadSeconds(int64_t bytes) const;
    /// Returns the bytes per second that arrive from the last-level cache, or
    /// from memory if there are no caches.
    double getLastBandwidth() const;
    /// Returns the size in bytes of the largest cache, which is the last-level
    /// one, or 0 if there are no caches.
    int64_t getLastBytes() const;
    /// Returns the size in bytes of the second-level cache, or of the first
    /// where there is only one; 0 if there are no caches.
    int64_t getSecondBytes() const;
    /// Returns the bytes per cycle that arrive from the cache of
    /// getSecondBytes(), or from memory if there are no caches.
    double getSecondBytesPerCycle() const;
  }];
}

def Target_GpuAttr : Target_Attr<"Gpu", "gpu"> {
  let summary = "The cost model of a device of the kind gpu: an NVIDIA GPU";
  let description = [{
    The figures from which the compiler estimates how long a launch takes:

    - `architectures`: those for which nvcc compiles kernels, such as `sm_80`,
      in ascending order.
    - `multiprocessors`: their number. All other figures of a multiprocessor
      are those of one.
    - `tensor_f16` and `tensor_i8`: the multiply-adds per cycle that a
      multiprocessor's tensor cores reach at most with `mma` of dense operands:
      of f16 or bf16 with sums in f32, and of 8-bit integers.
    - `launch_ns`: the nanoseconds that a small kernel takes among others that
      wait for each other, in a stream that is never empty or in a graph.
    - `shared_kb`: the shared memory of a multiprocessor in units of 1024
      bytes.
    - `resident_threads`: the number of threads that a multiprocessor holds.
    - `core`: the rest as if the GPU were one core. All units for f32 together
      are its vector unit, with `multiply_adds` per cycle of the whole GPU, and
      the level-2 cache is its only cache.

    Example:
    ```mlir
    #target.gpu<architectures = ["sm_80"], multiprocessors = 108,
        tensor_f16 = 1024, tensor_i8 = 2048, launch_ns = 1000,
        shared_kb = 164, resident_threads = 2048, core = #target.core<
            vector_bytes = 16, vector_registers = 32, caches = [41943040],
            bandwidth = [5120], memory_mb_s = 1555000, multiply_adds = 6912,
            mhz = 1410>>
    ```
  }];
  let parameters = (ins
    "::mlir::ArrayAttr":$architectures, "int64_t":$multiprocessors,
    "int64_t":$tensor_f16, "int64_t":$tensor_i8, "int64_t":$launch_ns,
    "int64_t":$shared_kb, "int64_t":$resident_threads,
    "::nnc::target::CoreAttr":$core);
  let extraClassDeclaration = [{
    /// Returns this GPU with other architectures.
    GpuAttr withArchitectures(::mlir::ArrayAttr others) const;
    /// Returns the peak rates of the whole GPU in multiply-adds per second: of
    /// its units for f32, and of its tensor cores.
    double getPeak() const { return getCore().getPeak(); }
    double getTensorPeakF16() const;
    double getTensorPeakI8() const;
  }];
}

def Target_SpaceAttr : Target_Attr<"Space", "space"> {
  let summary = "A memory space: memory that a device's routines can access";
  let description = [{
    `name` is a C identifier. `align` is the alignment in bytes of the arena and
    of the weights in this space, and of each tensor in them: a power of two of
    at least 8.

    Example: `#target.space<name = "ram", align = 64>`.
  }];
  let parameters = (ins StringRefParameter<"identifier">:$name,
    "int64_t":$align);
}

def Target_DeviceAttr : Target_Attr<"Device", "device"> {
  let summary = "A part of a machine that computes layers";
  let description = [{
    A processor that runs routines on values in memory of its own.

    - `name`: an identifier, unique in the machine.
    - `isas`: the instruction sets whose routines it can run, best first.
    - `features`: the features, by LLVM's names, that it must have to run code
      that `compiler` has built with `flags`.
    - `spaces`: its memory spaces. The values that its routines read and write
      lie in the first of them.
    - `cost`: its cost model, whose attribute follows from the kind of the
      device: `#target.core` for the kind core, `#target.gpu` for the kind gpu.
    - `link_mb_s` and `link_ns`: a transfer between the device and the host
      takes `link_ns` nanoseconds plus the time of its bytes at `link_mb_s`
      MB/s. The host has no link.

    Example:
    ```mlir
    #target.device<name = "host", isas = ["avx2", "sse4", "portable"],
        features = ["avx2", "fma", "bmi2", "f16c"],
        spaces = [#target.space<name = "ram", align = 64>],
        compiler = "c++", flags = "-march=x86-64-v3",
        cost = #target.core<vector_bytes = 32, vector_registers = 16,
            caches = [32768, 524288, 16777216], bandwidth = [64, 32, 16],
            memory_mb_s = 20000, multiply_adds = 16, mhz = 3200>>
    ```
  }];
  let parameters = (ins StringRefParameter<"identifier">:$name,
    "::mlir::ArrayAttr":$isas, "::mlir::ArrayAttr":$features,
    "::mlir::ArrayAttr":$spaces,
    StringRefParameter<"command">:$compiler,
    StringRefParameter<"what the compiler is given for this device">:$flags,
    "::mlir::Attribute":$cost,
    DefaultValuedParameter<"int64_t", "0">:$link_mb_s,
    DefaultValuedParameter<"int64_t", "0">:$link_ns);
  let extraClassDeclaration = [{
    /// The kind of the device, which follows from the type of its cost model.
    ::nnc::target::DeviceKind getKind() const;
    /// The cost model of a device of the kind core, or that of a GPU seen as
    /// one core.
    CoreAttr getCore() const;
    /// Returns the architectures of a device of the kind gpu, such as "sm_80",
    /// or an empty list for other kinds.
    ::llvm::ArrayRef<::mlir::Attribute> getArchitectures() const;
    /// The space in which values of the device lie.
    SpaceAttr getSpace() const {
      return ::llvm::cast<SpaceAttr>(getSpaces()[0]);
    }
    /// The alignment of values in that space, in bytes.
    int64_t getAlign() const { return getSpace().getAlign(); }
    /// Returns this device with another cost model.
    DeviceAttr withCost(::mlir::Attribute cost) const;
    /// Returns true if the device can run routines of the instruction set
    /// `isa`.
    bool hasIsa(::llvm::StringRef isa) const;
    /// Returns true if routines of one of its instruction sets are written for
    /// vectors.
    bool hasVectors() const;
    /// Returns true if the best instruction set has a multiply-add of floats
    /// that rounds only once.
    bool hasFusedMultiplyAdd() const;
    /// Returns true if layers of integers that a model defines by floats may be
    /// computed by methods that round, since exact ones are far slower with the
    /// best instruction set.
    bool mayRoundIntegers() const;
    /// Returns the cycles that it takes to look up a vector of bytes in a table
    /// of 256 with the best instruction set, or 0 if expressions are always
    /// faster.
    int64_t getLookupCycles() const;
    /// Returns the cycles for e^x of a vector of floats with the best
    /// instruction set.
    int64_t getExponentialCycles() const;
  }];
}

def Target_MachineAttr : Target_Attr<"Machine", "machine"> {
  let summary = "The description of a machine for the compiler";
  let description = [{
    The machine that code is compiled for, a module's attribute `nn.target`: a
    row of `targets.inc`, or what the target `native` found on the machine that
    runs nnc, which no pass asks again.

    - `name`: the name of the row, or `native`.
    - `triple`: the triple of the compiler.
    - `chip`: LLVM's name of the chip, for `native`.
    - `devices`: `#target.device` attributes. The first is called the host: it
      runs the program, and tensors whose types name no device are in its
      memory. If it is a GPU, the emitted module is CUDA: a function that runs
      on the CPU launches the kernels, and inputs, outputs, weights and arena
      are in the GPU's memory.
    - `emulator`: the command that runs programs for the machine, or empty.
    - `board`: for a machine without an operating system, which has no threads
      and no files, the board whose firmware runs its programs in tests; empty
      otherwise.

    Example:
    ```mlir
    module attributes {nn.target = #target.machine<
        name = "x86-64-v3", triple = "x86_64-linux-gnu", chip = "",
        devices = [#target.device<name = "host",
            isas = ["avx2", "sse4", "portable"],
            features = ["avx2", "fma", "bmi2", "f16c"],
            spaces = [#target.space<name = "ram", align = 64>],
            compiler = "c++", flags = "-march=x86-64-v3",
            cost = #target.core<vector_bytes = 32, vector_registers = 16,
                caches = [32768, 524288, 16777216], bandwidth = [64, 32, 16],
                memory_mb_s = 20000, multiply_adds = 16, mhz = 3200>>],
        emulator = "">} {}
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name of a row of targets.inc, or native">:$name,
    StringRefParameter<"triple of the compiler">:$triple,
    StringRefParameter<"the host's chip, where native">:$chip,
    "::mlir::ArrayAttr":$devices,
    StringRefParameter<"command that runs its programs, or none">:$emulator,
    StringRefParameter<"board of a machine without an operating system",
        "\"\"">:$board);
  let extraClassDeclaration = [{
    /// Returns true if programs for it run without an operating system.
    bool isBare() const { return !getBoard().empty(); }
    /// The device that runs the program.
    DeviceAttr getHost() const {
      return ::llvm::cast<DeviceAttr>(getDevices()[0]);
    }
    /// Returns the device called `name`, the host if the name is empty, or null
    /// if there is no such device.
    DeviceAttr findDevice(::llvm::StringRef name) const;
    /// Returns this machine with another host.
    MachineAttr withHost(DeviceAttr host) const;
  }];
}

#endif // NNC_DIALECTS_TARGET_DIALECT
