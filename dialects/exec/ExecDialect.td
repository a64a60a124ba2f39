//===- ExecDialect.td - The exec dialect --------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_DIALECT
#define NNC_DIALECTS_EXEC_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::nnc::exec";
  let summary = "Programs of routine calls on fixed places in memory";
  let description = [{
    The programs that `codegen/` prints, one piece of text for each op. The
    dialect is small and closed: a new operator of a network never needs a new
    op here. See `README.md` in this folder.

    The dialect also has the attributes in which passes record where the values
    of an nn function lie in memory.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::nnc::nn::NnDialect"];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  // The rules of ExecAttributeRules.cpp say which ops, arguments and results may
  // carry each attribute, and with which values. nnc-assign-threads sets
  // exec.serial, and nnc-plan-memory most of the others.
  let discardableAttrs = (ins
    // The place of a value, on the op that computes it and on arguments and results
    // of functions; the list of the places of all results, on an op that runs
    // functions; and the place of the scratch of a layer's routine.
    "::nnc::exec::PlaceAttr":$place,
    "::mlir::ArrayAttr":$places,
    "::nnc::exec::PlaceAttr":$scratch,
    // Marks an op that a single thread computes.
    "::mlir::UnitAttr":$serial,
    // The size of a function's arena in bytes, and a lower bound of it.
    "::mlir::IntegerAttr":$arena,
    "::mlir::IntegerAttr":$lower_bound,
    // Marks a function whose arena holds its inputs and results, too.
    "::mlir::UnitAttr":$ports_in_arena,
    // Marks a function with exec.ports_in_arena whose caller passes memory of the
    // CPU: a run on a GPU copies inputs and results from and to it.
    "::mlir::UnitAttr":$host_ports,
    // The memories among which the arena of the function is divided, and those for
    // its weights.
    "::mlir::ArrayAttr":$memories,
    "::mlir::ArrayAttr":$weight_memories,
    // The sizes that the program of the function will have.
    "::mlir::ArrayAttr":$sizes,
    // Marks a function that is compiled only to be compared with that of the
    // largest sizes (nn.sample). Its values may be larger than their places.
    "::mlir::UnitAttr":$sample,
    // The dimensions of the tensor at a place of a program with sizes: an affine map
    // whose symbols are the sizes in order. The tensor's type has the largest
    // dimensions.
    "::mlir::AffineMapAttr":$dims,
    // Marks a program as one of several in a module, for different shapes of the
    // inputs: the name of the first program, after which files and weights of all
    // are named. The programs share their weights: the same offset holds the same
    // bytes.
    "::mlir::StringAttr":$module
  );
}

def Exec_PlaceType : TypeDef<Exec_Dialect, "Place"> {
  let mnemonic = "place";
  let summary = "A place in memory that holds a tensor";
  let description = [{
    A place in memory. The op that defines it gives its name and the type of the
    tensor there, with the layout.
  }];
}
def Exec_Place : DialectType<Exec_Dialect,
    CPred<"::llvm::isa<::nnc::exec::PlaceType>($_self)">, "place",
    "::nnc::exec::PlaceType">,
    BuildableType<"$_builder.getType<::nnc::exec::PlaceType>()">;

def Exec_Pool : I32EnumAttr<"Pool", "whose memory a place is in", [
    I32EnumAttrCase<"arena", 0>, I32EnumAttrCase<"input", 1>,
    I32EnumAttrCase<"output", 2>, I32EnumAttrCase<"weight", 3>,
    I32EnumAttrCase<"state", 4>]> {
  let cppNamespace = "::nnc::exec";
  let genSpecializedAttr = 0;
}

def Exec_PlaceAttr : AttrDef<Exec_Dialect, "Place"> {
  let mnemonic = "place";
  let summary = "Where nnc-plan-memory put a value";
  let description = [{
    The place of a value of an nn function: `offset` bytes from the start of a
    piece of memory, which `pool` and `index` name.

    - `arena`: the arena or, if the function has `exec.memories`, the part of it
      in the memory with the number `index`.
    - `input`, `output`: the caller's buffer for the argument or result with the
      number `index`.
    - `state`: the caller's buffer for the state whose argument has the number
      `index`. The result that is the next value of the state has the same
      index.
    - `weight`: the constant that the op is, or is a view of. If the function
      has `exec.weight_memories`, the constant is in that with the number
      `index`.

    Numbers begin with 0. `bytes` is the size of the scratch memory of a layer,
    in the attribute `exec.scratch`.

    Examples: `#exec.place<arena at 4096>`, `#exec.place<output[1] at 0>`,
    `#exec.place<arena[1] at 0>`, the start of the second memory; for a layer's
    scratch, `#exec.place<arena at 4096 bytes 512>`.
  }];
  let parameters = (ins EnumParameter<Exec_Pool>:$pool,
    DefaultValuedParameter<"int64_t", "0">:$index, "int64_t":$offset,
    DefaultValuedParameter<"int64_t", "0">:$bytes);
  let assemblyFormat = "`<` $pool (`[` $index^ `]`)? `at` $offset (`bytes` $bytes^)? `>`";
}

def Exec_MemoryAttr : AttrDef<Exec_Dialect, "Memory"> {
  let mnemonic = "memory";
  let summary = "One of the memories that the arena or the weights are divided among";
  let description = [{
    A memory of the user's hardware that holds a part of the arena or of the
    weights. `name` is a C identifier, unique among the memories. `size` is the
    number of bytes that a plan may take, and `bytes` the number that it does
    take, which exceeds `size` if `nnc-plan-memory` found no division that fits.
    Each access of a `slow` memory takes longer than one of the others. A memory
    of a `device` holds only values of that device; without one it is the
    host's.

    Examples: `#exec.memory<name = "dtcm", size = 65536>`,
    `#exec.memory<name = "psram", size = 4194304, slow = true, bytes = 8192>`,
    `#exec.memory<name = "gpu_ram", size = 1073741824, device = "gpu">`.
  }];
  let parameters = (ins StringRefParameter<"identifier">:$name, "int64_t":$size,
    DefaultValuedParameter<"bool", "false">:$slow,
    DefaultValuedParameter<"int64_t", "0">:$bytes,
    StringRefParameter<"device, empty for the host", "\"\"">:$device);
  let extraClassDeclaration = [{
    /// Returns a copy of this memory with `bytes` bytes taken.
    MemoryAttr withBytes(int64_t bytes) const {
      return get(getContext(), getName(), getSize(), getSlow(), bytes,
                 getDevice());
    }
  }];
  let assemblyFormat = "`<` struct(params) `>`";
}
def Exec_Memories
    : TypedArrayAttrBase<Exec_MemoryAttr, "memories with parts of something">;

def Exec_SizeAttr : AttrDef<Exec_Dialect, "Size"> {
  let mnemonic = "size";
  let summary = "A size that a program has at run time";
  let description = [{
    A number on which dimensions of a program's tensors depend. `name` is a C
    identifier, unique among all names of the program. The value is one of
    `low`, `low + step`, ..., `high`. The caller chooses it for each run or, if
    it is `found`, an `exec.measure` of the program sets it; only such a size
    may be 0.

    Examples: `#exec.size<name = "batch", low = 1, high = 8, step = 1>`,
    `#exec.size<name = "boxes", low = 0, high = 100, step = 1, found = true>`.
  }];
  let parameters = (ins StringRefParameter<"identifier">:$name, "int64_t":$low,
    "int64_t":$high, "int64_t":$step, DefaultValuedParameter<"bool", "false">:$found);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def Exec_Sizes : TypedArrayAttrBase<Exec_SizeAttr, "sizes at run time">;

def Exec_OperandKind : I32EnumAttr<"OperandKind",
    "how an epilogue reads an operand: runtime/epilogue.h", [
    I32EnumAttrCase<"full", 0>, I32EnumAttrCase<"channel", 1>,
    I32EnumAttrCase<"scalar", 2>]> {
  let cppNamespace = "::nnc::exec";
  let genSpecializedAttr = 0;
}
def Exec_OperandKindAttr
    : EnumAttr<Exec_Dialect, Exec_OperandKind, "operand_kind">;

/// The types of the values that the emitted code of an expression can compute
/// with:
///   scalars  scalars of the types in the expression
///   floats   floats, and vectors of floats
///   mixed    scalars, and the vectors of runtime/simd/bytes.h
def Exec_ExpressionForm : I32EnumAttr<"ExpressionForm",
    "what the code of an expression computes with", [
    I32EnumAttrCase<"scalars", 0>, I32EnumAttrCase<"floats", 1>,
    I32EnumAttrCase<"mixed", 2>]> {
  let cppNamespace = "::nnc::exec";
  let genSpecializedAttr = 0;
}
def Exec_ExpressionFormAttr
    : EnumAttr<Exec_Dialect, Exec_ExpressionForm, "form"> {
  let assemblyFormat = "`<` $value `>`";
}
def Exec_OperandKinds
    : TypedArrayAttrBase<Exec_OperandKindAttr, "kinds of an epilogue's operands">;

#endif // NNC_DIALECTS_EXEC_DIALECT
