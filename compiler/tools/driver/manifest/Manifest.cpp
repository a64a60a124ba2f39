//===- Manifest.cpp - Contents of manifest.json ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/manifest/Manifest.h"

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"

#include "codegen/Codegen.h"
#include "compiler/sizes/SizeRange.h"
#include "frontends/common/ParseJson.h"
#include "frontends/common/Suggest.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace json = llvm::json;

namespace nnc::tools {

int64_t Port::bytes() const {
  return Tensor{dtype, shape, {}}.elements() * dtypeBytes(dtype);
}

std::string Port::typeName() const {
  return modelType.empty() ? dtypeName(dtype) : modelType;
}

json::Object Port::toJson() const {
  json::Object object{{"name", json::fixUTF8(name)},
                      {"field", field},
                      {"dtype", typeName()},
                      {"shape", shape}};
  if (!modelType.empty())
    object["storage"] = dtypeName(dtype);
  if (!scales.empty())
    object["rounding"] = rounding;
  if (axis) {
    object["axis"] = *axis;
    object["scale"] = scales;
    object["zero_point"] = zeroPoints;
  } else if (!scales.empty()) {
    object["scale"] = scales.front();
    object["zero_point"] = zeroPoints.front();
  }
  return object;
}

/// Returns a number with the fewest digits that distinguish it from other
/// floats.
static std::string floatText(double value) {
  return fmt::format("{}", float(value));
}

std::string Port::describeQuantization() const {
  if (scales.empty())
    return "";
  if (!axis)
    return fmt::format("scale {}, zero point {}", floatText(scales.front()),
                       zeroPoints.front());
  auto [least, most] = std::minmax_element(scales.begin(), scales.end());
  return fmt::format("{} scales from {} to {} along axis {}", scales.size(),
                     floatText(*least), floatText(*most), *axis);
}

bool Manifest::hasCustoms() const {
  return llvm::any_of(layers, [](const LayerInfo &layer) {
    return layer.customId.has_value();
  });
}

bool Manifest::hasPortsInArena() const {
  auto isInArena = [](const Port &port) {
    return port.arenaOffset.has_value();
  };
  return llvm::any_of(inputs, isInArena) || llvm::any_of(outputs, isInArena);
}

/// Evaluates a dimension such as "batch * 2 + 1" with values for the names.
static int64_t evaluateDim(llvm::StringRef text,
                           const std::vector<SizeInfo> &sizes,
                           llvm::ArrayRef<int64_t> point,
                           mlir::MLIRContext &context) {
  std::vector<std::string> names;
  for (const SizeInfo &size : sizes)
    names.push_back(size.name);
  std::string spelled;
  for (char c : text)
    spelled += c == '/' ? "floordiv" : c == '%' ? "mod" : std::string(1, c);
  auto map = llvm::dyn_cast_or_null<mlir::AffineMapAttr>(
      mlir::parseAttribute(fmt::format("affine_map<()[{}] -> ({})>",
                                       fmt::join(names, ", "), spelled),
                           &context));
  return map ? evaluate(map.getAffineMap().getResult(0), point) : 0;
}

std::vector<Manifest> Manifest::split() const {
  std::vector<Manifest> functions = {*this};
  functions.front().others.clear();
  llvm::append_range(functions, others);
  return functions;
}

llvm::ArrayRef<SizeInfo> Manifest::callersSizes() const {
  return llvm::ArrayRef(sizes).take_while(
      [](const SizeInfo &size) { return !size.found; });
}

Manifest Manifest::atSizes(llvm::ArrayRef<int64_t> given) const {
  llvm::SmallVector<int64_t> point(given);
  for (const SizeInfo &size : llvm::ArrayRef(sizes).drop_front(point.size()))
    point.push_back(size.high);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Manifest manifest = *this;
  for (std::vector<Port> *ports : {&manifest.inputs, &manifest.outputs})
    for (Port &port : *ports)
      for (auto [dim, size] : llvm::zip(port.dims, port.shape))
        size = evaluateDim(dim, sizes, point, context);
  return manifest;
}

llvm::Expected<std::vector<int64_t>>
Manifest::findSizes(llvm::ArrayRef<Tensor> tensors) const {
  std::map<std::string, int64_t> told;
  for (auto [port, tensor] : llvm::zip(inputs, tensors))
    for (auto [dim, size] : llvm::zip(port.dims, tensor.shape))
      told.try_emplace(dim, size);
  std::vector<int64_t> found;
  for (const SizeInfo &size : callersSizes()) {
    auto known = told.find(size.name);
    int64_t value = known == told.end() ? size.high : known->second;
    if (value < size.low || value > size.high ||
        (value - size.low) % size.step != 0)
      return makeError(fmt::format(
          "the inputs have {} = {}, which is none of {} to {} in steps of {}",
          size.name, value, size.low, size.high, size.step));
    found.push_back(value);
  }
  return found;
}

int64_t Manifest::multiplyAdds() const {
  int64_t sum = 0;
  for (const LayerInfo &layer : layers)
    sum += layer.multiplyAdds * layer.trips;
  return sum;
}

int64_t Manifest::multiplyAddsOfTrip() const {
  int64_t sum = 0;
  for (const LayerInfo &layer : layers)
    sum += layer.hasOpenTrips ? layer.multiplyAdds * layer.trips : 0;
  return sum;
}

std::vector<std::string> Manifest::arenaMacros() const {
  const std::string constants = llvm::StringRef(name).upper();
  std::vector<std::string> macros;
  for (const Memory &memory : memories)
    macros.push_back(constants + "_" + llvm::StringRef(memory.name).upper() +
                     "_ARENA_BYTES");
  if (memories.empty())
    macros.push_back(constants + "_ARENA_BYTES");
  return macros;
}

std::string Manifest::sourceFolder() const {
  llvm::StringRef part = files.empty() ? "" : llvm::StringRef(files.front());
  part = llvm::sys::path::parent_path(part);
  return part.empty() ? folder : folder + "/" + part.str();
}

// Parsers that llvm::json calls for the objects of the file.

/// A JSON value that is a number or a list of numbers.
template <class T> struct OneOrMore {
  std::vector<T> &numbers;
};

template <class T>
static bool fromJSON(const json::Value &value, OneOrMore<T> &read,
                     json::Path path) {
  if (value.getAsArray())
    return fromJSON(value, read.numbers, path);
  read.numbers.resize(1);
  return fromJSON(value, read.numbers.front(), path);
}

static bool fromJSON(const json::Value &value, Port &port, json::Path path) {
  json::ObjectMapper map(value, path);
  OneOrMore<double> scales{port.scales};
  OneOrMore<int64_t> zeroPoints{port.zeroPoints};
  std::string type, storage;
  if (!map || !map.map("name", port.name) || !map.map("field", port.field) ||
      !map.map("dtype", type) || !map.mapOptional("storage", storage) ||
      !map.map("shape", port.shape) || !map.mapOptional("dims", port.dims) ||
      !map.mapOptional("size", port.size) ||
      !map.mapOptional("axis", port.axis) ||
      !map.mapOptional("rounding", port.rounding) ||
      !map.mapOptional("scale", scales) ||
      !map.mapOptional("zero_point", zeroPoints) ||
      !map.mapOptional("arena_offset", port.arenaOffset))
    return false;
  if (!storage.empty())
    port.modelType = type;
  std::optional<Dtype> parsed = parseDtype(storage.empty() ? type : storage);
  if (!parsed) {
    path.field(storage.empty() ? "dtype" : "storage")
        .report("names no element type");
    return false;
  }
  port.dtype = *parsed;
  return true;
}

static bool fromJSON(const json::Value &value, LayerInfo &layer,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", layer.name) &&
         map.map("routine", layer.routine) &&
         map.mapOptional("params", layer.params) &&
         map.mapOptional("dtype", layer.dtype) &&
         map.mapOptional("layout", layer.layout) &&
         map.mapOptional("shape", layer.shape) &&
         map.mapOptional("multiply_adds", layer.multiplyAdds) &&
         map.mapOptional("operations", layer.operations) &&
         map.mapOptional("trips", layer.trips) &&
         map.mapOptional("open_trips", layer.hasOpenTrips) &&
         map.mapOptional("custom_id", layer.customId);
}

static bool fromJSON(const json::Value &value, ArenaPlace &place,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", place.name) &&
         map.map("offset", place.offset) && map.map("bytes", place.bytes) &&
         map.map("first", place.first) && map.map("last", place.last) &&
         map.map("scratch", place.isScratch) &&
         map.mapOptional("memory", place.memory);
}

static bool fromJSON(const json::Value &value, Memory &memory,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", memory.name) &&
         map.map("bytes", memory.bytes) && map.map("size", memory.size) &&
         map.map("slow", memory.slow);
}

static bool fromJSON(const json::Value &value, SizeInfo &size,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", size.name) && map.map("low", size.low) &&
         map.map("high", size.high) && map.map("step", size.step) &&
         map.mapOptional("found", size.found);
}

static bool fromJSON(const json::Value &value, Launches &launches,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("least", launches.least) &&
         map.map("most", launches.most);
}

static bool fromJSON(const json::Value &value, Manifest &manifest,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  std::string optimize;
  bool isSound = map && map.map("name", manifest.name) &&
                 map.map("target", manifest.target) &&
                 map.map("isa", manifest.isa) &&
                 map.map("flags", manifest.flags) &&
                 map.mapOptional("architectures", manifest.architectures) &&
                 map.mapOptional("decisions", manifest.decisions) &&
                 map.mapOptional("io", manifest.io) &&
                 map.mapOptional("launches", manifest.launches) &&
                 map.mapOptional("optimize", optimize) &&
                 map.map("files", manifest.files) &&
                 map.mapOptional("library", manifest.library) &&
                 map.map("inputs", manifest.inputs) &&
                 map.map("outputs", manifest.outputs) &&
                 map.mapOptional("state", manifest.state) &&
                 map.map("arena_bytes", manifest.arenaBytes) &&
                 map.map("lower_bound_bytes", manifest.lowerBound) &&
                 map.map("weight_bytes", manifest.weightBytes) &&
                 map.map("weights", manifest.weights) &&
                 map.map("threads", manifest.threads) &&
                 map.map("layers", manifest.layers) &&
                 map.mapOptional("arena", manifest.arena) &&
                 map.mapOptional("memories", manifest.memories) &&
                 map.mapOptional("weight_memories", manifest.weightMemories) &&
                 map.mapOptional("sizes", manifest.sizes) &&
                 map.mapOptional("module", manifest.module) &&
                 map.mapOptional("others", manifest.others);
  for (Optimize each : {Optimize::size, Optimize::balance, Optimize::speed})
    if (getName(each) == optimize)
      manifest.optimize = each;
  return isSound;
}

std::string Launches::describe() const {
  std::string text = std::to_string(least);
  if (!most)
    return "at least " + text;
  return *most == least ? text : text + " to " + std::to_string(*most);
}

/// Makes all offsets relative to the start of the first memory.
static void joinMemories(Manifest &manifest) {
  std::map<std::string, int64_t> starts;
  int64_t start = 0;
  for (const Memory &memory : manifest.memories) {
    starts[memory.name] = start;
    start += memory.bytes;
  }
  for (ArenaPlace &place : manifest.arena)
    place.offset += starts[place.memory];
}

json::Array portsToJson(const std::vector<Port> &ports) {
  json::Array list;
  for (const Port &port : ports)
    list.push_back(port.toJson());
  return list;
}

llvm::Expected<Manifest> describeModule(mlir::ModuleOp module) {
  llvm::Expected<json::Value> value =
      frontends::parseJson(codegen::describe(module));
  if (!value)
    return value.takeError();
  Manifest manifest;
  json::Path::Root root("manifest");
  if (!fromJSON(*value, manifest, root))
    return root.getError();
  return manifest;
}

llvm::Expected<Manifest> readManifest(const std::string &folder) {
  std::string path = folder + "/manifest.json";
  if (!llvm::sys::fs::exists(path))
    return makeError(folder + " has no manifest.json; give a model or a folder "
                              "that nnc compile wrote");
  llvm::Expected<std::string> text = readTextFile(path);
  if (!text)
    return text.takeError();
  llvm::Expected<json::Value> value = frontends::parseJson(*text);
  if (!value)
    return makeError(path + " is damaged; compile the model again: " +
                     llvm::toString(value.takeError()));
  Manifest manifest;
  json::Path::Root root("manifest");
  if (!fromJSON(*value, manifest, root))
    return makeError(path + ": " + llvm::toString(root.getError()));
  manifest.folder = folder;
  joinMemories(manifest);
  for (Manifest &other : manifest.others) {
    other.folder = folder;
    joinMemories(other);
  }
  return manifest;
}

/// Returns names for a message, but only the first ones if there are many.
static std::string listNames(const std::vector<Port> &ports) {
  constexpr size_t most = 20;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(ports.size(), most); ++i)
    names.push_back(displayText(ports[i].name));
  std::string rest = ports.size() > most
                         ? fmt::format(" and {} more", ports.size() - most)
                         : "";
  return fmt::format("{}{}", fmt::join(names, ", "), rest);
}

llvm::Expected<size_t> findPort(const std::vector<Port> &ports,
                                llvm::StringRef name, llvm::StringRef what) {
  if (name.empty() && ports.size() == 1)
    return 0;
  std::vector<std::string> names;
  for (const Port &port : ports)
    names.push_back(displayText(port.name));
  // One port's field may be another port's name. The model's own names take
  // precedence.
  for (auto member : {&Port::name, &Port::field})
    for (size_t i = 0; i < ports.size(); ++i)
      if (!name.empty() && name == ports[i].*member)
        return i;
  return makeError(
      name.empty()
          ? fmt::format("say which {} with NAME=FILE; there are {}", what.str(),
                        listNames(ports))
          : fmt::format("the model has no {} '{}'; it has {}{}", what.str(),
                        displayText(name), listNames(ports),
                        frontends::didYouMean(name, names)));
}

/// Returns true if a file in any folder may have this name.
static bool isFileName(llvm::StringRef name) {
  return !name.empty() && name.size() <= 200 && name[0] != '.' &&
         llvm::none_of(name, [](char c) {
           return c == '/' || static_cast<unsigned char>(c) < ' ';
         });
}

std::vector<std::string> fileStems(const std::vector<Port> &ports,
                                   llvm::StringRef kind) {
  llvm::StringSet<> names;
  llvm::StringMap<llvm::StringRef> nameOfField;
  for (const Port &port : ports) {
    names.insert(port.name);
    nameOfField[port.field] = port.name;
  }
  std::vector<std::string> stems;
  llvm::StringSet<> taken;
  for (size_t i = 0; i < ports.size(); ++i) {
    const auto &[name, field] = std::tie(ports[i].name, ports[i].field);
    auto other = nameOfField.find(name);
    bool isAmbiguous = (field != name && names.contains(field)) ||
                       (other != nameOfField.end() && other->second != name);
    std::string stem = isAmbiguous ? name : field;
    if (!isFileName(stem) || taken.contains(stem))
      stem = fmt::format("{}_{}", kind.str(), i);
    while (!taken.insert(stem).second)
      stem += '_';
    stems.push_back(std::move(stem));
  }
  return stems;
}

} // namespace nnc::tools
