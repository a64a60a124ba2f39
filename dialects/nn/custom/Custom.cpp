//===- Custom.cpp - nn.custom, nn.part ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/custom/Custom.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The alignment in bytes of each result if there are several. It suits the
/// vectors of most machines.
static constexpr int64_t kPartAlign = 16;

LogicalResult
DescribedAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      RankedTensorType type, DenseF32ArrayAttr scales,
                      DenseI32ArrayAttr zeroPoints, int64_t axis) {
  size_t count = scales.size();
  if (getLayout(type))
    return emitError() << "describes " << type << ", which is not row-major";
  if (size_t(zeroPoints.size()) != count)
    return emitError() << "has " << count << " scales and " << zeroPoints.size()
                       << " zero points";
  bool fits = axis == -1 ? count <= 1
                         : axis >= 0 && axis < type.getRank() &&
                               size_t(type.getDimSize(axis)) == count;
  if (!fits)
    return emitError() << "has " << count << " scales along axis " << axis
                       << " of " << type;
  return success();
}

SmallVector<int64_t> nn::getOffsets(ArrayAttr writes) {
  SmallVector<int64_t> offsets;
  int64_t end = 0;
  for (auto output : writes.getAsRange<DescribedAttr>()) {
    offsets.push_back(llvm::alignTo(end, kPartAlign));
    end = offsets.back() + getPhysicalBytes(output.getType());
  }
  offsets.push_back(end);
  return offsets;
}

LogicalResult
nn::verifyDescriptions(llvm::function_ref<InFlightDiagnostic()> emitError,
                       ArrayAttr reads, TypeRange given, ArrayAttr writes,
                       Type result) {
  SmallVector<Type> described;
  for (Attribute operand : reads) {
    auto one = dyn_cast<DescribedAttr>(operand);
    if (!one && !isa<UnitAttr>(operand))
      return emitError() << "has an operand that is neither described nor unit";
    if (one)
      described.push_back(one.getType());
  }
  if (TypeRange(described) != given)
    return emitError() << "has operands of other types than it describes";
  if (writes.empty() || !llvm::all_of(writes, llvm::IsaPred<DescribedAttr>))
    return emitError() << "needs a description of each result";
  Type whole = cast<DescribedAttr>(writes[0]).getType();
  if (writes.size() > 1)
    whole = RankedTensorType::get(
        {getOffsets(writes).back()},
        IntegerType::get(result.getContext(), 8, IntegerType::Unsigned));
  if (whole != result)
    return emitError() << "has a result of " << result << "; it describes "
                       << whole;
  return success();
}

LogicalResult nn::CustomOp::verify() {
  if (static_cast<int64_t>(getScratch()) < 0)
    return emitOpError("needs scratch of no negative size");
  return verifyDescriptions([&] { return emitOpError(); }, getReads(),
                            getXs().getTypes(), getWrites(), getY().getType());
}

LogicalResult PartOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (getLayout(x) || getLayout(y))
    return emitOpError("needs row-major tensors");
  auto offset = static_cast<int64_t>(getOffset());
  if (offset < 0 || offset > getPhysicalBytes(x) - getPhysicalBytes(y))
    return emitOpError("takes ")
           << getPhysicalBytes(y) << " bytes at " << offset << " out of the "
           << getPhysicalBytes(x) << " bytes of its operand";
  return success();
}
