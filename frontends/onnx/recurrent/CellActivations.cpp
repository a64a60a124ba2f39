//===- CellActivations.cpp - Activations of recurrent layers --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/recurrent/CellActivations.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;

namespace {
/// The default parameters of an activation; nullopt for parameters that it does
/// not have.
struct DefaultNumbers {
  std::optional<double> alpha, beta;
};
} // namespace

static DefaultNumbers getNumbers(nn::CellActivation kind) {
  switch (kind) {
  case nn::CellActivation::leaky_relu:
    return {0.01, std::nullopt};
  case nn::CellActivation::thresholded_relu:
  case nn::CellActivation::elu:
    return {1, std::nullopt};
  case nn::CellActivation::hard_sigmoid:
    return {0.2, 0.5};
  case nn::CellActivation::affine:
    return {1, 0};
  case nn::CellActivation::scaled_tanh:
    return {1, 1};
  default:
    return {};
  }
}

std::optional<std::vector<CellActivations>>
nnc::onnx::readActivations(const GivenActivations &given, nn::CellKind kind,
                           int64_t directions, std::string &why) {
  static const std::pair<StringRef, nn::CellActivation> names[] = {
      {"affine", nn::CellActivation::affine},
      {"relu", nn::CellActivation::relu},
      {"leakyrelu", nn::CellActivation::leaky_relu},
      {"thresholdedrelu", nn::CellActivation::thresholded_relu},
      {"tanh", nn::CellActivation::tanh},
      {"scaledtanh", nn::CellActivation::scaled_tanh},
      {"sigmoid", nn::CellActivation::sigmoid},
      {"hardsigmoid", nn::CellActivation::hard_sigmoid},
      {"elu", nn::CellActivation::elu},
      {"softsign", nn::CellActivation::softsign},
      {"softplus", nn::CellActivation::softplus}};
  auto count = static_cast<size_t>(kind == nn::CellKind::lstm  ? 3
                                   : kind == nn::CellKind::gru ? 2
                                                               : 1);
  SmallVector<nn::CellActivation> kinds;
  for (const std::string &text : given.names) {
    const auto *found = llvm::find_if(names, [&](const auto &entry) {
      return StringRef(text).equals_insensitive(entry.first);
    });
    if (found == std::end(names)) {
      why = "has the activation '" + text + "'";
      return std::nullopt;
    }
    kinds.push_back(found->second);
  }
  if (given.names.empty())
    for (int64_t direction = 0; direction < directions; ++direction)
      for (size_t i = 0; i < count; ++i)
        kinds.push_back(i == 0 && kind != nn::CellKind::rnn
                            ? nn::CellActivation::sigmoid
                            : nn::CellActivation::tanh);
  // The default list of the schema for RNN is for two directions.
  size_t needed = count * static_cast<size_t>(directions);
  if (kind == nn::CellKind::rnn && kinds.size() > needed)
    kinds.truncate(needed);
  if (kinds.size() != needed) {
    why = ("has " + Twine(kinds.size()) + " activations for " +
           Twine(directions) + " directions")
              .str();
    return std::nullopt;
  }
  // Only activations with such a parameter take one from the list.
  size_t alphas = 0, betas = 0;
  auto take = [&](ArrayRef<double> list, std::optional<double> otherwise,
                  size_t &taken) {
    if (!otherwise)
      return 0.0;
    return taken < list.size() ? list[taken++] : *otherwise;
  };
  std::vector<CellActivations> all;
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (i % count == 0)
      all.emplace_back();
    DefaultNumbers defaults = getNumbers(kinds[i]);
    all.back().kinds.push_back(kinds[i]);
    all.back().numbers.push_back(take(given.alphas, defaults.alpha, alphas));
    all.back().numbers.push_back(take(given.betas, defaults.beta, betas));
  }
  for (CellActivations &list : all) {
    list.kinds.resize(3, nn::CellActivation::tanh);
    list.numbers.resize(6, 0);
  }
  return all;
}
