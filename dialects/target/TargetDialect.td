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
    a cycle. Of the shorter of computing and reading from memory `exposed`
    percent do not hide behind the longer, 60 unless it says another figure.

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
    StringRefParameter<"row of targets.inc, or native">:$name,
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
    DefaultValuedParameter<"int64_t", "60">:$exposed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether routines of this level run on it.
    bool hasIsa(::llvm::StringRef isa) const;
    /// f32 multiply-adds a second of one core, at best.
    double getPeak() const;
    /// The same where the vectors are only those of `isa`.
    double getPeak(::llvm::StringRef isa) const;
    /// Multiply-adds of vectors of `isa` that a core begins in a cycle.
    double getVectorRate(::llvm::StringRef isa) const;
    /// Seconds of an exponential of a float, in vectors of `isa`.
    double getExponentialSeconds(::llvm::StringRef isa) const;
    /// The same of a function of runtime/simd/gates.h.
    double getGateSeconds(::llvm::StringRef isa) const;
    /// Whether the first two levels hold `bytes`.
    bool isNear(int64_t bytes) const;
    /// The first level of the caches that holds `bytes`; none where they come
    /// from memory. A last level that others share holds a third of its size.
    std::optional<size_t> getLevelFor(int64_t bytes) const;
    /// Bytes a second from where `bytes` come.
    double getBandwidthFor(int64_t bytes) const;
    /// Seconds to read `bytes` that were written or read before: the levels
    /// before the first that holds all of them hold some. A level between two
    /// others shares what it could hold with the next. Bytes that come from
    /// memory pass by all levels.
    double getReadSeconds(int64_t bytes) const;
    /// Bytes a second from the last cache.
    double getLastBandwidth() const;
    /// Bytes that it holds.
    int64_t getLastBytes() const;
  }];
}

#endif // NNC_DIALECTS_TARGET_DIALECT
