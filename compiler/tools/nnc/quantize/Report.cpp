//===- Report.cpp - Output of nnc quantize --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/Report.h"

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {

llvm::StringRef getName(quantize::Method method) {
  switch (method) {
  case quantize::Method::minmax:
    return "minmax";
  case quantize::Method::percentile:
    return "percentile";
  case quantize::Method::entropy:
    return "entropy";
  case quantize::Method::mse:
    return "mse";
  }
  llvm_unreachable("unknown method");
}

llvm::StringRef getName(quantize::Storage storage) {
  return storage == quantize::Storage::s8 ? "s8" : "u8";
}

/// A layer and the properties of its output.
struct LayerReport {
  onnx::LayerSummary layer;
  quantize::Range range;
  quantize::Parameters parameters;
  std::optional<double> decibels;
};

static std::vector<LayerReport> describe(OnnxModel &session,
                                         const Evaluation &evaluation) {
  std::vector<LayerReport> reports;
  onnx::Quantizer &quantizer = session.getQuantizer();
  for (const onnx::LayerSummary &layer : quantizer.getLayers()) {
    quantize::Parameters parameters = quantizer.getParameters(layer.output);
    // The range of the integers may be wider than that of the tensor alone if
    // the tensor shares its scale with others.
    double scale = parameters.scale;
    if (!layer.isRounded) {
      reports.push_back({layer, session.getRange(layer.output), parameters,
                         evaluation.tensors.at(layer.output).getDecibels()});
      continue;
    }
    quantize::Range range{
        (quantize::getMin(parameters.storage) - parameters.zeroPoint) * scale,
        (quantize::getMax(parameters.storage) - parameters.zeroPoint) * scale};
    reports.push_back({layer, range, parameters,
                       evaluation.tensors.at(layer.output).getDecibels()});
  }
  return reports;
}

void addTimes(int layer, const SearchResult &search, json::Object &object) {
  auto times = search.layerTimes.find(layer);
  if (times == search.layerTimes.end())
    return;
  object["float_us"] = 1e6 * times->second.floats;
  object["int8_us"] = 1e6 * times->second.integers;
}

void addTimes(const SearchResult &search, json::Object &object) {
  if (const auto &times = search.times)
    object["time_estimate"] = json::Object{{"target", times->target},
                                           {"float_us", 1e6 * times->floats},
                                           {"int8_us", 1e6 * times->integers},
                                           {"us", 1e6 * times->result}};
}

void printSearch(const QuantizeSettings &settings, const SearchResult &search) {
  if (settings.hasSearch())
    printOut("{} evaluated\n",
             search.evaluated == 1
                 ? std::string("one model was")
                 : fmt::format("{} models were", search.evaluated));
  if (const auto &times = search.times)
    printOut(
        "on target {} it is estimated to take {}, the float model {}, with "
        "all layers quantized {}; {} layers stay float because integers "
        "are slower\n",
        times->target, formatSeconds(times->result),
        formatSeconds(times->floats), formatSeconds(times->integers),
        times->slower);
}

json::Object toJson(OnnxModel &session, const Evaluation &evaluation,
                    const QuantizeTotals &totals) {
  const QuantizeSettings &settings = session.getSettings();
  onnx::Quantizer &quantizer = session.getQuantizer();
  json::Array layers, floats;
  for (const LayerReport &each : describe(session, evaluation)) {
    json::Object layer{
        {"name", each.layer.name},     {"op", each.layer.op},
        {"output", each.layer.output}, {"low", each.range.low},
        {"high", each.range.high},     {"scale", nullptr},
        {"zero_point", nullptr},       {"sqnr_db", orNull(each.decibels)}};
    if (each.layer.isRounded) {
      layer["scale"] = double(each.parameters.scale);
      layer["zero_point"] = each.parameters.zeroPoint;
    }
    addTimes(each.layer.node, totals.search, layer);
    layers.push_back(std::move(layer));
  }
  for (const onnx::FloatSummary &each : quantizer.getFloats())
    floats.push_back(json::Object{
        {"name", each.name}, {"op", each.op}, {"reason", each.reason}});
  json::Object object{{"file", settings.output},
                      {"method", getName(settings.method)},
                      {"activations", getName(settings.options.storage)},
                      {"per_channel", settings.options.weights.perChannel},
                      {"reduce_range", settings.options.weights.reduceRange},
                      {"samples", int64_t(session.getSamples().size())},
                      {"opset", quantizer.getOpset()},
                      {"folded", quantizer.getNumFolded()},
                      {"equalized", quantizer.getNumEqualized()},
                      {"corrected", session.getNumCorrected()},
                      {"float_bytes", totals.floatBytes},
                      {"bytes", evaluation.bytes},
                      {"seconds", totals.seconds},
                      {"evaluated", totals.search.evaluated},
                      {"metric", evaluation.metricName},
                      {"float_metric", orNull(evaluation.floatMetric)},
                      {"quantized_metric", orNull(evaluation.metric)},
                      {"drop", orNull(evaluation.drop)},
                      {"layers", std::move(layers)},
                      {"float_layers", std::move(floats)},
                      {"outputs", toJson(evaluation.outputs)}};
  addTimes(totals.search, object);
  return object;
}

/// Prints the layers that stay float: those with products, and those that stay
/// float by choice. Other layers that lie between float values are only
/// counted.
static void printFloats(const std::vector<onnx::FloatSummary> &floats) {
  Table table({"stays float", "op", "because"});
  std::map<std::string, int> others;
  bool hasRows = false;
  for (const onnx::FloatSummary &each : floats) {
    if (!each.isImportant) {
      ++others[each.op];
      continue;
    }
    table.add({each.name, each.op, each.reason});
    hasRows = true;
  }
  if (hasRows) {
    printOut("\n");
    table.print();
  }
  if (others.empty())
    return;
  std::vector<std::string> counts;
  for (const auto &[op, count] : others)
    counts.push_back(fmt::format("{} {}", count, op));
  printOut("\nNext to quantized layers, these nodes stay float, as they read "
           "constants or other floats: {}; --json names them\n",
           fmt::join(counts, ", "));
}

static void printTables(OnnxModel &session, const Evaluation &evaluation) {
  Table layers({"layer", "op", "low", "high", "scale", "zero", "SQNR (dB)"});
  for (const LayerReport &each : describe(session, evaluation))
    layers.add(
        {each.layer.name, each.layer.op, fmt::format("{:.4g}", each.range.low),
         fmt::format("{:.4g}", each.range.high),
         each.layer.isRounded ? fmt::format("{:.4g}", each.parameters.scale)
                              : "not rounded",
         each.layer.isRounded ? fmt::format("{}", each.parameters.zeroPoint)
                              : "",
         formatDecibels(each.decibels)});
  layers.print();
  printFloats(session.getQuantizer().getFloats());
  printOut("\n");
  print(evaluation.outputs);
}

bool QuantizeTotals::isBetterEqualized(const QuantizeSettings &settings,
                                       const Evaluation &plain,
                                       const Evaluation &equalized) {
  plainNoise = getNoise(plain);
  double noise = getNoise(equalized);
  bool isBetter = settings.metric.empty() ? noise <= plainNoise
                                          : equalized.drop <= plain.drop;
  equalizedNoise = isBetter ? std::nullopt : std::optional(noise);
  return isBetter;
}

void printMethods(const QuantizeSettings &settings, int equalized,
                  int corrected, const QuantizeTotals &totals) {
  if (settings.equalize)
    printOut("{} of layers {} equalized\n",
             equalized == 1 ? "1 pair" : fmt::format("{} pairs", equalized),
             equalized == 1 ? "was" : "were");
  if (totals.equalizedNoise)
    printOut("equalization was left out: with it the root mean square error "
             "of the outputs is {:.3g} of their own instead of {:.3g}\n",
             std::sqrt(*totals.equalizedNoise), std::sqrt(totals.plainNoise));
  if (settings.biasCorrection)
    printOut("the biases of {} layers were corrected\n", corrected);
}

void printReport(OnnxModel &session, const Evaluation &evaluation,
                 const QuantizeTotals &totals) {
  const QuantizeSettings &settings = session.getSettings();
  onnx::Quantizer &quantizer = session.getQuantizer();
  printTables(session, evaluation);
  printOut("\n{}: {} layers quantized, {} instead of {}, by {} of {} samples, "
           "activations {}, in {}\n",
           displayText(settings.output), quantizer.getLayers().size(),
           formatBytes(double(evaluation.bytes)),
           formatBytes(double(totals.floatBytes)),
           getName(settings.method).str(), session.getSamples().size(),
           getName(settings.options.storage).str(),
           formatSeconds(totals.seconds));
  if (quantizer.getNumFolded())
    printOut("{} batch norms and other factors of channels were folded into "
             "weights\n",
             quantizer.getNumFolded());
  printMethods(settings, quantizer.getNumEqualized(), session.getNumCorrected(),
               totals);
  if (evaluation.metricName.empty())
    return;
  print(static_cast<const Score &>(evaluation));
  printSearch(settings, totals.search);
}

} // namespace nnc::tools
