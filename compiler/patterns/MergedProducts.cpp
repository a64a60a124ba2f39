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

/// Returns true if the products have the same left operand, constant matrices
/// and, but for the values of constants, the same arithmetic.
static bool areAlike(LayerOp a, LayerOp b) {
  MatMulOp first = getMatMul(a), second = getMatMul(b);
  auto getRows = [](LayerOp layer) {
    return getTensorType(layer.getY()).getShape().drop_back();
  };
  auto isMatrix = [](LayerOp layer) {
    std::optional<TensorData> matrix = TensorData::get(layer.getInputs()[1]);
    return matrix && matrix->getShape().size() == 2;
  };
  return a.getInputs()[0] == b.getInputs()[0] && isMatrix(a) && isMatrix(b) &&
         first.getTransposeA() == second.getTransposeA() &&
         first.getTransposeB() == second.getTransposeB() &&
         first.getAccumulator() == second.getAccumulator() &&
         getElementTypeOrSelf(a.getInputs()[1]) ==
             getElementTypeOrSelf(b.getInputs()[1]) &&
         getElementTypeOrSelf(a.getY()) == getElementTypeOrSelf(b.getY()) &&
         getRows(a) == getRows(b) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getEpilogue(), &b.getEpilogue(),
             OperationEquivalence::IgnoreLocations);
}

/// Returns the constants one behind the other along `axis`, or nothing if one
/// is no constant or they have different types of elements.
static std::optional<TensorData> join(ValueRange values, int64_t axis) {
  SmallVector<TensorData> parts;
  int64_t size = 0;
  for (Value value : values) {
    std::optional<TensorData> part = TensorData::get(value);
    if (!part || (!parts.empty() &&
                  part->getElementType() != parts.front().getElementType()))
      return std::nullopt;
    size += part->getShape()[axis];
    parts.push_back(*part);
  }
  SmallVector<int64_t> shape(parts.front().getShape());
  shape[axis] = size;
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

/// Returns the operand of the merged epilogue for extra number `i` of the
/// products: one value for each column, or the value that all of them read.
/// Returns null if the extras are others.
static Value joinExtra(OpBuilder &builder, ArrayRef<LayerOp> products,
                       unsigned i) {
  SmallVector<Value> extras;
  for (LayerOp product : products)
    extras.push_back(product.getExtras()[i]);
  const int64_t rank = getTensorType(extras.front()).getRank();
  bool isShared = llvm::all_equal(extras) &&
                  getTensorType(extras.front()).getNumElements() == 1;
  bool isPerColumn =
      llvm::all_of(llvm::zip_equal(products, extras), [&](const auto &each) {
        auto [product, extra] = each;
        RankedTensorType type = getTensorType(extra);
        return rank > 0 && type.getRank() == rank &&
               type.getNumElements() == getColumns(product) &&
               type.getShape().back() == getColumns(product);
      });
  if (isShared)
    return extras.front();
  if (!isPerColumn)
    return {};
  std::optional<TensorData> joined = join(extras, rank - 1);
  return joined ? createConstant(builder, extras.front().getLoc(), *joined,
                                 "merged")
                : Value();
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
  LayerOp model = products.front();
  for (LayerOp product : products.drop_front())
    if (!areAlike(model, product))
      return {};
  MatMulOp matmul = getMatMul(model);
  LayerOp earliest = *llvm::min_element(
      products, [](LayerOp a, LayerOp b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(earliest);
  SmallVector<Value> matrices, extras;
  SmallVector<Location> locations;
  int64_t columns = 0;
  for (LayerOp product : products) {
    matrices.push_back(product.getInputs()[1]);
    locations.push_back(product.getLoc());
    columns += getColumns(product);
  }
  for (unsigned i = 0; i < model.getExtras().size(); ++i) {
    extras.push_back(joinExtra(builder, products, i));
    if (!extras.back())
      return {};
  }
  Value matrix =
      createConstant(builder, matrices.front().getLoc(),
                     *join(matrices, matmul.getTransposeB() ? 0 : 1), "merged");
  Location loc = builder.getFusedLoc(locations);
  SmallVector<int64_t> shape(getTensorType(model.getY()).getShape());
  shape.back() = columns;
  auto type = [&](Value y) {
    return RankedTensorType::get(shape, getElementTypeOrSelf(y));
  };
  auto layer = builder.create<LayerOp>(loc, type(model.getY()), model.getName(),
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
