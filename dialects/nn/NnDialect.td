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
}

def Nn_LayoutAttr
    : AttrDef<Nn_Dialect, "Layout",
              [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "How the elements of a tensor lie in memory";
  let description = [{
    Written in the notation of NeoCPU section 2.2: upper case letters are the
    logical axes in the order of the physical outer dimensions, each following
    number and lower case letter is an inner block of that axis.

    `NCHW16c` of a logical `1x40x7x7` is `1 x 3 x 7 x 7 x 16`: the last block
    is padded with zeros. `KCRS16c16k` is a convolution's weight, blocked by 16
    on the input and then on the output channels. `NK16n` is the right-hand
    side of a matrix product (logical axes K, N) in panels of 16 columns.

    A weight's layout may end in `_winograd` and a number m: in the place of its
    r taps, each spatial axis longer than one has the m + r - 1 points in which
    Winograd's method for m outputs at a time takes the filter's value. A
    `64x64x3x3` as `KRSC16k_winograd4` is `4 x 6 x 6 x 64 x 16`.
    Or in `_strided_winograd` and m, for a stride of 2: there are the points of
    the taps at even places, and then those of the taps at odd ones. A
    `64x64x3x3` as `KRSC16k_strided_winograd2` is `4 x 5 x 5 x 64 x 16`.
    Or in `_folded_winograd` and m, for a stride of 2 and taps along both axes:
    each channel is four before, those of its taps in even or odd rows and even
    or odd columns. A `64x3x7x7` as `KRSC16k_folded_winograd5` is
    `4 x 8 x 8 x 12 x 16`.
    Or in `_strassen`: halves of the blocked axis of filters and of the other, of
    channels, and seven products in the place of the one tap. A `64x128x1x1` as
    `KRSC16k_strassen`, and a `128x64` as `NK16n_strassen`, is
    `2 x 1 x 7 x 64 x 16`; `_strassen2` quarters both and has 49 products.
    Or in `_int24`: integers of three bytes in the place of floats, and behind
    each 512 of a panel's rows one scale a column. A `25088x4096` as
    `NK16n_int24` takes 256 panels of 1207360 bytes, three quarters of
    `NK16n`'s. In `_int20` two rows together take five bytes a column. Only
    constants are brought into such a layout, by `nnc-lower-to-exec`.

    The letters stand for logical axes as follows: {N,C,H,W} and {K,C,R,S} and
    {N,C,W} in that order, {K,N} as K, N, and any letters from A on
    alphabetically.

    Example: `tensor<1x64x56x56xf32, #nn.layout<NCHW16c>>`.
  }];
  let parameters = (ins StringRefParameter<"layout name">:$name);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
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
    /// Row-major order of the logical axes, no blocks.
    bool isPlain() const;
    /// The physical shape, padding included, of a logical `shape`.
    ::llvm::SmallVector<int64_t>
    getPhysicalShape(::llvm::ArrayRef<int64_t> shape) const;
    /// For each physical dimension of `getPhysicalShape`, its logical axis and
    /// by how much one step along it moves on that axis.
    ::llvm::SmallVector<::std::pair<unsigned, int64_t>> getPhysicalSteps() const;
  }];
}

#endif // NNC_DIALECTS_NN_DIALECT
