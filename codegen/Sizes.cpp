//===- Sizes.cpp - Sizes that the caller chooses --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// Prints an expression as an operand of an operator with the precedence
/// `binding`: 0 for none, 1 for sums, 2 for products.
static std::string print(AffineExpr size, ArrayRef<StringRef> names,
                         int binding) {
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return std::to_string(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
    return names[symbol.getPosition()].str();
  auto binary = cast<AffineBinaryOpExpr>(size);
  AffineExpr a = binary.getLHS(), b = binary.getRHS();
  int own = size.getKind() == AffineExprKind::Add ? 1 : 2;
  std::string text;
  switch (size.getKind()) {
  case AffineExprKind::Add: {
    auto negative = dyn_cast<AffineConstantExpr>(b);
    text =
        negative && negative.getValue() < 0
            ? print(a, names, 1) + " - " + std::to_string(-negative.getValue())
            : print(a, names, 1) + " + " + print(b, names, 1);
    break;
  }
  case AffineExprKind::Mul:
    // Without parentheses, a quotient on the right would divide the whole
    // product.
    text = print(a, names, 2) + " * " +
           print(b, names, b.getKind() == AffineExprKind::Mul ? 2 : 3);
    break;
  // Sizes are not negative, so C rounds down.
  case AffineExprKind::FloorDiv:
    text = print(a, names, 2) + " / " + print(b, names, 3);
    break;
  case AffineExprKind::CeilDiv:
    text = print(a + b - 1, names, 2) + " / " + print(b, names, 3);
    break;
  case AffineExprKind::Mod:
    text = print(a, names, 2) + " % " + print(b, names, 3);
    break;
  default:
    llvm_unreachable("no binary expression");
  }
  return own < binding ? "(" + text + ")" : text;
}

std::string codegen::printSize(AffineExpr size, ArrayRef<StringRef> names) {
  return print(size, names, 0);
}

SmallVector<StringRef> codegen::getSizeNames(exec::ProgramOp program) {
  SmallVector<StringRef> names;
  for (auto size : program.getSizes().getAsRange<exec::SizeAttr>())
    names.push_back(size.getName());
  return names;
}

SmallVector<StringRef> codegen::getCallersSizes(exec::ProgramOp program) {
  SmallVector<StringRef> names;
  for (auto size : program.getSizes().getAsRange<exec::SizeAttr>())
    if (!size.getFound())
      names.push_back(size.getName());
  return names;
}

std::string codegen::printBytes(exec::PlaceOpInterface place) {
  RankedTensorType type = place.getTensor();
  if (!exec::getVaryingDims(place))
    return std::to_string(nn::getPhysicalBytes(type));
  return printElements(place) + " * " +
         std::to_string(nn::getElementBytes(type.getElementType()));
}

std::string codegen::printElements(exec::PlaceOpInterface place) {
  RankedTensorType type = place.getTensor();
  AffineMap dims = exec::getVaryingDims(place);
  if (!dims)
    return std::to_string(type.getNumElements());
  AffineExpr elements = getAffineConstantExpr(1, type.getContext());
  for (auto [axis, dim] : llvm::enumerate(dims.getResults())) {
    int64_t block = nn::getBlockSize(type, axis);
    elements = elements * dim.ceilDiv(block) * block;
  }
  return "static_cast<size_t>(" +
         printSize(elements,
                   getSizeNames(place->getParentOfType<exec::ProgramOp>())) +
         ")";
}
