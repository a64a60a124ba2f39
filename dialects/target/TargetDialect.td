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
    One attribute, no ops. See `README.md` in this folder.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Target_MachineAttr : AttrDef<Target_Dialect, "Machine"> {
  let mnemonic = "machine";
  let summary = "All that the compiler knows of a machine";
  let description = [{
    The module's attribute `nn.target`. A row of `targets.inc`, or what
    `native` found on the host: from then on no pass asks the host anything.
    `isas` are the levels of routines that it runs, best first; `features` what
    its CPU must have to run code that is built with its `flags`, by LLVM's
    names. Caches and bandwidths are listed from level 1 on, in bytes and bytes
    a cycle; a machine without caches lists none. Computing and reading from
    memory overlap; `exposed` is the percentage of the shorter one that does
    not, 60 unless the attribute says another figure. `align` is the alignment
    in bytes of the arena, of the weights and of each tensor in them, 64 unless
    the attribute says another. A machine without an operating system has the
    name of a `board`, whose test firmware runs its programs; it has no threads
    and no files.

    Example:
    ```mlir
    module attributes {nn.target = #target.machine<
        name = "x86-64-v3", triple = "x86_64-linux-gnu", chip = "",
        isas = ["avx2", "sse4", "portable"],
        features = ["avx2", "fma", "bmi2", "f16c"],
        vector_bytes = 32, vector_registers = 16,
        caches = [32768, 524288, 16777216],
        bandwidth = [64, 32, 16], memory_mb_s = 20000,
        multiply_adds = 16, mhz = 3200, compiler = "c++",
        flags = "-march=x86-64-v3", emulator = "">} {}
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name of a row of targets.inc, or native">:$name,
    StringRefParameter<"triple of the compiler">:$triple,
    StringRefParameter<"the host's chip, where native">:$chip,
    "::mlir::ArrayAttr":$isas, "::mlir::ArrayAttr":$features,
    "int64_t":$vector_bytes, "int64_t":$vector_registers,
    "::mlir::DenseI64ArrayAttr":$caches,
    "::mlir::DenseI64ArrayAttr":$bandwidth, "int64_t":$memory_mb_s,
    "int64_t":$multiply_adds, "int64_t":$mhz,
    StringRefParameter<"command">:$compiler,
    StringRefParameter<"what the compiler is given for this machine">:$flags,
    StringRefParameter<"command that runs its programs, or none">:$emulator,
    DefaultValuedParameter<"int64_t",
        "::nnc::target::costs::kUsualExposedPercent">:$exposed,
    DefaultValuedParameter<"int64_t",
        "::nnc::target::costs::kUsualAlign">:$align,
    StringRefParameter<"board of a machine without an operating system",
        "\"\"">:$board);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether programs for it run without an operating system.
    bool isBare() const { return !getBoard().empty(); }
    /// Whether routines of this level run on it.
    bool hasIsa(::llvm::StringRef isa) const;
    /// Returns true if routines of one of its isas are written for vectors.
    bool hasVectors() const;
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
    /// Cycles for looking up a vector of bytes in a table of 256, with the best
    /// instruction set; 0 where expressions are faster.
    int64_t getLookupCycles() const;
    /// Cycles for e^x of a vector of floats, with the best instruction set.
    int64_t getExponentialCycles() const;
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

#endif // NNC_DIALECTS_TARGET_DIALECT
