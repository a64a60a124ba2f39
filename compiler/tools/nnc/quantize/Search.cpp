//===- Search.cpp - Which layers stay floats for accuracy -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/Search.h"

#include <algorithm>
#include <fmt/format.h>

namespace nnc::tools {
namespace {

struct Candidate {
  int node;
  double noise; ///< that the layer adds, as a share of its output's signal
  double work;  ///< multiply-adds
  std::optional<double> decibels;
};

class Search {
public:
  Search(Session &session, Evaluation &evaluation, int &tried)
      : session(session), evaluation(evaluation), tried(tried) {}
  ExitCode run();

private:
  Candidate describe(const onnx::LayerSummary &layer) const;
  double countWork(const onnx::LayerSummary &layer) const;
  void sortCandidates();
  void keep(size_t count);
  bool isAllowed(const Evaluation &each) const {
    return each.drop <= *session.getSettings().maxDrop;
  }

  Session &session;
  Evaluation &evaluation;
  int &tried;
  std::vector<Candidate> candidates; ///< the most sensitive first
};

} // namespace

double Search::countWork(const onnx::LayerSummary &layer) const {
  const Executable &model = session.getFloatModel();
  auto getShape = [&](const std::string &tensor) {
    return model.getManifest().outputs[model.findOutput(tensor)].shape;
  };
  auto count = [&](const std::string &tensor) {
    double elements = 1;
    for (int64_t size : getShape(tensor))
      elements *= double(size);
    return elements;
  };
  if (layer.hasWeights)
    return double(layer.products) * count(layer.op == "ConvTranspose"
                                              ? layer.inputs.front()
                                              : layer.output);
  if (layer.op == "MatMul" || layer.op == "Gemm")
    if (std::vector<int64_t> shape = getShape(layer.inputs.front());
        !shape.empty())
      return double(shape.back()) * count(layer.output);
  return count(layer.output);
}

/// A layer adds what its output has more of noise than its noisiest operand,
/// and the rounding of its operands: a layer before it that stays float would
/// leave that to it.
Candidate Search::describe(const onnx::LayerSummary &layer) const {
  auto getRatio = [](const std::map<std::string, Noise> &all,
                     const std::string &tensor) {
    auto found = all.find(tensor);
    return found == all.end() ? 0 : found->second.getRatio();
  };
  double before = 0, rounding = 0;
  for (const std::string &input : layer.inputs) {
    before = std::max(before, getRatio(evaluation.tensors, input));
    rounding += getRatio(evaluation.rounding, input);
  }
  double after = getRatio(evaluation.tensors, layer.output);
  auto own = evaluation.tensors.find(layer.output);
  return {layer.node, std::max(0.0, after - before) + rounding,
          countWork(layer),
          own == evaluation.tensors.end() ? std::nullopt
                                          : own->second.getDecibels()};
}

void Search::sortCandidates() {
  // A layer that moves elements adds no noise, and follows the layer that it
  // reads.
  for (const onnx::LayerSummary &layer : session.getQuantizer().getLayers())
    if (!layer.isMove)
      candidates.push_back(describe(layer));
  bool isMixed = session.getSettings().mixed;
  auto getKey = [&](const Candidate &each) {
    return isMixed ? each.noise / std::max(each.work, 1.0) : each.noise;
  };
  std::sort(candidates.begin(), candidates.end(),
            [&](const Candidate &a, const Candidate &b) {
              // Equal ones keep the order of the model.
              return std::pair(-getKey(a), a.node) <
                     std::pair(-getKey(b), b.node);
            });
}

/// Makes the first `count` candidates floats.
void Search::keep(size_t count) {
  std::map<int, std::string> kept;
  for (size_t i = 0; i < count; ++i) {
    const Candidate &each = candidates[i];
    kept[each.node] = fmt::format(
        "kept for accuracy, number {} by sensitivity{}: it adds noise of "
        "{:.2g} of the signal, and its output had {}",
        i + 1, session.getSettings().mixed ? " for each multiply-add" : "",
        each.noise,
        each.decibels ? fmt::format("{:.1f} dB", *each.decibels)
                      : std::string("no noise"));
  }
  session.getQuantizer().keepFloats(kept);
}

ExitCode Search::run() {
  if (isAllowed(evaluation))
    return ExitCode::done;
  sortCandidates();
  // More than `low` layers have to stay floats, and `high` are enough. It is
  // often a few: the number doubles until it is enough, and is halved then.
  size_t low = 0, high = candidates.size();
  bool isFound = false;
  while (!isFound || low + 1 < high) {
    size_t count = isFound ? (low + high) / 2
                           : std::min(std::max<size_t>(2 * low, 1), high);
    keep(count);
    Evaluation result;
    ++tried;
    if (ExitCode code = evaluate(session, result); code != ExitCode::done)
      return code;
    // With all layers floats the model is the float one.
    if (isAllowed(result) || count == candidates.size()) {
      isFound = true;
      high = count;
      evaluation = std::move(result);
    } else {
      low = count;
    }
  }
  keep(high);
  return ExitCode::done;
}

ExitCode limitDrop(Session &session, Evaluation &evaluation, int &tried) {
  return Search(session, evaluation, tried).run();
}

} // namespace nnc::tools
