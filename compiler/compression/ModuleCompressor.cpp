//===- ModuleCompressor.cpp - Compression of a module's weights -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/ModuleCompressor.h"

#include "compiler/quantize/ModuleFile.h"
#include "compiler/quantize/Plan.h"
#include "compiler/quantize/Results.h"
#include "dialects/qnn/Qnn.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::compression;

static std::string getOpName(Operation *op) {
  return op->getName().stripDialect().str();
}

ModuleCompressor::ModuleCompressor(ModuleOp module, const Options &options,
                                   int folded, int64_t fileBytes)
    : Compressor(options), module(module),
      main(module.lookupSymbol<func::FuncOp>("main")) {
  this->folded = folded;
  this->fileBytes = fileBytes;
  for (auto function : module.getOps<func::FuncOp>())
    llvm::append_range(nodeNames, quantize::listNames(function));
  llvm::StringSet<> exclude;
  for (const std::string &name : options.exclude)
    exclude.insert(name);
  std::vector<LeftWeights> others;
  weights = findWeights(module, exclude, others);
  for (LeftWeights &each : others)
    left.push_back({quantize::getName(each.constant.getY()),
                    quantize::getName(each.reader), getOpName(each.reader),
                    std::move(each.reason), each.isFinite});
  for (Weights &each : weights) {
    WeightSummary summary;
    summary.name = quantize::getName(each.constant.getY());
    summary.op = getOpName(each.uses.front().getLayer());
    summary.shape = each.getShape(options.block);
    for (const WeightUse &use : each.uses)
      summary.nodes.push_back(quantize::getName(use.getLayer()));
    std::vector<ObservedUse> uses;
    if (options.isSecondOrder)
      uses = findUses(each, summary.unobserved);
    addWeight(std::move(summary), std::move(uses));
  }
}

/// Returns the name of the output that holds observed value number `number`.
static std::string getTensorName(size_t number) {
  return "nnc.observed." + std::to_string(number);
}

/// Returns the inputs of the layers that multiply by a weight, each of which is
/// an output of the observed module; if there are none, sets `reason`.
std::vector<ObservedUse> ModuleCompressor::findUses(const Weights &own,
                                                    std::string &reason) {
  std::vector<ObservedUse> found;
  std::vector<ObservedValue> values;
  for (const WeightUse &use : own.uses) {
    auto inputs = findInputs(own, use, reason);
    if (!inputs)
      return {};
    values.push_back({inputs->first, use.getLayer()});
    found.push_back({"", std::move(inputs->second)});
  }
  for (size_t i = 0; i < values.size(); ++i) {
    size_t number = 0;
    while (number < observed.size() &&
           observed[number].value != values[i].value)
      ++number;
    if (number == observed.size())
      observed.push_back(values[i]);
    found[i].tensor = getTensorName(number);
  }
  return found;
}

const ModuleCompressor::ObservedValue &
ModuleCompressor::getValue(const std::string &tensor) const {
  for (size_t i = 0; i < observed.size(); ++i)
    if (getTensorName(i) == tensor)
      return observed[i];
  llvm_unreachable("no such tensor is observed");
}

int ModuleCompressor::getNumOutputs() const {
  return int(quantize::countOutputs(main));
}

bool ModuleCompressor::isSoftmax(const std::string &output) const {
  return quantize::isSoftmax(main, output);
}

std::string ModuleCompressor::describeTensor(const std::string &tensor) const {
  return quantize::getName(getValue(tensor).value);
}

std::string ModuleCompressor::describeReader(const std::string &tensor) const {
  Operation *layer = getValue(tensor).layer;
  return "'" + quantize::getName(layer) + "' (" + getOpName(layer) + ")";
}

llvm::Expected<std::string> ModuleCompressor::printOriginal() const {
  IRMapping mapping;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
  auto copied = copy->lookupSymbol<func::FuncOp>("main");
  OpBuilder builder(copied.getBody().front().getTerminator());
  SmallVector<Value> values;
  std::vector<std::string> names;
  for (auto [number, each] : llvm::enumerate(observed)) {
    Value value = mapping.lookup(each.value);
    // Outputs have no quantized types.
    if (qnn::getQuantizedType(value.getType()))
      value = builder.create<qnn::ReinterpretOp>(
          value.getLoc(), qnn::getStorageType(value.getType()), value);
    values.push_back(value);
    names.push_back(getTensorName(number));
  }
  quantize::addResults(copied, values, names);
  return quantize::printModule(*copy);
}

//===----------------------------------------------------------------------===//
// Errors of layers
//===----------------------------------------------------------------------===//

/// Creates the real numbers that the result of a layer represents.
static Value createReal(OpBuilder &builder, Value value) {
  auto type = RankedTensorType::get(
      cast<RankedTensorType>(value.getType()).getShape(), builder.getF32Type());
  if (qnn::getQuantizedType(value.getType()))
    return builder.create<qnn::DequantizeOp>(value.getLoc(), type, value);
  if (value.getType() == type)
    return value;
  return builder.create<nn::CastOp>(value.getLoc(), type, value);
}

/// Creates the sum of squares of all elements of `value`.
static Value createNorm(OpBuilder &builder, Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return builder.create<nn::ReduceOp>(
      value.getLoc(), nn::ReduceKind::sum_square, value,
      llvm::to_vector(llvm::seq<int64_t>(0, rank)), /*keepdims=*/false);
}

llvm::Expected<std::string>
ModuleCompressor::printErrors(std::vector<ObservedError> &errors) const {
  IRMapping mapping;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
  auto copied = copy->lookupSymbol<func::FuncOp>("main");
  OpBuilder builder(copied.getBody().front().getTerminator());
  SmallVector<Value> values;
  std::vector<std::string> names;
  auto addNorm = [&](Value value) {
    values.push_back(createNorm(builder, value));
    names.push_back("nnc.norm." + std::to_string(names.size()));
    return names.back();
  };
  for (auto [number, each] : llvm::enumerate(weights)) {
    Value constant;
    for (const WeightUse &use : each.uses) {
      Operation *layer = use.getLayer();
      // Values in the bodies of If and Loop cannot be results of the function.
      if (layer->getParentOp() != main.getOperation())
        continue;
      if (!constant) {
        auto changed = cast<nn::ConstantOp>(
            builder.clone(*nn::ConstantOp(each.constant).getOperation()));
        changed.setValueAttr(
            each.makeElements(getMatrix(number, Treatment::asked)));
        constant = changed.getY();
      }
      IRMapping changes = mapping;
      Value own = nn::ConstantOp(each.constant).getY();
      changes.map(own, constant);
      for (Operation *op : use.ops)
        builder.clone(*op, changes);
      Value after =
          createReal(builder, builder.clone(*layer, changes)->getResult(0));
      Value before = createReal(builder, mapping.lookup(layer->getResult(0)));
      Value difference =
          builder.create<nn::SubOp>(before.getLoc(), after, before);
      std::string signal = addNorm(before);
      errors.push_back({number, signal, addNorm(difference)});
    }
  }
  quantize::addResults(copied, values, names);
  return quantize::printModule(*copy);
}

//===----------------------------------------------------------------------===//
// The compressed module
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> ModuleCompressor::makeCompressed() const {
  IRMapping mapping;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
  for (auto [number, each] : llvm::enumerate(weights)) {
    Treatment treatment = summaries[number].treatment;
    if (treatment == Treatment::none)
      continue;
    auto constant = cast<nn::ConstantOp>(
        mapping.lookup(nn::ConstantOp(each.constant).getY()).getDefiningOp());
    constant.setValueAttr(each.makeElements(getMatrix(number, treatment)));
  }
  return copy;
}

llvm::Expected<std::string>
ModuleCompressor::printCompressed(llvm::StringRef path) const {
  return quantize::printModule(*makeCompressed(), path);
}

llvm::Expected<std::string> ModuleCompressor::printToRun() const {
  return quantize::printModule(*makeCompressed());
}
