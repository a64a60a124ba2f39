//===- NnDialect.td - The graph dialect ---------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_DIALECT
#define NNC_DIALECTS_NN_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def Nn_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::nnc::nn";
  let summary = "Neural network graphs on tensors whose layout is part of their type";
  let description = [{
    A graph of framework-neutral operators on ranked tensors. The shape in a
    tensor type is logical (`1x64x56x56` is N, C, H, W); an encoding says how
    the elements lie in memory. Without an encoding the tensor is row-major.
    See `README.md` in this folder.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  // The rules of NnAttributeRules.cpp say which ops, arguments and results may
  // carry each attribute, and with which values.
  let discardableAttrs = (ins
    //===-------------------------------------------------------------------===//
    // Modules
    //===-------------------------------------------------------------------===//
    // The name of the model, and the SHA-256 of its file in hexadecimal digits.
    "::mlir::StringAttr":$model,
    "::mlir::StringAttr":$sha256,
    // The machine that code is made for, a #target.machine.
    "::mlir::Attribute":$target,
    // The texts of the files that custom operators need, by name.
    "::mlir::DictionaryAttr":$custom_files,
    // The number of dequantized 8-bit constants that become floats, because their
    // readers are no convolutions or matrix products with weights, or because they
    // have several scales along an axis that is summed over.
    "::mlir::IntegerAttr":$float_constants,
    // The number of the model's constants of 16-bit floats that the import
    // converted to 32-bit floats, and the number of their elements.
    "::mlir::DenseI64ArrayAttr":$half_constants,
    // The names of weights that are stored uncompressed, because the wanted form
    // would not be smaller.
    "::mlir::ArrayAttr":$kept_weights,
    // The additional time in nanoseconds for reading or decoding compressed
    // weights, compared with reading uncompressed ones.
    "::mlir::IntegerAttr":$stored_ns,
    // The Pareto front that nnc-choose-routines finds with `weights-front`: pairs
    // of the size of all weights in bytes and the additional seconds of a run
    // compared with uncompressed weights, from the fastest plan to the smallest.
    "::mlir::ArrayAttr":$weights_front,
    // Five attributes of a module with a network at several sizes
    // (compiler/sizes/SizedNetwork.h): the sizes, as #exec.size; for each size the
    // number of the size that bounds it, or -1; for each size the expression that
    // computes it from others, or unit; the values of the sizes in the network at
    // the largest sizes; and the sums of sizes that earlier passes found.
    "::mlir::ArrayAttr":$sizes,
    "::mlir::DenseI64ArrayAttr":$sizes_within,
    "::mlir::ArrayAttr":$sizes_computed,
    "::mlir::DenseI64ArrayAttr":$largest,
    "::mlir::ArrayAttr":$sums,

    //===-------------------------------------------------------------------===//
    // Functions
    //===-------------------------------------------------------------------===//
    // The plan that nnc-choose-routines found: `ns`, the estimated time of a run in
    // nanoseconds; `bound_ns`, a lower bound of it; and `solver`.
    "::mlir::DictionaryAttr":$plan,

    //===-------------------------------------------------------------------===//
    // Arguments and results of functions
    //===-------------------------------------------------------------------===//
    // The model's name of an input or output.
    "::mlir::StringAttr":$name,
    // The name of the narrower type that elements have in the model, such as "i4"
    // where an element takes an i8 in memory. The op of the exec dialect that the
    // argument or result becomes has it, too.
    "::mlir::StringAttr":$model_type,
    // Marks an argument as state: the index of the result that holds its value in
    // the next run (State.h).
    "::mlir::IntegerAttr":$state,
    // The elements of a state argument in the first run. Without the attribute they
    // are zero.
    "::mlir::ElementsAttr":$initial,
    // Marks a result as the run-time value of a data-dependent size: the size's
    // number, as in nn.prefix.
    "::mlir::IntegerAttr":$size,

    //===-------------------------------------------------------------------===//
    // Layers and other ops
    //===-------------------------------------------------------------------===//
    // The name of the activation that an elementwise op computes, for
    // descriptions, where the op itself does not show it: a ReLU6 may be the
    // range of a quantized result, and a sigmoid may be a table.
    "::mlir::StringAttr":$activation,
    // Marks a convolution or matrix product of floats whose weights, its second
    // operand, have at most 256 distinct values, so that a byte can store each:
    // they are 8-bit integers of the model minus their zero point or times their
    // single scale.
    "::mlir::UnitAttr":$byte_weights,
    // Marks an op whose weights of nn.byte_weights became floats, because decoding
    // them would take more RAM than the model needs otherwise.
    "::mlir::UnitAttr":$bytes_need_ram,
    // The estimated costs in nanoseconds by which nnc-fuse-layers decided:
    // `one_ns` of the fused layer, and `apart_ns` of its two layers. There is
    // one attribute for each form of a fused layer (fused_forms.inc). The fused
    // layer carries it, or the second of two layers that were not fused.
    "::mlir::DictionaryAttr":$expanded,
    "::mlir::DictionaryAttr":$scaling,
    "::mlir::DictionaryAttr":$separable,
    // The description of an exec.call for comments in emitted code: what the
    // layer computes, in parts, and the role of each of its inputs and extras,
    // such as "weights".
    "::mlir::DictionaryAttr":$description,
    "::mlir::ArrayAttr":$roles,

    //===-------------------------------------------------------------------===//
    // Ops that depend on sizes which are chosen at run time (compiler/sizes)
    //===-------------------------------------------------------------------===//
    // Marks an op whose result or whose operands' dimensions depend on the
    // sizes. It is not folded, even if its operands are constants.
    "::mlir::UnitAttr":$varies,
    // Marks a layer that copies a part of its operand whose position depends on
    // the sizes. It is no view, even if at the largest sizes the part is the
    // beginning of the operand.
    "::mlir::UnitAttr":$copies,
    // Further shapes that the routine of the layer has to support.
    "::mlir::ArrayAttr":$other_shapes,
    // The axes of the layer's operands (inputs, then extras) and of its result
    // whose dimensions depend on the sizes: for each value a list of pairs, an axis
    // and a number that divides its dimension at all sizes.
    "::mlir::ArrayAttr":$varying_axes,

    //===-------------------------------------------------------------------===//
    // Marks that a pass leaves for itself
    //===-------------------------------------------------------------------===//
    // The number of an op of a network at several sizes, and of an op of a
    // network that nnc-batch divides. Passes copy it to the ops that replace
    // the op, so that these can be found.
    "::mlir::IntegerAttr":$number,
    "::mlir::IntegerAttr":$batch_op,
    // Marks an nn.prefix that only makes a value depend on a size and returns the
    // whole value.
    "::mlir::UnitAttr":$link,
    // Marks a constant that has no elements at any size.
    "::mlir::UnitAttr":$always_empty,
    // On a cast that stands for a tensor of strings during the import: the
    // strings that the integers of its operand are indices of.
    "::mlir::ArrayAttr":$texts
  );
}

def Nn_EncodingAttr : AttrDef<Nn_Dialect, "Encoding"> {
  let mnemonic = "encoding";
  let summary = "The encoding of a weight's elements in memory";
  let description = [{
    The rule by which the bytes in memory are computed from a weight's elements.
    The parameter is the spelling of one of the encodings in
    `encodings/encodings.inc`; the source of the same name in that folder
    documents what the encoding stores.

    Example: `#nn.encoding<winograd4>`.
  }];
  let parameters = (ins AttrParameter<"const ::nnc::nn::WeightEncoding *",
                                      "of encodings.inc">:$weightEncoding);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    const WeightEncoding *operator->() const { return getWeightEncoding(); }
  }];
}

def Nn_LayoutAttr
    : AttrDef<Nn_Dialect, "Layout",
              [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "How the elements of a tensor lie in memory";
  let description = [{
    The order of a tensor's elements in memory, as a name in the notation of
    NeoCPU (section 2.2). Upper case letters are the logical axes in the order
    of the outer physical dimensions; each number with a lower case letter
    behind them is an inner block of that many elements of the letter's axis.

    `NCHW16c` of a logical `1x40x7x7` is `1 x 3 x 7 x 7 x 16`: the last block
    is padded with zeros. `KCRS16c16k` is a convolution's weight, blocked by 16
    on the input and then on the output channels. `NK16n` is the right-hand
    side of a matrix product (logical axes K, N) in panels of 16 columns.

    A weight's layout may end in `_` and an encoding: then memory holds the
    values that the encoding computes from its elements. A weight of shape
    `64x64x3x3` in the layout `KRSC16k_winograd4` takes `4 x 6 x 6 x 64 x 16`
    elements: each 3 x 3 filter is transformed to the 6 x 6 values that
    Winograd's method multiplies by. Only constants have such layouts;
    `nnc-encode-weights` computes their bytes.

    The set of letters tells which logical axis each letter stands for: the axes
    of a tensor are, in logical order, N, C, H, W; K, C, R, S; N, C, W; K, N;
    or, with any other set, the letters from A on in alphabetical order.

    `on` names the device of the machine whose memory holds the tensor; without
    it, that is the host. A row-major tensor on the host needs no layout, but
    one on another device has the layout of its rank: `NCHW` for rank 4, `NCW`
    for rank 3, `""` for rank 0, and letters from A on for other ranks.

    Examples: `tensor<1x64x56x56xf32, #nn.layout<NCHW16c>>`,
    `tensor<4x50xf32, #nn.layout<AB on gpu>>`.
  }];
  let parameters = (ins StringRefParameter<"axes and blocks">:$blocked,
    AttrParameter<"::nnc::nn::EncodingAttr", "or null">:$encoding,
    StringRefParameter<"device, empty for the host">:$device);
  let builders = [
    AttrBuilder<(ins "::llvm::StringRef":$name), [{
      auto [blocked, encoding] = split($_ctxt, name);
      return $_get($_ctxt, blocked, encoding, ::llvm::StringRef());
    }]>,
    AttrBuilder<(ins "::llvm::StringRef":$blocked, "EncodingAttr":$encoding), [{
      return $_get($_ctxt, blocked, encoding, ::llvm::StringRef());
    }]>,
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The whole name without the device: NCHW16c, KRSC16k_winograd4.
    ::std::string getName() const;
    /// Splits such a name into the axes with their blocks and the encoding. If
    /// the end of the name spells no encoding, the first part is the whole
    /// name, which the verifier reports.
    static ::std::pair<::llvm::StringRef, EncodingAttr>
    split(::mlir::MLIRContext *context, ::llvm::StringRef name);
    /// The layout with the same axes and blocks and no encoding.
    LayoutAttr dropEncoding() const {
      return get(getContext(), getBlocked(), EncodingAttr(), getDevice());
    }
    /// Returns this layout on another device; an empty name is the host's. On a
    /// device other than the host, row-major order gets the only spelling that
    /// it has there.
    LayoutAttr onDevice(::llvm::StringRef device) const;
    /// The letters of the logical axes, in their order: KCRS.
    ::std::string getAxisLetters() const;
    /// One inner block: `size` consecutive elements of logical axis `axis`.
    struct Block {
      unsigned axis;
      int64_t size;
    };
    /// Number of logical axes.
    unsigned getRank() const { return getOuterAxes().size(); }
    /// Logical axis of each outer physical dimension.
    ::llvm::SmallVector<unsigned> getOuterAxes() const;
    /// Inner blocks, outermost first.
    ::llvm::SmallVector<Block> getBlocks() const;
    /// Elements of `axis` that one step of its outer dimension covers.
    int64_t getBlockSize(unsigned axis) const;
    /// Row-major order of the logical axes, no blocks, no encoding.
    bool isPlain() const;
    /// Returns two numbers for each physical dimension of a tensor without an
    /// encoding: its logical axis, and the number of elements of that axis
    /// between neighbours along the dimension.
    ::llvm::SmallVector<::std::pair<unsigned, int64_t>> getPhysicalSteps() const;
  }];
}

def Nn_ShapeAttr : AttrDef<Nn_Dialect, "Shape"> {
  let mnemonic = "shape";
  let summary = "The shape of one call of a routine";
  let description = [{
    The values of all fields of the struct in
    `runtime/routines/<family>/shape.h`, by name and in the struct's order. The
    op that the family computes creates the attribute, `exec.call` carries it,
    and `codegen` prints it. `dialects/shapes` reads it into the struct and
    reports an error if its fields are not exactly those of the struct.

    A field is an integer (`i64`), a real (`f64`), a list of integers
    (`DenseI64ArrayAttr`) or a list of such lists (`ArrayAttr`).

    Example: `#nn.shape<rank = 2, dims = [4, 8], strides = [[8, 1], [0, 1]], value = 1.0>`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::NamedAttribute">:$fields);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the value of the field `name`, or null if there is none.
    ::mlir::Attribute get(::llvm::StringRef name) const {
      for (::mlir::NamedAttribute field : getFields())
        if (field.getName() == name)
          return field.getValue();
      return {};
    }
    /// Returns the integer in the field `name`, or -1 if there is none.
    int64_t getInt(::llvm::StringRef name) const {
      auto value = ::llvm::dyn_cast_or_null<::mlir::IntegerAttr>(get(name));
      return value ? value.getInt() : -1;
    }
  }];
}

#endif // NNC_DIALECTS_NN_DIALECT
