//===- LengthSources.cpp - Sources of folded constants --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Graph.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;
using ::onnx::NodeProto;

std::optional<unsigned> GraphImporter::addLength(LayerBuilder &builder,
                                                 FoundSize size, Value count) {
  declarations.loosen();
  return lengths.add(builder, std::move(size), count);
}

const LengthMaker *GraphImporter::findMaker(StringRef name,
                                            const Scope &scope) const {
  for (const Scope *each = &scope; each; each = each->parent)
    if (auto found = each->makers.find(name); found != each->makers.end())
      return &found->second;
  return nullptr;
}

uint64_t GraphImporter::findSources(StringRef name, const Scope &scope) const {
  for (const Scope *each = &scope; each; each = each->parent)
    if (auto found = each->sources.find(name); found != each->sources.end())
      return found->second;
  return 0;
}

uint64_t GraphImporter::findSources(const NodeProto &node,
                                    const Scope &scope) const {
  uint64_t sources = 0;
  for (const std::string &name : node.input())
    sources |= findSources(name, scope);
  return sources;
}

Value GraphImporter::linkLengths(Value x, uint64_t sources, Location loc) {
  uint64_t missing = sources & ~lengths.findSources(x);
  for (unsigned size = 0; size < 64 && missing >> size != 0; ++size)
    if (missing >> size & 1)
      x = lengths.link(builder, loc, x, size);
  return x;
}

Value GraphImporter::linkFilled(const NodeProto &node, Scope &scope,
                                Value result) {
  static const llvm::StringSet<> fills = {"ConstantOfShape", "Expand", "Tile"};
  if (lengths.getSizes().empty() || isInBody() || !node.domain().empty() ||
      !fills.contains(node.op_type()) || !result || !isTensor(result) ||
      !result.getDefiningOp<nn::ConstantOp>() || getRank(result) == 0 ||
      !isa<FloatType>(getElement(result)) || hasCarrier(getElement(result)))
    return result;
  return linkLengths(result, findSources(node, scope), result.getLoc());
}

void GraphImporter::linkLengths(const NodeProto &node, Scope &scope,
                                MutableArrayRef<Value> operands) {
  ArrayRef<FoundSize> sizes = lengths.getSizes();
  if (sizes.empty() || isInBody())
    return;
  auto canDepend = [](Value x) {
    auto type = x ? dyn_cast<RankedTensorType>(x.getType()) : nullptr;
    return type && !hasCarrier(type.getElementType()) &&
           !x.getDefiningOp<nn::ConstantOp>();
  };
  Value *dependent = llvm::find_if(operands, canDepend);
  // The conversion of a Slice needs the size of its operand itself.
  if (dependent == operands.end() || node.op_type() == "Slice")
    return;
  for (auto [name, operand] : llvm::zip(node.input(), operands)) {
    uint64_t sources = findSources(name, scope);
    bool isKnown = operand && operand.getDefiningOp<nn::ConstantOp>();
    if (isKnown)
      *dependent = linkLengths(*dependent, sources, getLoc(node, scope));
  }
}

void GraphImporter::noteSources(const NodeProto &node, Scope &scope,
                                ArrayRef<Value> operands, size_t known) {
  size_t count = std::min<size_t>(64, lengths.getSizes().size());
  if (count == 0)
    return;
  bool asksShape = node.domain().empty() &&
                   (node.op_type() == "Shape" || node.op_type() == "Size");
  uint64_t sources = asksShape && !operands.empty() && operands[0]
                         ? lengths.findSources(operands[0])
                         : 0;
  sources |= findSources(node, scope);
  for (size_t size = known; sources && size < count; ++size)
    sources |= uint64_t(1) << size;
  for (const std::string &name : node.output())
    if (Value value = scope.values.lookup(name);
        sources && value && value.getDefiningOp<nn::ConstantOp>()) {
      scope.sources[name] = sources;
      lengths.noteVarying(value);
      scope.makers.try_emplace(name, LengthMaker{node, std::nullopt});
    }
}
