//===- WeightsAdvice.cpp - How weights could take fewer bytes -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/figures/WeightsAdvice.h"

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/manifest/EmittedNames.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"
#include "dialects/nn/tensors/TensorData.h"

#include "llvm/ADT/DenseSet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {

/// An encoding is recommended only if it saves at least 1 / leastPart of the
/// bytes of weights and at least leastBytes bytes, because decoders take code.
static constexpr int64_t leastPart = 8, leastBytes = 2048;
/// The largest number of bytes of all weights for which encodings are tried.
/// Finding all forms of more weights takes too long.
static constexpr int64_t mostBytes = 16 << 20;

std::string describeHalfConstants(mlir::ModuleOp module,
                                  const ModelOptions &options) {
  auto halves =
      module->getAttrOfType<mlir::DenseI64ArrayAttr>(nn::kHalfConstantsAttr);
  if (!halves || getHalf(options.precision, module.getContext()))
    return "";
  return fmt::format("{} of {} bytes in the model become{} 32-bit floats of {} "
                     "bytes",
                     halves[0] == 1 ? "1 constant"
                                    : fmt::format("{} constants", halves[0]),
                     2 * halves[1], halves[0] == 1 ? "s" : "", 4 * halves[1]);
}

WeightsAdvice WeightsAdvice::find(Driver &driver, int64_t bytes) {
  WeightsAdvice advice;
  advice.countByteWeights(driver.layered());
  const ModelOptions &options = driver.options();
  advice.halfConstants = describeHalfConstants(driver.layered(), options);
  if (options.weightsEncoding == "auto" && !options.maxWeights &&
      !options.limitsPlan() && bytes <= mostBytes)
    advice.findEncoding(driver.layered(), bytes);
  return advice;
}

void WeightsAdvice::countByteWeights(mlir::ModuleOp layered) {
  const EmittedNames names(layered);
  layered.walk([&](nn::LayerOp layer) {
    mlir::Operation *anchor = layer.getAnchorOp();
    if (!anchor)
      return;
    if (llvm::isa<nn::BlockMatMulOp>(anchor)) {
      ++integerLayers;
    } else if (anchor->hasAttr(nn::kByteWeightsAttr)) {
      auto constant = layer.getInputs()[1].getDefiningOp<nn::ConstantOp>();
      auto type =
          llvm::cast<mlir::RankedTensorType>(layer.getInputs()[1].getType());
      if (!constant || !type.getElementType().isF32())
        ++integerLayers;
      else if (anchor->hasAttr(nn::kBytesNeedRamAttr))
        ramNames.push_back(names.get(layer));
      else
        ++floatLayers;
    }
  });
  if (auto floats =
          layered->getAttrOfType<mlir::IntegerAttr>(nn::kFloatConstantsAttr))
    floatConstants = floats.getInt();
}

/// Returns the elements of a weight that a layer multiplies by and that may be
/// stored in another form, or nullopt for other constants.
static std::optional<TensorData> getOpenWeight(nn::ConstantOp constant) {
  bool isWeight = llvm::all_of(constant->getUses(), [](mlir::OpOperand &use) {
    auto layer = llvm::dyn_cast<nn::LayerOp>(use.getOwner());
    return layer && layer.getAnchorOp() &&
           use.getOperandNumber() < layer.getInputs().size();
  });
  std::optional<TensorData> data = TensorData::get(constant.getValue());
  if (!isWeight || !data || nn::getElementBytes(data->getElementType()) > 4)
    return std::nullopt;
  return data;
}

void WeightsAdvice::findEncoding(mlir::ModuleOp layered, int64_t bytes) {
  for (stored::StoredKind kind : stored::kStoredKinds) {
    int64_t saved = 0;
    llvm::DenseSet<mlir::Attribute> seen;
    layered.walk([&](nn::ConstantOp constant) {
      std::optional<TensorData> data = getOpenWeight(constant);
      if (!data || !seen.insert(constant.getValue()).second)
        return;
      auto form = stored::StoredForm::get(
          kind, data->getBytes(),
          int(nn::getElementBytes(data->getElementType())),
          {data->getNumElements()});
      if (form)
        saved += nn::getPhysicalBytes(constant.getY().getType()) -
                 int64_t(form->bytes.size());
    });
    // The forms are sorted by time: among those of almost equal bytes, the
    // first one is the fastest.
    if (saved >= leastBytes && saved >= bytes / leastPart &&
        (!encoding || saved > encoding->saved + bytes / leastPart))
      encoding = Encoding{stored::toString(kind).str(), bytes - saved, saved};
  }
}

void WeightsAdvice::setCosts(int64_t bytes, int64_t saved, int64_t ram,
                             std::optional<double> seconds) {
  encoding->bytes = bytes;
  encoding->saved = saved;
  encoding->ram = ram;
  encoding->seconds = seconds;
}

void WeightsAdvice::print() const {
  auto line = [](const char *what, const std::string &text) {
    printOut("  {:<14} {}\n", what, text);
  };
  auto count = [](int64_t layers) {
    return fmt::format("{} {}", layers, layers == 1 ? "layer" : "layers");
  };
  std::vector<std::string> parts;
  if (integerLayers)
    parts.push_back(
        fmt::format("stay integers in {} of floats", count(integerLayers)));
  if (floatLayers)
    parts.push_back(fmt::format("become floats in {}, which takes less time",
                                count(floatLayers)));
  if (!ramNames.empty()) {
    constexpr size_t mostNames = 4;
    size_t shown = std::min(ramNames.size(), mostNames);
    parts.push_back(fmt::format(
        "become floats in {} ({}{}), as decoding them would take more RAM",
        count(int64_t(ramNames.size())),
        fmt::join(ramNames.begin(), ramNames.begin() + shown, ", "),
        shown < ramNames.size() ? ", ..." : ""));
  }
  if (floatConstants)
    parts.push_back(fmt::format(
        "become floats in {}, since nnc keeps bytes of weights of convolutions "
        "and dense layers alone",
        floatConstants == 1 ? "1 constant"
                            : fmt::format("{} constants", floatConstants)));
  if (!parts.empty())
    line("8-bit weights", fmt::format("{}", fmt::join(parts, "; ")));
  if (!halfConstants.empty())
    line("16-bit floats", halfConstants);
  if (!encoding)
    return;
  std::string costs =
      encoding->ram == 0
          ? "no more RAM"
          : fmt::format("{} bytes {} of RAM", std::abs(encoding->ram),
                        encoding->ram > 0 ? "more" : "fewer");
  if (encoding->seconds && *encoding->seconds >= 0)
    costs +=
        fmt::format(" and {} more of time", formatSeconds(*encoding->seconds));
  else if (encoding->seconds)
    costs +=
        fmt::format(" and {} less of time", formatSeconds(-*encoding->seconds));
  else
    costs += "; nnc explain estimates the time";
  line("",
       fmt::format("--weights-encoding={} would store the weights in "
                   "about {} bytes, {} fewer, and takes {}",
                   encoding->name, encoding->bytes, encoding->saved, costs));
}

void WeightsAdvice::addTo(llvm::json::Object &said) const {
  int64_t ramLayers = int64_t(ramNames.size());
  if (integerLayers || floatLayers || ramLayers || floatConstants) {
    llvm::json::Object bytes{{"integer_layers", integerLayers},
                             {"float_layers", floatLayers + ramLayers}};
    if (floatConstants)
      bytes["float_constants"] = floatConstants;
    if (ramLayers)
      bytes["layers_without_room"] = llvm::json::Array(ramNames);
    said["byte_weights"] = std::move(bytes);
  }
  if (!encoding)
    return;
  llvm::json::Object hint{{"encoding", encoding->name},
                          {"weight_bytes", encoding->bytes},
                          {"saved_bytes", encoding->saved},
                          {"more_ram_bytes", encoding->ram}};
  if (encoding->seconds)
    hint["more_seconds"] = *encoding->seconds;
  said["weights_encoding_hint"] = std::move(hint);
}

} // namespace nnc::tools
