//===- Reference.cpp - Reference results of a model -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/execute/Reference.h"

#include "compiler/passes/Passes.h"
#include "compiler/tools/driver/options/Builtin.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/toolchain/Runner.h"
#include "dialects/evaluate/Evaluate.h"

#include "dialects/nn/attributes/State.h"
#include "dialects/nn/layouts/Layout.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"

#include <cstring>
#include <fmt/format.h>

namespace nnc::tools {

static std::optional<Dtype> dtypeOf(mlir::Type type) {
  if (type.isF32())
    return Dtype::f32;
  if (type.isF64())
    return Dtype::f64;
  if (type.isF16())
    return Dtype::f16;
  if (type.isBF16())
    return Dtype::bf16;
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  if (!integer)
    return std::nullopt;
  if (integer.getWidth() == 1)
    return Dtype::boolean;
  return parseDtype(fmt::format("{}{}", integer.isUnsigned() ? "u" : "i",
                                integer.getWidth()));
}

static Tensor toTensor(const TensorData &data) {
  llvm::ArrayRef<char> bytes = data.getBytes();
  return {*dtypeOf(data.getElementType()),
          data.getShape().vec(),
          {bytes.begin(), bytes.end()}};
}

static llvm::Expected<mlir::func::FuncOp> mainOf(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main)
    return makeError("the compiled module has no function");
  return main;
}

/// Returns the arguments of the function in the run with the index `step`:
/// inputs, which share the memory of `inputs`, and states. States are taken
/// from `results`, those of the previous run, or have their initial values in
/// the first run.
static std::vector<TensorData>
getArguments(mlir::func::FuncOp main, const std::vector<Tensor> &inputs,
             int64_t step = 0, llvm::ArrayRef<TensorData> results = {}) {
  std::vector<TensorData> arguments;
  size_t next = 0;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto type = llvm::cast<mlir::RankedTensorType>(main.getArgumentTypes()[i]);
    if (std::optional<unsigned> result = nn::getNextValue(main, i)) {
      mlir::ElementsAttr initial = nn::getInitialValue(main, i);
      std::optional<TensorData> data;
      if (step > 0)
        data = results[*result];
      else if (initial)
        data = TensorData::get(initial);
      arguments.push_back(data ? *data : TensorData::splat(type, 0));
      continue;
    }
    int64_t bytes =
        type.getNumElements() * nn::getElementBytes(type.getElementType());
    arguments.push_back(TensorData::borrow(
        type,
        llvm::ArrayRef<char>(inputs[next++].data).slice(step * bytes, bytes)));
  }
  return arguments;
}

bool hasCustomOps(mlir::ModuleOp module) {
  return module
      ->walk([](nn::CustomOp custom) {
        return isBuiltin(custom) ? mlir::WalkResult::advance()
                                 : mlir::WalkResult::interrupt();
      })
      .wasInterrupted();
}

llvm::Expected<CustomResults> readCustomResults(const Manifest &manifest,
                                                const std::string &layersFile) {
  CustomResults results;
  llvm::Error error = readLayers(layersFile, [&](const LayerOutput &layer) {
    if (layer.layer >= 0 && size_t(layer.layer) < manifest.layers.size())
      if (auto id = manifest.layers[layer.layer].customId)
        results[*id] = layer.bytes;
    return true;
  });
  if (error)
    return error;
  return results;
}

/// Returns a callback that supplies the results of custom operators.
static auto takeFrom(const CustomResults &results) {
  return [&results](nn::CustomOp custom, llvm::ArrayRef<TensorData> operands)
             -> mlir::FailureOr<TensorData> {
    if (isBuiltin(custom))
      return evaluateBuiltin(custom, operands);
    auto found = results.find(custom.getId());
    mlir::RankedTensorType type = custom.getY().getType();
    if (found == results.end() ||
        int64_t(found->second.size()) < nn::getPhysicalBytes(type))
      return mlir::failure();
    return TensorData::borrow(type,
                              llvm::ArrayRef<char>(found->second)
                                  .take_front(nn::getPhysicalBytes(type)));
  };
}

llvm::Expected<std::vector<Tensor>>
evaluateReference(mlir::ModuleOp module, const std::vector<Tensor> &inputs,
                  int64_t steps, const CustomResults &customs) {
  // Quantized ops have no routines of their own, so they are replaced by their
  // definitions. The passes that replace floats between them by integers do not
  // run.
  mlir::OwningOpRef<mlir::ModuleOp> lowered = module.clone();
  mlir::PassManager passes(module.getContext());
  passes.nest<mlir::func::FuncOp>().addPass(createQnnCanonicalize());
  if (mlir::failed(passes.run(*lowered)))
    return makeError("the reference cannot be lowered");
  llvm::Expected<mlir::func::FuncOp> main = mainOf(*lowered);
  if (!main)
    return main.takeError();
  std::vector<Tensor> tensors;
  llvm::SmallVector<TensorData> results;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<TensorData> arguments =
        getArguments(*main, inputs, step, results);
    results.clear();
    if (mlir::failed(evaluateFunction(
            *main, arguments, results,
            [](mlir::Operation *, const TensorData &) { return true; },
            takeFrom(customs))))
      return makeError("the reference cannot be evaluated");
    size_t next = 0;
    for (auto [i, result] : llvm::enumerate(results)) {
      if (nn::getStateOf(*main, i))
        continue;
      Tensor tensor = toTensor(result);
      if (step == 0) {
        if (steps > 1)
          tensor.shape.insert(tensor.shape.begin(), steps);
        tensors.push_back(std::move(tensor));
      } else {
        std::vector<char> &all = tensors[next].data;
        all.insert(all.end(), tensor.data.begin(), tensor.data.end());
      }
      ++next;
    }
  }
  return tensors;
}

/// Returns the expected elements of a layer in the memory layout of `type`.
static Tensor packed(const TensorData &data, mlir::RankedTensorType type) {
  llvm::SmallVector<int64_t> shape = nn::getPhysicalShape(type);
  Tensor tensor = Tensor::zeros(*dtypeOf(data.getElementType()),
                                {shape.begin(), shape.end()});
  nn::packElements(type, data.getBytes().data(), tensor.data.data());
  return tensor;
}

std::vector<Tensor> changeSlightly(const std::vector<Tensor> &inputs) {
  std::vector<Tensor> changed = inputs;
  for (Tensor &tensor : changed) {
    if (tensor.dtype != Dtype::f32)
      continue;
    float sign = 1;
    for (size_t at = 0; at + sizeof(float) <= tensor.data.size();
         at += sizeof(float)) {
      float value;
      std::memcpy(&value, &tensor.data[at], sizeof value);
      value += value * sign * 1e-5f;
      std::memcpy(&tensor.data[at], &value, sizeof value);
      sign = -sign;
    }
  }
  return changed;
}

llvm::Expected<std::optional<std::string>>
findFirstDifference(mlir::ModuleOp layered, const std::vector<Tensor> &inputs,
                    const Manifest &manifest, const std::string &layersFile,
                    const Tolerance &tolerance) {
  llvm::StringMap<std::vector<char>> dumped;
  if (llvm::Error error = readLayers(layersFile, [&](const LayerOutput &layer) {
        if (layer.layer >= 0 && size_t(layer.layer) < manifest.layers.size())
          dumped[manifest.layers[layer.layer].name] = layer.bytes;
        return true;
      }))
    return error;
  llvm::Expected<mlir::func::FuncOp> main = mainOf(layered);
  if (!main)
    return main.takeError();
  llvm::Expected<CustomResults> customs =
      readCustomResults(manifest, layersFile);
  if (!customs)
    return customs.takeError();

  std::optional<std::string> found;
  llvm::SmallVector<TensorData> results;
  auto check = [&](mlir::Operation *op, const TensorData &data) {
    auto layer = llvm::dyn_cast<nn::LayerOp>(op);
    if (!layer)
      return true;
    auto it = dumped.find(layer.getName());
    auto type = llvm::cast<mlir::RankedTensorType>(layer.getY().getType());
    if (it == dumped.end() ||
        int64_t(it->second.size()) < nn::getPhysicalBytes(type))
      return true;
    Tensor expected = packed(data, type);
    Tensor actual = expected;
    actual.data.assign(it->second.begin(),
                       it->second.begin() + expected.data.size());
    Difference difference = compare(actual, expected, tolerance);
    if (difference.within)
      return true;
    found = fmt::format("the first layer that differs from its reference is "
                        "'{}' ({}): largest error {:.3g}, {:.3g} of the "
                        "largest element",
                        layer.getName().str(),
                        layer.getRoutine().value_or("no routine").str(),
                        difference.largest, difference.relative());
    return false;
  };
  bool complete = mlir::succeeded(evaluateFunction(
      *main, getArguments(*main, inputs), results, check, takeFrom(*customs)));
  if (!found && !complete)
    return makeError("the reference of the layers cannot be evaluated");
  return found;
}

} // namespace nnc::tools
