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
    Caches and bandwidths are listed from level 1 on, in bytes and bytes a
    cycle; a core without caches lists none. Computing and reading from memory
    overlap; `exposed` is the percentage of the shorter one that does not, 60
    unless the attribute says another figure.

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
    /// Peak rate of one core, in f32 multiply-adds a second.
    double getPeak() const;
    /// The same with vectors of `isa`.
    double getPeak(::llvm::StringRef isa) const;
    /// Multiply-adds of vectors of `isa` that a core starts in a cycle.
    double getVectorRate(::llvm::StringRef isa) const;
    /// Seconds for e^x of one float, computed in vectors of `isa`.
    double getExponentialSeconds(::llvm::StringRef isa) const;
    /// The same for a function of runtime/simd/gates.h.
    double getGateSeconds(::llvm::StringRef isa) const;
    /// Whether one of the first two caches holds `bytes`.
    bool isNear(int64_t bytes) const;
    /// Index of the first cache that holds `bytes`; none if they come from
    /// memory. The last of several caches holds a third of its size, as other
    /// cores and other data share it.
    std::optional<size_t> getLevelFor(int64_t bytes) const;
    /// Bytes a second at which `bytes` arrive from the level that holds them.
    double getBandwidthFor(int64_t bytes) const;
    /// Seconds to read `bytes` that were written or read before. If a cache
    /// holds all of them, the caches nearer to the core hold a part of them. A
    /// cache between two others holds weights, too, so that a part of what
    /// would fit into it comes from the next one. If no cache holds all of
    /// them, all come from memory.
    double getReadSeconds(int64_t bytes) const;
    /// Bytes a second from the last-level cache, or from memory if there are
    /// no caches.
    double getLastBandwidth() const;
    /// Bytes that the last-level cache holds; 0 if there are no caches.
    int64_t getLastBytes() const;
    /// Bytes that the second-level cache holds, or the first where there is
    /// only one; 0 if there are no caches.
    int64_t getSecondBytes() const;
    /// Bytes that arrive from that cache in a cycle, or from memory if there
    /// are no caches.
    double getSecondBytesPerCycle() const;
  }];
}

def Target_SpaceAttr : Target_Attr<"Space", "space"> {
  let summary = "A memory space: memory that a device's routines can access";
  let description = [{
    `name` is an identifier of C. `align` is the alignment in bytes of the arena
    in this space, of the weights there and of each tensor in them, a power of
    two of 8 at least.

    Example: `#target.space<name = "ram", align = 64>`.
  }];
  let parameters = (ins StringRefParameter<"identifier">:$name,
    "int64_t":$align);
}

def Target_DeviceAttr : Target_Attr<"Device", "device"> {
  let summary = "A part of a machine that computes layers";
  let description = [{
    `isas` are the levels of routines that it runs, best first; `features` what
    it must have to run code that is built by `compiler` with `flags`, by LLVM's
    names. Values that its routines read and write lie in the first of its
    memory `spaces`. `cost` is the cost model, an attribute of the device's
    kind: `#target.core` for the kind core.

    Between a device that is not the host and the host, data moves over a link
    of `link_mb_s` MB/s, and each transfer takes `link_ns` nanoseconds beside
    that. The host has no link.

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
    /// The kind, which follows from the attribute of the cost model.
    ::nnc::target::DeviceKind getKind() const;
    /// The cost model of a device of the kind core.
    CoreAttr getCore() const { return ::llvm::cast<CoreAttr>(getCost()); }
    /// The space in which values of the device lie.
    SpaceAttr getSpace() const {
      return ::llvm::cast<SpaceAttr>(getSpaces()[0]);
    }
    /// The alignment of values there.
    int64_t getAlign() const { return getSpace().getAlign(); }
    /// The same device with another cost model.
    DeviceAttr withCost(::mlir::Attribute cost) const;
    /// Whether routines of this level run on it.
    bool hasIsa(::llvm::StringRef isa) const;
    /// Returns true if routines of one of its isas are written for vectors.
    bool hasVectors() const;
    /// Cycles for looking up a vector of bytes in a table of 256, with the best
    /// instruction set; 0 where expressions are faster.
    int64_t getLookupCycles() const;
    /// Cycles for e^x of a vector of floats, with the best instruction set.
    int64_t getExponentialCycles() const;
  }];
}

def Target_MachineAttr : Target_Attr<"Machine", "machine"> {
  let summary = "The description of a machine for the compiler";
  let description = [{
    The module's attribute `nn.target`. A row of `targets.inc`, or what
    `native` found on the host: from then on no pass asks the host anything.
    The first of the `devices` is the host, of the kind core: it runs the
    program, and holds what types without a device have. A machine without an
    operating system has the name of a `board`, whose test firmware runs its
    programs; it has no threads and no files.

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
    /// Whether programs for it run without an operating system.
    bool isBare() const { return !getBoard().empty(); }
    /// The device that runs the program.
    DeviceAttr getHost() const {
      return ::llvm::cast<DeviceAttr>(getDevices()[0]);
    }
    /// The device of that name; the host for an empty name, and null if there
    /// is none of the name.
    DeviceAttr findDevice(::llvm::StringRef name) const;
    /// The same machine with another host.
    MachineAttr withHost(DeviceAttr host) const;
  }];
}

#endif // NNC_DIALECTS_TARGET_DIALECT
