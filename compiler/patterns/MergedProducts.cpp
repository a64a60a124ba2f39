//===- MergedProducts.cpp - Builds one product of several -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/MergedProducts.h"

#include "compiler/patterns/Constants.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static MatMulOp getMatMul(LayerOp layer) {
  return dyn_cast_or_null<MatMulOp>(layer.getAnchorOp());
}

/// Returns the number of columns of a product.
static int64_t getColumns(LayerOp product) {
  return getTensorType(product.getY()).getShape().back();
}

/// Returns true if the epilogue of a layer only adds its extra.
static bool onlyAddsExtra(LayerOp layer) {
  Block &block = layer.getEpilogue().front();
  auto add = dyn_cast<AddOp>(block.front());
  return add && layer.getExtras().size() == 1 &&
         block.getTerminator()->getOperand(0) == add.getResult() &&
         llvm::equal(add->getOperands(), block.getArguments());
}

/// Returns true if the product has the left operand of `model`, a constant
/// matrix and, but for the values of constants, the same arithmetic. It may
/// lack a bias, which is then zero.
static bool isLike(LayerOp model, LayerOp product) {
  MatMulOp first = getMatMul(model), second = getMatMul(product);
  auto getRows = [](LayerOp layer) {
    return getTensorType(layer.getY()).getShape().drop_back();
  };
  std::optional<TensorData> matrix = TensorData::get(product.getInputs()[1]);
  return matrix && matrix->getShape().size() == 2 &&
         model.getInputs()[0] == product.getInputs()[0] &&
         first.getTransposeA() == second.getTransposeA() &&
         first.getTransposeB() == second.getTransposeB() &&
         first.getAccumulator() == second.getAccumulator() &&
         getElementTypeOrSelf(model.getInputs()[1]) ==
             getElementTypeOrSelf(product.getInputs()[1]) &&
         getElementTypeOrSelf(model.getY()) ==
             getElementTypeOrSelf(product.getY()) &&
         getRows(model) == getRows(product) &&
         (OperationEquivalence::isRegionEquivalentTo(
              &model.getEpilogue(), &product.getEpilogue(),
              OperationEquivalence::IgnoreLocations) ||
          (product.hasEmptyEpilogue() && product.getExtras().empty() &&
           onlyAddsExtra(model)));
}

/// Returns the tensors one behind the other along `axis`. They have one type of
/// elements.
static TensorData join(ArrayRef<TensorData> parts, int64_t axis) {
  SmallVector<int64_t> shape(parts.front().getShape());
  shape[axis] = 0;
  for (const TensorData &part : parts)
    shape[axis] += part.getShape()[axis];
  TensorData whole = TensorData::allocate(
      RankedTensorType::get(shape, parts.front().getElementType()));
  int64_t rows = 1; // runs of bytes of each part
  for (int64_t dim : ArrayRef(shape).take_front(axis))
    rows *= dim;
  char *to = whole.getMutableBytes();
  for (int64_t row = 0; row < rows; ++row)
    for (const TensorData &part : parts) {
      size_t bytes = part.getBytes().size() / rows;
      to = std::copy_n(part.getBytes().data() + row * bytes, bytes, to);
    }
  return whole;
}

/// Returns the operand of the merged epilogue for extra number `i` of `model`,
/// one of the products: a constant with one value for each column, or the value
/// that all of them read. Returns null if the extras are others.
static Value joinExtra(OpBuilder &builder, ArrayRef<LayerOp> products,
                       LayerOp model, unsigned i) {
  Value own = model.getExtras()[i];
  RankedTensorType type = getTensorType(own);
  if (type.getNumElements() == 1 &&
      llvm::all_of(products, [&](LayerOp product) {
        return !product.getExtras().empty() && product.getExtras()[i] == own;
      }))
    return own;
  SmallVector<TensorData> parts;
  for (LayerOp product : products) {
    SmallVector<int64_t> shape(type.getRank(), 1);
    if (!shape.empty())
      shape.back() = getColumns(product);
    RankedTensorType wanted = type.clone(shape);
    std::optional<TensorData> part =
        product.getExtras().empty() ? TensorData::splat(wanted, 0)
                                    : TensorData::get(product.getExtras()[i]);
    if (!part || shape.empty() || part->getType() != wanted)
      return {};
    parts.push_back(*part);
  }
  return createConstant(builder, own.getLoc(), join(parts, type.getRank() - 1),
                        "merged");
}

/// Creates the arguments of the anchor of a layer for its inputs.
static Block &createAnchor(LayerOp layer) {
  Block &block = layer.getAnchor().emplaceBlock();
  for (Value input : layer.getInputs())
    block.addArgument(getLogicalType(getTensorType(input)), input.getLoc());
  return block;
}

/// Builds the product with the columns of all `products` side by side, in front
/// of the first of them. Returns null if they cannot be merged.
static LayerOp buildProduct(ArrayRef<LayerOp> products) {
  const LayerOp *biased = llvm::find_if(
      products, [](LayerOp product) { return !product.hasEmptyEpilogue(); });
  LayerOp model = biased == products.end() ? products.front() : *biased;
  for (LayerOp product : products)
    if (!isLike(model, product))
      return {};
  MatMulOp matmul = getMatMul(model);
  LayerOp earliest = *llvm::min_element(
      products, [](LayerOp a, LayerOp b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(earliest);
  SmallVector<TensorData> matrices;
  SmallVector<Value> extras;
  SmallVector<Location> locations;
  int64_t columns = 0;
  for (LayerOp product : products) {
    matrices.push_back(*TensorData::get(product.getInputs()[1]));
    locations.push_back(product.getLoc());
    columns += getColumns(product);
  }
  for (unsigned i = 0; i < model.getExtras().size(); ++i) {
    extras.push_back(joinExtra(builder, products, model, i));
    if (!extras.back())
      return {};
  }
  Value matrix =
      createConstant(builder, model.getInputs()[1].getLoc(),
                     join(matrices, matmul.getTransposeB() ? 0 : 1), "merged");
  Location loc = builder.getFusedLoc(locations);
  LayerOp named = products.front();
  StringRef name = named.getName();
  SmallVector<int64_t> shape(getTensorType(model.getY()).getShape());
  shape.back() = columns;
  auto type = [&](Value y) {
    return RankedTensorType::get(shape, getElementTypeOrSelf(y));
  };
  auto layer = builder.create<LayerOp>(loc, type(model.getY()), name,
                                       ValueRange{model.getInputs()[0], matrix},
                                       extras, nullptr, nullptr);
  Block &block = createAnchor(layer);
  builder.setInsertionPointToStart(&block);
  auto product = builder.create<MatMulOp>(
      loc, type(matmul.getY()), block.getArgument(0), block.getArgument(1),
      matmul.getTransposeA(), matmul.getTransposeB(),
      matmul.getAccumulatorAttr());
  builder.create<nn::YieldOp>(loc, product.getY());
  IRMapping mapping;
  model.getEpilogue().cloneInto(&layer.getEpilogue(), mapping);
  return layer;
}

/// Builds the attention that reads the operands with these numbers from the
/// columns of `product`.
static LayerOp buildAttention(LayerOp old, ArrayRef<unsigned> operands,
                              LayerOp product) {
  OpBuilder builder(old);
  auto attention = cast<AttentionOp>(old.getAnchorOp());
  SmallVector<Value> inputs(old.getInputs());
  SmallVector<int64_t> starts(attention.getStarts());
  int64_t column = 0;
  for (unsigned operand : operands) {
    starts[operand] += column;
    column += getColumns(inputs[operand].getDefiningOp<LayerOp>());
    inputs[operand] = product.getY();
  }
  auto layer =
      builder.create<LayerOp>(old.getLoc(), old.getY().getType(), old.getName(),
                              inputs, old.getExtras(), nullptr, nullptr);
  Block &block = createAnchor(layer);
  builder.setInsertionPointToStart(&block);
  IRMapping mapping;
  mapping.map(old.getAnchor().getArguments(), block.getArguments());
  auto clone = cast<AttentionOp>(builder.clone(*attention, mapping));
  clone.setStarts(starts);
  builder.create<nn::YieldOp>(old.getLoc(), clone.getY());
  old.getEpilogue().cloneInto(&layer.getEpilogue(), mapping);
  return layer;
}

std::optional<MergedProducts> nnc::mergeProducts(LayerOp attention) {
  if (!isa_and_nonnull<AttentionOp>(attention.getAnchorOp()))
    return std::nullopt;
  static const SmallVector<unsigned, 3> kGroups[] = {
      {0, 1, 2}, {1, 2}, {0, 1}, {0, 2}};
  for (ArrayRef<unsigned> operands : kGroups) {
    MergedProducts merged;
    for (unsigned operand : operands) {
      Value value = attention.getInputs()[operand];
      auto product = value.getDefiningOp<LayerOp>();
      // The heads of an operand of rank 4 do not lie in its columns.
      if (product && getMatMul(product) && value.hasOneUse() &&
          getTensorType(value).getRank() == 3)
        merged.products.push_back(product);
    }
    if (merged.products.size() != operands.size())
      continue;
    merged.product = buildProduct(merged.products);
    if (!merged.product)
      continue;
    merged.attention = buildAttention(attention, operands, merged.product);
    return merged;
  }
  return std::nullopt;
}
