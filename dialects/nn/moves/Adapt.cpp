//===- Adapt.cpp - nn.adapt -----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult AdaptOp::verify() {
  if (!haveSameLogicalTypes(getX().getType(), getY().getType()))
    return emitOpError("changes more than the layout");
  if (!isTransfer())
    return success();
  RankedTensorType from = getX().getType(), to = getY().getType();
  if (getLayout(from) != getLayout(to))
    return emitOpError("moves a tensor in layout ")
           << getLayoutName(from) << " to another device in layout "
           << getLayoutName(to) << "; change one after the other";
  if (!getDevice(from).empty() && !getDevice(to).empty())
    return emitOpError("moves a tensor from '")
           << getDevice(from) << "' to '" << getDevice(to)
           << "', neither of which is the host; move it to the host first";
  if (isEncoded(from))
    return emitOpError("moves encoded weights; give the constant the device");
  return success();
}

bool AdaptOp::isTransfer() {
  return getDevice(getX().getType()) != getDevice(getY().getType());
}

OpFoldResult AdaptOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  // A constant in another layout is the same value under another type.
  if (adaptor.getX())
    return adaptor.getX();
  auto inner = getX().getDefiningOp<AdaptOp>();
  if (!inner)
    return {};
  RankedTensorType from = inner.getX().getType(), to = getY().getType();
  if (from == to)
    return inner.getX();
  if (!isViewOf(to, from) && !getAdaptCall(from, to))
    return {};
  getXMutable().assign(inner.getX());
  removeRoutineAttr(); // it was chosen for another pair of layouts
  removeParamsAttr();
  return getY();
}

bool AdaptOp::isView() { return isViewOf(getY().getType(), getX().getType()); }

namespace {
/// An image with one or two spatial axes, in the form that the adapt family
/// takes.
struct Image {
  int64_t n, c, h, w;
  int64_t block; ///< channels per block; 1 for row-major
};
} // namespace

static std::optional<Image> getImage(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() != 3 && shape.size() != 4)
    return std::nullopt;
  Image image{shape[0], shape[1], shape.size() == 4 ? shape[2] : 1,
              shape.back(), 1};
  if (LayoutAttr layout = getLayout(type)) {
    auto blocks = layout.getBlocks();
    if (!llvm::is_sorted(layout.getOuterAxes()) || blocks.size() != 1 ||
        blocks[0].axis != 1)
      return std::nullopt;
    image.block = blocks[0].size;
  }
  return image;
}

/// Returns the call that packs row-major matrices of integers of 8 or 16 bits
/// into `to`, if `to` has a layout in which dot products read groups of at
/// least four bytes; nullopt for other layouts.
static std::optional<RoutineCall> getPackCall(RankedTensorType from,
                                              RankedTensorType to) {
  constexpr int64_t kFewestBits = 32;
  ArrayRef<int64_t> shape = to.getShape();
  const int64_t last = to.getRank() - 1;
  LayoutAttr layout = getLayout(to);
  Type element = from.getElementType();
  if (last < 1 || getLayout(from) ||
      (!element.isInteger(8) && !element.isInteger(16)))
    return std::nullopt;
  // Panels of columns come before groups of rows. The operand of a transposed
  // product has its columns along the last axis but one.
  auto blocks = layout.getBlocks();
  if (blocks.size() != 2)
    return std::nullopt;
  const bool byColumns = blocks[0].axis == last - 1;
  const int64_t columns = byColumns ? last - 1 : last,
                rows = byColumns ? last : last - 1;
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, last + 1));
  axes[last - 1] = columns;
  axes[last] = rows;
  if (!llvm::equal(layout.getOuterAxes(), axes) || blocks[0].axis != columns ||
      blocks[1].axis != rows ||
      blocks[1].size * element.getIntOrFloatBitWidth() < kFewestBits)
    return std::nullopt;
  ShapeFields fields(from.getContext());
  fields.add("outer", ShapedType::getNumElements(shape.drop_back(2)));
  fields.add("rows", shape[rows]).add("columns", shape[columns]);
  fields.add("row_block", blocks[1].size).add("column_block", blocks[0].size);
  fields.add("by_columns", byColumns);
  return RoutineCall{"pack", fields.get(), {0}};
}

std::optional<RoutineCall> nn::getAdaptCall(RankedTensorType from,
                                            RankedTensorType to) {
  MLIRContext *context = from.getContext();
  if (isEncoded(from) || isEncoded(to) || getDevice(from) != getDevice(to))
    return std::nullopt;
  std::optional<Image> x = getImage(from), y = getImage(to);
  if (x && y) {
    ShapeFields fields(context);
    fields.add("n", x->n).add("c", x->c).add("h", x->h).add("w", x->w);
    fields.add("block_in", x->block).add("block_out", y->block);
    return RoutineCall{"adapt", fields.get(), {0}};
  }
  // One side is row-major and the other has blocks without padding. The copy
  // follows the physical order of the blocked side and steps through the
  // row-major side by its strides.
  bool packs = !getLayout(from);
  RankedTensorType other = packs ? to : from;
  if (getLayout(from) && getLayout(to))
    return std::nullopt;
  if (isPadded(other))
    return packs ? getPackCall(from, to) : std::nullopt;
  SmallVector<int64_t> logical = getStrides(other.getShape()), plain;
  SmallVector<int64_t> physical = getPhysicalShape(other);
  for (auto [axis, step] : getLayout(other).getPhysicalSteps())
    plain.push_back(logical[axis] * step);
  SmallVector<int64_t> dense = getStrides(physical);
  return makeCopy(context, physical, packs ? plain : dense,
                  packs ? dense : plain, 0, 0, 0);
}

SmallVector<RoutineCall> AdaptOp::getRoutineCalls() {
  auto call = getAdaptCall(getX().getType(), getY().getType());
  return call ? SmallVector<RoutineCall>{*call} : SmallVector<RoutineCall>{};
}

Work AdaptOp::getWork() { return bytesOnly(*this); }
