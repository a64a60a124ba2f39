//===- Document.cpp - The report on a model as JSON -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/report/Document.h"

#include "codegen/Printer.h"
#include "compiler/tools/driver/manifest/Quantized.h"
#include "compiler/tools/nnc/figures/Arena.h"
#include "compiler/tools/nnc/figures/Fit.h"
#include "compiler/tools/nnc/prepare/Prepared.h"
#include "compiler/tools/nnc/report/Graph.h"

#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/layouts/Layout.h"

#include "llvm/Support/Path.h"

#include <fmt/format.h>

// A json::Value only refers to the characters of a StringRef. The IR owns these
// and is destroyed before the document, so names are passed as strings.
namespace json = llvm::json;

namespace nnc::tools {
namespace {

/// Finds the search's estimates for the steps of a program. A layer that needs
/// several calls is several steps, which share its time in proportion to their
/// work.
class Estimates {
public:
  Estimates(const Explanation &explanation, const Graph &graph)
      : explanation(explanation) {
    for (const Explained &layer : explanation.layers)
      byName[layer.name] = &layer;
    for (const GraphStep &step : graph.steps)
      if (const Explained *layer = findLayer(step))
        work[layer] += getWork(step);
  }

  /// Returns the layer of which a step is all or a part, or null.
  const Explained *findLayer(const GraphStep &step) const {
    auto call = llvm::dyn_cast<exec::CallOp>(step.op);
    if (!call)
      return nullptr;
    if (auto found = byName.find(call.getName()); found != byName.end())
      return found->second;
    auto [stem, number] = call.getName().rsplit('_');
    auto found = byName.find(stem);
    bool isPart = !number.empty() && llvm::all_of(number, llvm::isDigit);
    return isPart && found != byName.end() ? found->second : nullptr;
  }

  /// Returns the time of a step, or nothing if the search has no estimate for
  /// it.
  std::optional<UnitCost> findCost(const GraphStep &step) const {
    auto call = llvm::dyn_cast<exec::CallOp>(step.op);
    if (!call)
      return std::nullopt;
    for (const StoredWeight &weight : explanation.stored)
      if (weight.isDecoded ? weight.routine == call.getRoutine() &&
                                 weight.name == nn::getModelName(call.getLoc())
                           : weight.layer == call.getName()) {
        UnitCost cost;
        cost.seconds = cost.estimate = weight.seconds;
        return cost;
      }
    if (const Explained *layer = findLayer(step)) {
      UnitCost cost = layer->chosen();
      double share = getWork(step) / work.lookup(layer);
      cost.seconds *= share;
      cost.estimate *= share;
      return cost;
    }
    // Changes of layout have no names of their own.
    llvm::StringRef name = nn::getModelName(call.getLoc());
    std::string to =
        nn::getLayoutName(exec::getPlaceOp(call.getOutputs()[0]).getTensor());
    for (const LayoutChange &change : explanation.changes)
      if (change.name == name && change.to == to &&
          change.routine == call.getRoutine())
        return change.cost;
    return std::nullopt;
  }

private:
  static double getWork(const GraphStep &step) {
    auto call = llvm::cast<exec::CallOp>(step.op);
    return 1 + double(call.getWork());
  }

  const Explanation &explanation;
  llvm::StringMap<const Explained *> byName;
  llvm::DenseMap<const Explained *, double> work;
};

json::Object describeType(mlir::RankedTensorType type) {
  return json::Object{{"dtype", codegen::getTypeName(type.getElementType())},
                      {"shape", json::Array(type.getShape())},
                      {"layout", nn::getLayoutName(type)},
                      {"layout_shape", json::Array(nn::getNamedShape(type))}};
}

json::Object describeWeight(const GraphWeight &weight) {
  json::Object object = describeType(weight.type);
  object["name"] = weight.name;
  object["role"] = weight.role;
  object["bytes"] = weight.bytes;
  object["shared"] = weight.isShared;
  return object;
}

/// Adds the time of a layer in a run, which is that of all its `trips` through
/// loops together.
void addEstimates(json::Object &layer, const GraphStep &step, int64_t trips,
                  const Estimates &estimates) {
  std::optional<UnitCost> cost = estimates.findCost(step);
  if (cost) {
    cost->seconds *= double(trips);
    cost->estimate *= double(trips);
  }
  layer["seconds"] = cost ? json::Value(cost->seconds) : nullptr;
  layer["estimate_seconds"] = cost ? json::Value(cost->estimate) : nullptr;
  layer["cost_measured"] = cost && cost->measured;
  json::Array alternatives;
  if (const Explained *known = estimates.findLayer(step)) {
    for (const Alternative &other : known->alternatives) {
      json::Object one = other.toJson();
      one["over_max_error"] = other.inexact;
      alternatives.push_back(std::move(one));
    }
    layer["ops"] = json::Array(known->ops);
    if (!known->floats.empty())
      layer["float_because"] = known->floats;
    if (known->fusion) {
      json::Object fusion = known->fusion->toJson();
      fusion["form"] = known->fusion->form;
      layer["fusion"] = std::move(fusion);
    }
  }
  layer["alternatives"] = std::move(alternatives);
}

/// Returns the type of the result of a step.
mlir::RankedTensorType getResultType(mlir::Operation *op) {
  mlir::Value place;
  if (auto call = llvm::dyn_cast<exec::CallOp>(op))
    place = call.getOutputs()[0];
  else if (auto copy = llvm::dyn_cast<exec::CopyOp>(op))
    place = copy.getTarget();
  else if (auto transfer = llvm::dyn_cast<exec::TransferOp>(op))
    place = transfer.getTarget();
  else
    place = llvm::cast<exec::CustomOp>(op).getOutput();
  return exec::getPlaceOp(place).getTensor();
}

/// Adds the bytes of code that belong only to this layer, or null where they
/// are not known, and the name of the layer whose code it shares, if it does.
void addCode(json::Object &layer, const GraphStep &step, size_t number,
             const std::optional<CodeBytes> &code) {
  auto call = llvm::dyn_cast<exec::CallOp>(step.op);
  if (call && call.getLike())
    layer["code_of"] = call.getLike()->str();
  layer["code_bytes"] = code && !code->layers.empty()
                            ? json::Value(code->layers[number])
                            : json::Value(nullptr);
}

json::Array describeLayers(const Manifest &manifest, const Graph &graph,
                           const Estimates &estimates,
                           const std::optional<CodeBytes> &code) {
  json::Array layers;
  for (auto [known, step] : llvm::zip(manifest.layers, graph.steps)) {
    json::Array weights;
    int64_t weightBytes = 0;
    for (const GraphWeight &weight : step.weights) {
      weights.push_back(describeWeight(weight));
      weightBytes += weight.bytes;
    }
    const Routine *routine = Catalogue::get().findRoutine(known.routine);
    json::Object layer{
        {"name", known.name},
        {"model_name", nn::getModelName(step.op->getLoc()).str()},
        {"what", step.description.getText()},
        {"kind", nn::getName(step.description.kind)},
        {"numbers", step.description.numbers},
        {"ops", json::Array()},
        {"within", json::Array(step.within)},
        {"routine", known.routine},
        {"params", json::Array(known.params)},
        {"isa", routine ? routine->isa : ""},
        {"dtype", known.dtype},
        {"shape", json::Array(known.shape)},
        {"layout", known.layout},
        {"layout_shape",
         json::Array(nn::getNamedShape(getResultType(step.op)))},
        {"trips", known.trips},
        {"open_trips", known.hasOpenTrips},
        {"multiply_adds", known.multiplyAdds},
        {"operations", known.operations},
        {"activation_bytes", step.activationBytes},
        {"weight_bytes", weightBytes},
        {"scratch_bytes", step.scratchBytes},
        {"weights", std::move(weights)}};
    if (auto window = windowToJson(step.description))
      layer["window"] = std::move(*window);
    addCode(layer, step, layers.size(), code);
    addEstimates(layer, step, known.trips, estimates);
    layers.push_back(std::move(layer));
  }
  return layers;
}

json::Array describePorts(const Graph &graph) {
  json::Array ports;
  for (const GraphPort &port : graph.ports) {
    exec::PlaceOpInterface place = port.place;
    auto modelName = place->getAttrOfType<mlir::StringAttr>("model_name");
    json::Object object = describeType(place.getTensor());
    object["kind"] = port.kind == GraphPort::Kind::input    ? "input"
                     : port.kind == GraphPort::Kind::state  ? "state"
                     : port.kind == GraphPort::Kind::output ? "output"
                                                            : "next_state";
    object["name"] = (modelName ? modelName.getValue() : place.getName()).str();
    object["bytes"] = nn::getPhysicalBytes(place.getTensor());
    object["in_arena"] = exec::isInArena(place);
    codegen::addElements(place, object);
    ports.push_back(std::move(object));
  }
  return ports;
}

json::Array describeEdges(const Graph &graph) {
  json::Array edges;
  for (const GraphEdge &edge : graph.edges) {
    json::Object object = describeType(edge.type);
    object["from"] = edge.from;
    object["to"] = edge.to;
    object["bytes"] = nn::getPhysicalBytes(edge.type);
    edges.push_back(std::move(object));
  }
  return edges;
}

json::Object describeArena(const Manifest &manifest) {
  json::Array places, memories;
  for (const ArenaPlace &place : manifest.arena)
    places.push_back(json::Object{{"name", place.name},
                                  {"offset", place.offset},
                                  {"bytes", place.bytes},
                                  {"first", place.first},
                                  {"last", place.last},
                                  {"scratch", place.isScratch}});
  for (const Memory &memory : manifest.memories)
    memories.push_back(json::Object{{"name", memory.name},
                                    {"bytes", memory.bytes},
                                    {"size", memory.size},
                                    {"slow", memory.slow}});
  json::Object arena{{"bytes", manifest.arenaBytes},
                     {"lower_bound_bytes", manifest.lowerBound},
                     {"places", std::move(places)},
                     {"memories", std::move(memories)},
                     {"peak", nullptr}};
  ArenaPeak peak = findPeak(manifest);
  if (!peak.places.empty()) {
    json::Array holders; // indices in `places`
    for (const ArenaPlace *place : peak.places)
      holders.push_back(int64_t(place - manifest.arena.data()));
    arena["peak"] = json::Object{{"layer", peak.layer},
                                 {"bytes", peak.bytes},
                                 {"places", std::move(holders)}};
  }
  return arena;
}

/// Returns the multiply-adds per second that routines of `isa` can reach. Those
/// for blocks of a GPU's threads may use its tensor cores.
double getPeak(target::DeviceAttr device, llvm::StringRef isa) {
  auto gpu = llvm::dyn_cast<target::GpuAttr>(device.getCost());
  if (!gpu)
    return device.getCore().getPeak(isa);
  return isa == "portable" ? gpu.getPeak() : gpu.getTensorPeakF16();
}

/// Describes the machine's limits on the time of a layer: the peak rates of its
/// arithmetic, and the bandwidths of its caches and memory.
json::Object describeMachine(target::MachineAttr machine) {
  json::Array peaks, levels;
  target::DeviceAttr host = machine.getHost();
  target::CoreAttr core = host.getCore();
  for (auto isa : host.getIsas().getAsValueRange<mlir::StringAttr>())
    peaks.push_back(json::Object{
        {"isa", isa.str()}, {"multiply_adds_per_second", getPeak(host, isa)}});
  double cycles = 1e6 * double(core.getMhz());
  for (auto [i, bytes, bandwidth] : llvm::enumerate(
           core.getCaches().asArrayRef(), core.getBandwidth().asArrayRef()))
    if (bytes > 0 && bandwidth > 0)
      levels.push_back(
          json::Object{{"name", fmt::format("level {} cache", i + 1)},
                       {"bytes", bytes},
                       {"bytes_per_second", double(bandwidth) * cycles}});
  levels.push_back(
      json::Object{{"name", "memory"},
                   {"bytes", nullptr},
                   {"bytes_per_second", 1e6 * double(core.getMemoryMbS())}});
  return json::Object{{"target", machine.getName().str()},
                      {"mhz", core.getMhz()},
                      {"vector_bytes", core.getVectorBytes()},
                      {"bare", machine.isBare()},
                      {"peaks", std::move(peaks)},
                      {"levels", std::move(levels)}};
}

/// Describes the totals of the model. Values that were not measured are null.
json::Object describeTotals(const Manifest &manifest,
                            const Explanation &explanation,
                            const std::optional<CodeBytes> &code) {
  Fit fit = Fit::find(manifest, code);
  json::Object totals{{"seconds", explanation.getSeconds()},
                      {"lower_bound_seconds", explanation.plan.lowerBound},
                      {"solver", explanation.plan.solver.str()},
                      {"arena_bytes", manifest.arenaBytes},
                      {"weight_bytes", manifest.weightBytes},
                      {"input_bytes", sumBytes(manifest.inputs)},
                      {"output_bytes", sumBytes(manifest.outputs)},
                      {"state_bytes", sumBytes(manifest.state)},
                      {"ram_bytes", fit.ram.getSum()},
                      {"multiply_adds", manifest.multiplyAdds()}};
  const StackDepth *stack = code ? code->findStack() : nullptr;
  totals["stack_bytes"] =
      stack ? json::Value(stack->bytes) : json::Value(nullptr);
  totals["code_bytes"] = code ? json::Value(code->total) : json::Value(nullptr);
  totals["flash_bytes"] =
      fit.flash ? json::Value(fit.flash->getSum()) : json::Value(nullptr);
  totals["compiler"] = code ? json::Value(code->command) : json::Value(nullptr);
  return totals;
}

json::Object describeOptions(const ModelOptions &options, bool isTuned) {
  return json::Object{{"precision", getName(options.precision)},
                      {"optimize", getName(options.optimize)},
                      {"threads", options.threads},
                      {"max_error", options.maxError},
                      {"weights_encoding", options.weightsEncoding},
                      {"max_weights", options.maxWeights
                                          ? json::Value(*options.maxWeights)
                                          : json::Value(nullptr)},
                      {"tuned", isTuned}};
}

} // namespace

json::Object describeModel(const Prepared &prepared,
                           const Explanation &explanation,
                           const std::optional<CodeBytes> &code) {
  Driver &driver = *prepared.driver;
  const Manifest &manifest = prepared.manifest;
  auto program = *driver.module().getOps<exec::ProgramOp>().begin();
  Graph graph = Graph::build(program);
  Estimates estimates(explanation, graph);
  auto machine = target::getTarget(driver.formed());
  return json::Object{
      {"format", kDocumentFormat},
      {"nnc", NNC_VERSION},
      {"name", manifest.name},
      {"model", llvm::sys::path::filename(driver.options().model).str()},
      {"sha256", program.getSha256().str()},
      {"options", describeOptions(driver.options(), driver.tuned())},
      {"machine", describeMachine(*machine)},
      {"totals", describeTotals(manifest, explanation, code)},
      {"ports", describePorts(graph)},
      {"layers", describeLayers(manifest, graph, estimates, code)},
      {"edges", describeEdges(graph)},
      {"arena", describeArena(manifest)},
      {"measured", nullptr},
      {"accuracy", nullptr}};
}

std::string findDocumentProblem(const json::Value &document) {
  const json::Object *object = document.getAsObject();
  std::optional<int64_t> format =
      object ? object->getInteger("format") : std::nullopt;
  if (!format)
    return "holds no report of nnc";
  if (*format != kDocumentFormat)
    return fmt::format("is a report of format {}, expected {}; make it again "
                       "with this nnc",
                       *format, kDocumentFormat);
  for (const char *key : {"options", "machine", "totals", "arena"})
    if (!object->getObject(key))
      return fmt::format("is a damaged report: it has no object '{}'", key);
  for (const char *key : {"ports", "layers", "edges"})
    if (!object->getArray(key))
      return fmt::format("is a damaged report: it has no list '{}'", key);
  for (const char *key : {"name", "model", "nnc"})
    if (!object->getString(key))
      return fmt::format("is a damaged report: it has no text '{}'", key);
  return "";
}

} // namespace nnc::tools
