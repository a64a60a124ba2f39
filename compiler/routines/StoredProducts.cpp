//===- StoredProducts.cpp - Dense layers that read weights as stored ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/StoredProducts.h"

#include "compiler/routines/Candidates.h"
#include "compiler/routines/Decode.h"
#include "runtime/routines/stored_weights/stored_matmul/shape.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;
using stored::StoredForm;
using stored::StoredKind;

/// The least number of elements in a part of a row that forms its own block.
static constexpr int64_t kLeastBlock = 64;

ShapeAttr nnc::toAttribute(const decode_shape &shape, MLIRContext *context) {
  ShapeFields fields(context);
  decode_shape copy = shape;
  copy.visit([&](const char *name, int value) { fields.add(name, value); });
  return fields.get();
}

RankedTensorType nnc::getStoredType(const StoredForm &form,
                                    MLIRContext *context) {
  return RankedTensorType::get(
      {static_cast<int64_t>(form.bytes.size())},
      IntegerType::get(context, 8, IntegerType::Unsigned));
}

std::optional<DenseLayer> DenseLayer::get(OpOperand &use) {
  auto layer = dyn_cast<LayerOp>(use.getOwner());
  if (!layer || use.getOperandNumber() != 1 || layer.getInputs().size() != 2 ||
      layer->hasAttr(kOtherShapesAttr))
    return std::nullopt;
  auto product = dyn_cast_or_null<MatMulOp>(layer.getAnchorOp());
  if (!product || product.getTransposeA())
    return std::nullopt;
  RankedTensorType a = getLogicalType(getTensorType(layer.getInputs()[0])),
                   b = getLogicalType(getTensorType(use.get()));
  if (getLayout(getTensorType(layer.getInputs()[0])) ||
      getLayout(layer.getY().getType()) || b.getRank() > a.getRank())
    return std::nullopt;
  DenseLayer dense{layer};
  dense.transposed = product.getTransposeB();
  dense.k = a.getShape().back();
  dense.n = b.getDimSize(b.getRank() - (dense.transposed ? 2 : 1));
  dense.m = a.getNumElements() / std::max<int64_t>(dense.k, 1);
  dense.isFloat = a.getElementType().isF32();
  bool areBytes = (a.getElementType().isSignlessInteger(8) ||
                   a.getElementType().isUnsignedInteger(8)) &&
                  b.getElementType().isSignlessInteger(8) &&
                  product.getAccumulator() &&
                  product.getAccumulator()->isSignlessInteger(32);
  bool isDense = dense.isFloat ? b.getElementType().isF32() : areBytes;
  if (!isDense || b.getNumElements() != dense.n * dense.k ||
      b.getNumElements() == 0)
    return std::nullopt;
  return dense;
}

/// Returns the elements of a weight in one of the orders. Each element has
/// `size` bytes.
static std::vector<char> arrange(const DenseLayer &dense,
                                 ArrayRef<char> elements, int64_t size,
                                 int64_t order) {
  struct {
    int64_t k, order;
  } shape{dense.k, order};
  // Negative zeros become positive ones, because products with either are zero.
  auto unsign = [&](char *weight) {
    float value;
    std::memcpy(&value, weight, sizeof value);
    if (value == 0)
      std::memset(weight, 0, sizeof value);
  };
  std::vector<char> arranged(stored_elements(order, dense.n, dense.k) * size);
  int64_t rows = int64_t(arranged.size()) / (dense.k * size);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t n = std::min(row, dense.n - 1);
    for (int64_t k = 0; k < dense.k; ++k) {
      int64_t from = dense.transposed ? n * dense.k + k : k * dense.n + n;
      char *to = arranged.data() + stored_place(shape, row, k) * size;
      std::memcpy(to, elements.data() + from * size, size);
      if (dense.isFloat)
        unsign(to);
    }
  }
  return arranged;
}

/// Returns the number of elements of a block, for rows of `k` elements: that of
/// several short rows together, or of the longest suitable part that divides a
/// row. Returns 0 if no part is long enough.
static int64_t getBlock(int64_t k) {
  if (int64_t rows = stored_rows_together(static_cast<int>(k)); rows > 1)
    return rows * k;
  for (int64_t parts = llvm::divideCeil(k, stored_tile);
       k / parts >= kLeastBlock; ++parts)
    if (k % parts == 0)
      return k / parts;
  return 0;
}

/// Returns true if all elements that a form with entries skips are zeros.
static bool skipsZeros(const StoredForm &form, int64_t size) {
  const uint8_t *last = form.bytes.data() + (form.shape.values - 1) * size;
  return !decode_has_entries(form.shape.form) ||
         std::all_of(last, last + size, [](uint8_t byte) { return byte == 0; });
}

std::vector<StoredMatrix> nnc::storeMatrix(const DenseLayer &dense,
                                           const TensorData &weight,
                                           StoredKind kind) {
  std::vector<StoredMatrix> found;
  const int64_t size = dense.isFloat ? sizeof(float) : 1;
  SmallVector<int64_t> orders = {stored_rows};
  if (kind == StoredKind::codebook && !dense.isFloat && dense.k % 4 == 0)
    orders.push_back(stored_quads);
  auto add = [&](std::optional<StoredForm> form, int64_t order) {
    if (!form || !skipsZeros(*form, size))
      return;
    StoredMatrix matrix{std::move(*form), {}, order};
    matrix.shape =
        toAttribute(matrix.form.shape, LayerOp(dense.layer).getContext());
    found.push_back(std::move(matrix));
  };
  for (int64_t order : orders) {
    std::vector<char> elements = arrange(dense, weight.getBytes(), size, order);
    int64_t block = kind == StoredKind::codebook
                        ? stored_elements(order, dense.n, dense.k)
                        : getBlock(dense.k);
    if (block == 0)
      continue;
    add(StoredForm::get(kind, elements, static_cast<int>(size), {}, block),
        order);
    if (kind == StoredKind::csr)
      add(StoredForm::getPattern(elements, static_cast<int>(size), dense.k),
          order);
  }
  return found;
}

StoredProduct nnc::findStoredProduct(const DenseLayer &dense,
                                     const StoredMatrix &matrix,
                                     const CostModel &cost) {
  LayerOp layer = dense.layer;
  MLIRContext *context = layer.getContext();
  std::optional<RoutineShape> shape =
      readShape(StoredMatMulOp::makeCall(matrix.shape, dense.m, dense.n,
                                         dense.k, matrix.order),
                nullptr);
  StoredProduct best;
  if (!shape)
    return best;
  SmallVector<RankedTensorType> types;
  for (Value operand : layer.getOperands())
    types.push_back(getTensorType(operand));
  types[1] = getStoredType(matrix.form, context);
  LayerWork work = getLayerWork(layer, types, layer.getY().getType());
  work.operations =
      double(StoredMatMulOp::countProducts(matrix.shape, dense.m));
  for (const Routine *routine :
       Catalogue::get().getRoutinesOf("stored_matmul")) {
    if (!cost.getDevice().hasIsa(routine->isa) ||
        !routine->takesElement(
            getTensorType(layer.getInputs()[0]).getElementType()) ||
        routine->sums.empty() != dense.isFloat || !routine->applies(*shape, {}))
      continue;
    double seconds = cost.estimate(*routine, *shape, {}, work);
    if (!best.routine || seconds < best.seconds) {
      best.seconds = seconds;
      best.routine = routine;
    }
  }
  // Portable code is no faster with stored weights than decoding plus
  // multiplying.
  if (best.routine && !decode_has_entries(matrix.form.shape.form) &&
      best.routine->isa == "portable")
    best.leastExtra =
        findDecode(matrix.shape, types[1],
                   getLogicalType(getTensorType(layer.getInputs()[1])), cost)
            .seconds;
  return best;
}

void nnc::readStored(const DenseLayer &dense, const StoredMatrix &matrix,
                     const Routine &routine, Value stored) {
  LayerOp layer = dense.layer;
  auto product = cast<MatMulOp>(layer.getAnchorOp());
  OpBuilder builder(product);
  layer->setOperand(1, stored);
  BlockArgument weight = layer.getAnchor().front().getArgument(1);
  weight.setType(stored.getType());
  auto reading = builder.create<StoredMatMulOp>(
      product.getLoc(), product.getY().getType(), product.getA(), weight,
      matrix.shape, dense.n, matrix.order, product.getAccumulatorAttr());
  product.getY().replaceAllUsesWith(reading.getY());
  product.erase();
  layer.setRoutineAttr(builder.getStringAttr(routine.name));
  layer.removeParamsAttr();
}
