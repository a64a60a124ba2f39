//===- Description.cpp - What each op computes, in words ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Ops with a fixed description are lines of ops.inc; all other ops are
// described here.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/description/Description.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc::nn;

#include "dialects/nn/NnDescription.cpp.inc"

namespace {
/// The external model of the description interface for an op whose operands
/// have these roles.
template <class Model, class Op>
struct Described : DescribedOpInterface::ExternalModel<Model, Op> {
  StringRef getOperandRole(Operation *, unsigned operand) const {
    return getListEntry(Model::kRoles, operand);
  }
  Description describe(Operation *op, ArrayRef<bool> known) const {
    return Model::describeOp(cast<Op>(op), known);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

template <class Op>
static Description describeWindow(LayerKind kind, StringRef operation, Op op,
                                  ArrayRef<int64_t> kernel) {
  Description said{kind};
  said.operation = operation.str();
  said.kernel.assign(kernel.begin(), kernel.end());
  said.strides.assign(op.getStrides().begin(), op.getStrides().end());
  said.dilations.assign(op.getDilations().begin(), op.getDilations().end());
  said.pads.assign(op.getPads().begin(), op.getPads().end());
  return said;
}

/// Describes a convolution with filters of the type `w`.
template <class Op>
static Description describeFilters(StringRef operation, Op op,
                                   RankedTensorType w) {
  return describeWindow(LayerKind::convolution, operation, op,
                        w.getShape().drop_front(2));
}

/// Returns the steps of a fused layer between its two convolutions.
template <class Op> static SmallVector<std::string> listInner(Op op) {
  switch (op.getActivation()) {
  case InnerActivation::none:
    return {};
  case InnerActivation::relu:
    return {"ReLU"};
  case InnerActivation::clip:
    return {describeClip(op.getLow().convertToDouble(),
                         op.getHigh().convertToDouble())};
  case InnerActivation::hard_swish:
    return {"hard swish"};
  case InnerActivation::silu:
    return {"SiLU"};
  }
  llvm_unreachable("all activations are handled");
}

namespace {
struct ConvWords : Described<ConvWords, ConvOp> {
  static constexpr StringLiteral kRoles = ",weights";
  static Description describeOp(ConvOp op, ArrayRef<bool>) {
    RankedTensorType x = op.getX().getType(), w = op.getW().getType();
    int64_t channels = x.getDimSize(1), groups = op.getGroups();
    bool isDepthwise = groups > 1 && groups == channels;
    Description said = describeFilters(
        isDepthwise ? "depthwise convolution" : "convolution", op, w);
    if (!isDepthwise)
      said.groups = groups;
    else if (int64_t filters = w.getDimSize(0) / channels; filters > 1)
      said.after.push_back(std::to_string(filters) + " filters a channel");
    return said;
  }
};

struct StoredConvWords : Described<StoredConvWords, StoredConvOp> {
  static constexpr StringLiteral kRoles = ",weights";
  static Description describeOp(StoredConvOp op, ArrayRef<bool>) {
    Description said = describeWindow(LayerKind::convolution, "convolution", op,
                                      op.getKernel());
    said.after.push_back("weights stored in fewer bytes");
    return said;
  }
};

struct ConvTransposeWords : Described<ConvTransposeWords, ConvTransposeOp> {
  static constexpr StringLiteral kRoles = ",weights";
  static Description describeOp(ConvTransposeOp op, ArrayRef<bool>) {
    Description said =
        describeFilters("transposed convolution", op, op.getW().getType());
    said.groups = op.getGroups();
    return said;
  }
};

struct SeparableConvWords : Described<SeparableConvWords, SeparableConvOp> {
  static constexpr StringLiteral kRoles =
      ",depthwise weights,depthwise bias,weights";
  static Description describeOp(SeparableConvOp op, ArrayRef<bool>) {
    Description said =
        describeFilters("depthwise convolution", op, op.getW().getType());
    said.after = listInner(op);
    said.after.push_back("then 1 x 1 convolution");
    return said;
  }
};

struct ExpandedConvWords : Described<ExpandedConvWords, ExpandedConvOp> {
  static constexpr StringLiteral kRoles =
      ",expansion weights,expansion bias,depthwise weights";
  static Description describeOp(ExpandedConvOp op, ArrayRef<bool>) {
    Description said =
        describeFilters("depthwise convolution", op, op.getW().getType());
    said.before = {"1 x 1 convolution"};
    said.before.append(listInner(op));
    return said;
  }
};

struct ScaledConvWords : Described<ScaledConvWords, ScaledConvOp> {
  static constexpr StringLiteral kRoles = ",scale,offset,weights";
  static Description describeOp(ScaledConvOp op, ArrayRef<bool> known) {
    Description said{LayerKind::convolution};
    said.before = {known[1] ? "scale and offset a channel"
                            : "scale a channel by another value"};
    said.before.append(listInner(op));
    said.operation = "convolution";
    size_t axes = op.getX().getType().getRank() - 2;
    said.kernel = said.strides = said.dilations = SmallVector<int64_t>(axes, 1);
    said.pads.assign(2 * axes, 0);
    return said;
  }
};

//===----------------------------------------------------------------------===//
// Pooling and reductions
//===----------------------------------------------------------------------===//

template <class Op>
static Description describePool(Op op, StringRef operation) {
  RankedTensorType x = op.getX().getType(), y = op.getY().getType();
  bool isGlobal =
      op.getKernel() == x.getShape().drop_front(2) &&
      llvm::all_of(y.getShape().drop_front(2),
                   [](int64_t size) { return size == 1; }) &&
      llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; });
  return describeWindow(LayerKind::pooling,
                        isGlobal ? ("global " + operation).str()
                                 : operation.str(),
                        op, op.getKernel());
}

struct MaxPoolWords : Described<MaxPoolWords, MaxPoolOp> {
  static constexpr StringLiteral kRoles = "";
  static Description describeOp(MaxPoolOp op, ArrayRef<bool>) {
    return describePool(op, "max pooling");
  }
};

struct AvgPoolWords : Described<AvgPoolWords, AvgPoolOp> {
  static constexpr StringLiteral kRoles = "";
  static Description describeOp(AvgPoolOp op, ArrayRef<bool>) {
    return describePool(op, "average pooling");
  }
};

struct MaxPoolIndexWords : Described<MaxPoolIndexWords, MaxPoolIndexOp> {
  static constexpr StringLiteral kRoles = "";
  static Description describeOp(MaxPoolIndexOp op, ArrayRef<bool>) {
    return describePool(op, "indices of the maxima of max pooling");
  }
};

struct ReduceWords : Described<ReduceWords, ReduceOp> {
  static constexpr StringLiteral kRoles = "";
  static Description describeOp(ReduceOp op, ArrayRef<bool>) {
    static constexpr StringLiteral kWords[] = {
        "sum",     "mean",    "maximum",        "minimum", "product",
        "L1 norm", "L2 norm", "sum of squares", "log sum", "log sum of exp",
    };
    Description said{LayerKind::pooling};
    size_t axes = op.getAxes().size();
    said.operation = kWords[static_cast<size_t>(op.getKind())].str() +
                     " over " + std::to_string(axes) +
                     (axes == 1 ? " axis" : " axes");
    return said;
  }
};

/// Returns "1 unit" or "6 units".
static std::string countOf(int64_t count, StringRef unit) {
  return std::to_string(count) + " " + unit.str() + (count == 1 ? "" : "s");
}

struct GatherWords : Described<GatherWords, GatherOp> {
  static constexpr StringLiteral kRoles = "table,indices";
  static Description describeOp(GatherOp, ArrayRef<bool> known) {
    Description said{LayerKind::move};
    said.operation = known[0] ? "embedding lookup" : "gather by indices";
    return said;
  }
};

struct TopKWords : Described<TopKWords, TopKOp> {
  static constexpr StringLiteral kRoles = "";
  static Description describeOp(TopKOp op, ArrayRef<bool>) {
    Description said{LayerKind::pooling};
    StringRef which = op.getLargest() ? "largest" : "smallest";
    said.operation = op.getCount() == 1
                         ? ("index of the " + which + " element").str()
                         : ("indices of the " + Twine(op.getCount()) + " " +
                            which + " elements")
                               .str();
    return said;
  }
};

struct SoftmaxWords : Described<SoftmaxWords, SoftmaxOp> {
  static constexpr StringLiteral kRoles = "";
  static Description describeOp(SoftmaxOp op, ArrayRef<bool>) {
    Description said{LayerKind::normalization};
    said.operation = op.getLog() ? "logarithm of softmax" : "softmax";
    return said;
  }
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Description describeDense(int64_t inputs, int64_t outputs) {
  Description said{LayerKind::product};
  said.operation = "dense layer of " + countOf(inputs, "input") + " and " +
                   countOf(outputs, "output");
  return said;
}

struct MatMulWords : Described<MatMulWords, MatMulOp> {
  static constexpr StringLiteral kRoles = "weights,weights";
  static Description describeOp(MatMulOp op, ArrayRef<bool> known) {
    ArrayRef<int64_t> y = op.getY().getType().getShape(),
                      a = op.getA().getType().getShape();
    int64_t k = op.getTransposeA() ? a[a.size() - 2] : a.back();
    if (known[1])
      return describeDense(k, y.back());
    if (known[0])
      return describeDense(k, y[y.size() - 2]);
    Description said{LayerKind::product};
    said.operation = "matrix product of " + joinSizes({y[y.size() - 2], k}) +
                     " and " + joinSizes({k, y.back()});
    return said;
  }
};

struct BlockMatMulWords : Described<BlockMatMulWords, BlockMatMulOp> {
  static constexpr StringLiteral kRoles = ",weights,scales,zero points";
  static Description describeOp(BlockMatMulOp op, ArrayRef<bool>) {
    Description said = describeDense(op.getX().getType().getShape().back(),
                                     op.getY().getType().getShape().back());
    bool isWhole = static_cast<int64_t>(op.getBlock()) >=
                   op.getX().getType().getShape().back();
    said.after.push_back(
        std::to_string(op.getBits()) + "-bit weights with one scale for " +
        (isWhole ? "each output" : "every " + std::to_string(op.getBlock())));
    return said;
  }
};

struct StoredMatMulWords : Described<StoredMatMulWords, StoredMatMulOp> {
  static constexpr StringLiteral kRoles = ",weights";
  static Description describeOp(StoredMatMulOp op, ArrayRef<bool>) {
    Description said = describeDense(op.getX().getType().getShape().back(),
                                     op.getY().getType().getShape().back());
    said.after.push_back("weights stored in fewer bytes");
    return said;
  }
};

struct AttentionWords : Described<AttentionWords, AttentionOp> {
  static constexpr StringLiteral kRoles = "queries,keys,values,mask";
  static Description describeOp(AttentionOp op, ArrayRef<bool>) {
    Description said{LayerKind::product};
    int64_t heads = op.getHeads();
    said.operation = "attention with " + countOf(heads, "head");
    if (op.getMask())
      said.after.push_back("mask");
    return said;
  }
};

//===----------------------------------------------------------------------===//
// Recurrent cells
//===----------------------------------------------------------------------===//

template <class Op> static Description describeCells(Op op, StringRef cells) {
  Description said{LayerKind::product};
  said.operation = (cells + " of ").str() +
                   countOf(op.getH().getType().getShape().back(), "unit");
  return said;
}

struct RecurrentWords : Described<RecurrentWords, RecurrentOp> {
  static constexpr StringLiteral kRoles =
      "sums of inputs,recurrent weights,peepholes or bias,hidden state,cell "
      "state,lengths";
  static Description describeOp(RecurrentOp op, ArrayRef<bool>) {
    Description said =
        describeCells(op, StringRef(stringifyCellKind(op.getKind())).upper());
    if (op.getReverse())
      said.after.push_back("backwards");
    return said;
  }
};

#define NNC_LSTM_WORDS(OP, ROLES)                                              \
  struct OP##Words : Described<OP##Words, OP> {                                \
    static constexpr StringLiteral kRoles = ROLES;                             \
    static Description describeOp(OP op, ArrayRef<bool>) {                     \
      return describeCells(op, "LSTM");                                        \
    }                                                                          \
  };
NNC_LSTM_WORDS(LstmOp,
               ",weights,recurrent weights,bias,hidden state,cell state")
NNC_LSTM_WORDS(FullLstmOp, ",weights,recurrent weights,bias,peepholes,hidden "
                           "state,cell state")
NNC_LSTM_WORDS(IntegerLstmOp,
               ",weights,recurrent weights,bias,recurrent bias,multipliers and "
               "shifts,sigmoid table,hidden state,cell state")
#undef NNC_LSTM_WORDS

//===----------------------------------------------------------------------===//
// All others
//===----------------------------------------------------------------------===//

#define NNC_OP_WORDS(OP, KIND, WORDS, ROLES)                                   \
  struct OP##Words : Described<OP##Words, OP> {                                \
    static constexpr StringLiteral kRoles = ROLES;                             \
    static Description describeOp(OP, ArrayRef<bool>) {                        \
      Description said{LayerKind::KIND};                                       \
      said.operation = WORDS;                                                  \
      return said;                                                             \
    }                                                                          \
  };
#include "dialects/nn/description/ops.inc"
#undef NNC_OP_WORDS
} // namespace

void nnc::nn::attachDescriptions(MLIRContext &context) {
#define NNC_OP_WORDS(OP, KIND, WORDS, ROLES)                                   \
  OP::attachInterface<OP##Words>(context);
#include "dialects/nn/description/ops.inc"
#undef NNC_OP_WORDS
  AttentionOp::attachInterface<AttentionWords>(context);
  AvgPoolOp::attachInterface<AvgPoolWords>(context);
  BlockMatMulOp::attachInterface<BlockMatMulWords>(context);
  ConvOp::attachInterface<ConvWords>(context);
  ConvTransposeOp::attachInterface<ConvTransposeWords>(context);
  ExpandedConvOp::attachInterface<ExpandedConvWords>(context);
  FullLstmOp::attachInterface<FullLstmOpWords>(context);
  IntegerLstmOp::attachInterface<IntegerLstmOpWords>(context);
  LstmOp::attachInterface<LstmOpWords>(context);
  GatherOp::attachInterface<GatherWords>(context);
  MatMulOp::attachInterface<MatMulWords>(context);
  MaxPoolIndexOp::attachInterface<MaxPoolIndexWords>(context);
  MaxPoolOp::attachInterface<MaxPoolWords>(context);
  RecurrentOp::attachInterface<RecurrentWords>(context);
  ReduceOp::attachInterface<ReduceWords>(context);
  ScaledConvOp::attachInterface<ScaledConvWords>(context);
  SeparableConvOp::attachInterface<SeparableConvWords>(context);
  SoftmaxOp::attachInterface<SoftmaxWords>(context);
  StoredConvOp::attachInterface<StoredConvWords>(context);
  StoredMatMulOp::attachInterface<StoredMatMulWords>(context);
  TopKOp::attachInterface<TopKWords>(context);
}
