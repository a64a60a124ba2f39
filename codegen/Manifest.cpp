//===- Manifest.cpp - manifest.json ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/description/Description.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

namespace json = llvm::json;

std::string codegen::getModelType(exec::PlaceOpInterface place) {
  auto narrow = place->getAttrOfType<StringAttr>(nn::kModelTypeAttr);
  return narrow ? narrow.str()
                : getTypeName(place.getTensor().getElementType());
}

void codegen::addElements(exec::PlaceOpInterface place, json::Object &port) {
  std::string type = getModelType(place),
              stored = getTypeName(place.getTensor().getElementType());
  port["dtype"] = type;
  if (stored != type)
    port["storage"] = stored;
  auto quantized = getQuantization(place);
  if (!quantized)
    return;
  const qnn::Parameters &parameters = quantized->parameters;
  port["rounding"] = qnn::stringifyRounding(quantized->rounding);
  if (parameters.axis < 0) {
    port["scale"] = parameters.scales.front();
    port["zero_point"] = parameters.zeroPoints.front();
    return;
  }
  port["axis"] = parameters.axis;
  port["scale"] = json::Array(ArrayRef<double>(parameters.scales));
  port["zero_point"] = json::Array(ArrayRef<int64_t>(parameters.zeroPoints));
}

static json::Object describePort(exec::PlaceOpInterface place,
                                 std::optional<StringRef> modelName) {
  RankedTensorType type = place.getTensor();
  json::Object port{
      {"name", modelName.value_or(place.getName())},
      {"field", place.getName()},
      {"shape", json::Array(type.getShape())},
  };
  if (AffineMap dims = exec::getVaryingDims(place)) {
    auto names = getSizeNames(place->getParentOfType<exec::ProgramOp>());
    json::Array words;
    for (AffineExpr dim : dims.getResults())
      words.push_back(printSize(dim, names));
    port["dims"] = std::move(words);
  }
  if (auto output = dyn_cast<exec::OutputOp>(place.getOperation());
      output && output.getSize())
    port["size"] = *output.getSize();
  std::optional<int64_t> offset = exec::getPortOffset(place);
  if (offset && !place->getParentOfType<exec::ProgramOp>().getHostPorts())
    port["arena_offset"] = *offset;
  if (StringRef memory = exec::getMemory(place); !memory.empty())
    port["memory"] = memory;
  addElements(place, port);
  return port;
}

static json::Object describeLayer(StringRef name, StringRef routine,
                                  exec::PlaceOpInterface output,
                                  Location location) {
  RankedTensorType type = output.getTensor();
  return json::Object{
      {"name", name},
      {"routine", routine},
      {"dtype", getTypeName(type.getElementType())},
      {"shape", json::Array(type.getShape())},
      {"layout", nn::getLayoutName(type)},
      {"layout_shape", json::Array(nn::getNamedShape(type))},
      {"location", nn::getModelName(location)},
  };
}

/// Describes the places in the arena. `first` and `last` are indices of layers.
static json::Array describeArena(exec::ProgramOp program) {
  json::Array places;
  for (ArenaSpan span : listArena(program, numberLayers(program))) {
    json::Object described{
        {"name", span.place.getName()},
        {"offset", span.offset},
        {"bytes", nn::getPhysicalBytes(span.place.getTensor())},
        {"first", span.first},
        {"last", span.last},
        {"scratch", span.isScratch},
    };
    if (StringRef memory = exec::getMemory(span.place); !memory.empty())
      described["memory"] = memory;
    places.push_back(std::move(described));
  }
  return places;
}

static constexpr llvm::StringLiteral kMemories = "memories",
                                     kWeightMemories = "weight_memories",
                                     kSizes = "sizes", kModule = "module",
                                     kArchitectures = "architectures",
                                     kDecisions = "decisions", kIo = "io",
                                     kLaunches = "launches",
                                     kLibrary = "library",
                                     kMetadata = "metadata";

static json::Array describeMemories(ArrayAttr list) {
  json::Array memories;
  for (auto memory : list.getAsRange<exec::MemoryAttr>())
    memories.push_back(json::Object{
        {"name", memory.getName()},
        {"bytes", memory.getBytes()},
        {"size", memory.getSize()},
        {"slow", memory.getSlow()},
    });
  return memories;
}

static json::Array describeSizes(exec::ProgramOp program) {
  json::Array sizes;
  for (auto size : program.getSizes().getAsRange<exec::SizeAttr>())
    sizes.push_back(json::Object{{"name", size.getName()},
                                 {"low", size.getLow()},
                                 {"high", size.getHigh()},
                                 {"step", size.getStep()},
                                 {"found", size.getFound()}});
  return sizes;
}

/// Describes the number of launches of a run; `most` is left out if data decide
/// it.
static json::Object describeLaunches(exec::ProgramOp program) {
  LaunchCount count = countLaunches(program);
  json::Object said{{"least", count.least}};
  if (count.most)
    said["most"] = *count.most;
  return said;
}

/// Describes the model's metadata. Its text may be any bytes.
static json::Object describeMetadata(const EmitOptions &options) {
  json::Object entries;
  for (const auto &[key, value] : options.properties)
    entries[json::fixUTF8(key)] = json::fixUTF8(value);
  return entries;
}

/// Prints a value on one line. A list of objects gets one line per object.
static std::string printValue(const json::Value &value) {
  const json::Array *list = value.getAsArray();
  if (!list || list->empty() || !list->front().getAsObject())
    return llvm::formatv("{0}", value);
  std::string text = "[";
  for (const json::Value &item : *list)
    text += llvm::formatv("{0}\n    {1}", text == "[" ? "" : ",", item);
  return text + "\n  ]";
}

/// Describes a program and `others`, the further programs of the same module.
static std::string print(exec::ProgramOp program,
                         ArrayRef<exec::ProgramOp> others,
                         const EmitOptions &options,
                         ArrayRef<std::string> files) {
  json::Array inputs, outputs, state, layers;
  for (Operation &op : program.getBody().front()) {
    if (auto input = dyn_cast<exec::InputOp>(op))
      inputs.push_back(describePort(input, input.getModelName()));
    else if (auto output = dyn_cast<exec::OutputOp>(op))
      outputs.push_back(describePort(output, output.getModelName()));
    else if (auto kept = dyn_cast<exec::StateOp>(op))
      state.push_back(describePort(kept, kept.getModelName()));
  }
  for (Operation *op : exec::getSteps(program)) {
    if (auto copy = dyn_cast<exec::CopyOp>(op))
      layers.push_back(describeLayer(copy.getName(), "memcpy",
                                     exec::getPlaceOp(copy.getTarget()),
                                     copy.getLoc()));
    else if (auto transfer = dyn_cast<exec::TransferOp>(op))
      layers.push_back(describeLayer(transfer.getName(), "memcpy",
                                     exec::getPlaceOp(transfer.getTarget()),
                                     transfer.getLoc()));
    else if (auto custom = dyn_cast<exec::CustomOp>(op)) {
      json::Object layer =
          describeLayer(custom.getName(), "custom",
                        exec::getPlaceOp(custom.getOutput()), custom.getLoc());
      layer["function"] = custom.getFunction();
      layer["custom_id"] = int64_t(custom.getId());
      layers.push_back(std::move(layer));
    } else if (auto call = dyn_cast<exec::CallOp>(op)) {
      json::Object layer =
          describeLayer(call.getName(), call.getRoutine(),
                        exec::getPlaceOp(call.getOutputs()[0]), call.getLoc());
      json::Array params;
      for (NamedAttribute param : call.getParams().getFields())
        params.push_back(cast<IntegerAttr>(param.getValue()).getInt());
      layer["params"] = std::move(params);
      layer["multiply_adds"] = int64_t(call.getMultiplyAdds());
      layer["operations"] = int64_t(call.getWork());
      if (Trips trips = getTrips(call); trips.count != 1 || trips.isOpen) {
        layer["trips"] = trips.count;
        layer["open_trips"] = trips.isOpen;
      }
      layers.push_back(std::move(layer));
    }
  }
  std::pair<StringRef, json::Value> manifest[] = {
      {"name", program.getSymName()},
      {kModule, exec::getModuleName(program)},
      {"sha256", program.getSha256()},
      {"target", program.getTarget()},
      {"isa", json::Array(program.getFeatures().getAsValueRange<StringAttr>())},
      {"flags", json::Array(getFlags(program))},
      {kArchitectures,
       json::Array(program.getArchitectures().getAsValueRange<StringAttr>())},
      {kDecisions, json::Array(listDecisions(program))},
      {kIo, "host"},
      {kLaunches, describeLaunches(program)},
      {"optimize", options.optimize},
      {"files", json::Array(files)},
      {kLibrary, options.library},
      {"inputs", std::move(inputs)},
      {"outputs", std::move(outputs)},
      {"state", std::move(state)},
      {"arena_bytes", int64_t(program.getArena())},
      {"lower_bound_bytes", int64_t(program.getLowerBound())},
      {"align", int64_t(program.getAlign())},
      {"weight_bytes", int64_t(getWeightsBytes(program))},
      {"weights", program.getWeights() ? options.weights : "none"},
      {"threads", takesPool(program, options)},
      {"layers", std::move(layers)},
      {"arena", describeArena(program)},
      {kMemories, describeMemories(program.getMemories())},
      {kWeightMemories, describeMemories(program.getWeightMemories())},
      {kSizes, describeSizes(program)},
      {kMetadata, describeMetadata(options)},
  };
  std::string text;
  for (const auto &[key, value] : manifest) {
    // Only a program with several memories, with sizes or for GPUs has the
    // corresponding lists.
    bool isOptional = key == kMemories || key == kWeightMemories ||
                      key == kSizes || key == kArchitectures ||
                      key == kDecisions;
    if (isOptional && value.getAsArray()->empty())
      continue;
    if ((key == kIo && !program.getHostPorts()) ||
        (key == kLibrary && options.library.empty()) ||
        (key == kLaunches && !isCuda(program)) ||
        (key == kMetadata && options.properties.empty()))
      continue;
    // Only programs after the first one of a module have another name than the
    // module.
    if (key == kModule && value == json::Value(program.getSymName()))
      continue;
    text += (text.empty() ? "{\n  \"" : ",\n  \"") + key.str() +
            "\": " + printValue(value);
  }
  std::string more;
  for (exec::ProgramOp other : others)
    more += (more.empty() ? "" : ",\n") + print(other, {}, options, files);
  if (!more.empty())
    text += ",\n  \"others\": [\n" + more + "  ]";
  return text + "\n}\n";
}

std::string codegen::describe(ModuleOp module) {
  SmallVector<exec::ProgramOp> programs(module.getOps<exec::ProgramOp>());
  return printManifest(programs, EmitOptions(), {});
}

std::string codegen::printManifest(ArrayRef<exec::ProgramOp> programs,
                                   const EmitOptions &options,
                                   ArrayRef<std::string> files) {
  return print(programs.front(), programs.drop_front(), options, files);
}
