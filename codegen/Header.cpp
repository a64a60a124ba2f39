//===- Header.cpp - <name>.h ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// Returns the dimensions of a place, for instance "[batch][4]".
static std::string printPlaceDims(exec::PlaceOpInterface place) {
  AffineMap map = exec::getVaryingDims(place);
  if (!map)
    return getDims(place.getTensor().getShape());
  // The caller learns a size that is found in a run from the output that tells
  // it.
  auto program = place->getParentOfType<exec::ProgramOp>();
  SmallVector<StringRef> names = getSizeNames(program);
  for (auto output : program.getBody().getOps<exec::OutputOp>())
    if (output.getSize())
      *llvm::find(names, *output.getSize()) = output.getName();
  std::string text;
  for (AffineExpr dim : map.getResults())
    text += "[" + printSize(dim, names) + "]";
  return text;
}

/// Prints the field for a size in the struct of inputs.
static std::string printSizeField(exec::SizeAttr size) {
  std::string text = "  int32_t " + size.getName().str() + "; /* " +
                     std::to_string(size.getLow()) + " to " +
                     std::to_string(size.getHigh());
  if (size.getStep() > 1)
    text += " in steps of " + std::to_string(size.getStep());
  return text + " */\n";
}

/// Returns the expression for a size after a run, or an empty string if the
/// caller does not learn the size.
static std::string getSizeField(exec::ProgramOp program, exec::SizeAttr size) {
  if (!size.getFound())
    return "inputs->" + size.getName().str();
  for (auto output : program.getBody().getOps<exec::OutputOp>())
    if (output.getSize() == size.getName())
      return "*outputs->" + output.getName().str();
  return "";
}

/// Prints functions that return the dimensions of outputs that depend on sizes.
static std::string printOutputDims(exec::ProgramOp program) {
  std::string text, name = program.getSymName().str();
  SmallVector<std::string> fields;
  for (auto size : program.getSizes().getAsRange<exec::SizeAttr>())
    fields.push_back(getSizeField(program, size));
  SmallVector<StringRef> access(fields.begin(), fields.end());
  for (auto output : program.getBody().getOps<exec::OutputOp>()) {
    AffineMap map = exec::getVaryingDims(output);
    if (!map)
      continue;
    std::string field = output.getName().str();
    std::string body;
    for (auto [axis, dim] : llvm::enumerate(map.getResults()))
      body += "  dims[" + std::to_string(axis) +
              "] = " + printSize(dim, access) + ";\n";
    bool isFound = StringRef(body).contains("*outputs->");
    // The CPU cannot read what a run on a GPU has found.
    if (isFound && isCuda(program) && !program.getHostPorts())
      continue;
    SmallVector<std::string> parameters = {"const struct " + name +
                                           "_inputs *inputs"};
    if (isFound)
      parameters.push_back("const struct " + name + "_outputs *outputs");
    parameters.push_back("int32_t dims[" + std::to_string(map.getNumResults()) +
                         "]");
    text += isFound
                ? "\n/* Tells the dimensions of " + field +
                      (isCuda(program) ? " after a run whose stream has done "
                                         "its work. */\n"
                                       : " after a run. */\n")
                : "\n/* Tells the dimensions of " + field +
                      " for the sizes in `inputs`; its pointers may be "
                      "null. */\n";
    text += printList("NNC_STATIC_INLINE void " + name + "_" + field + "_dims(",
                      parameters, ") {");
    if (!StringRef(body).contains("inputs->"))
      text += "  (void)inputs;\n";
    text += body + "}\n";
  }
  return text;
}

/// Prints a field of a struct with the given declaration, for instance `const
/// float *x; /* x.0: [1][4] */`. The comment precedes the field if the line
/// would be too long.
static std::string printField(exec::PlaceOpInterface place,
                              std::optional<StringRef> modelName,
                              const Twine &declaration) {
  std::string field = ("  " + declaration + ";").str();
  std::string comment = "/* ";
  if (modelName && *modelName != place.getName())
    comment += printModelName(*modelName) + ": ";
  comment += printPlaceDims(place);
  if (place->hasAttr(nn::kModelTypeAttr))
    comment += " of " + getModelType(place);
  comment += " */";
  if (field.size() + 1 + comment.size() > kColumns)
    return "  " + comment + "\n" + field + "\n";
  return field + " " + comment + "\n";
}

/// Prints a field of a struct of pointers.
static std::string printPointer(exec::PlaceOpInterface place,
                                std::optional<StringRef> modelName,
                                StringRef qualifier) {
  StringRef element = getCType(place.getTensor().getElementType());
  return printField(place, modelName,
                    qualifier + element + " *" + place.getName());
}

/// Prints a field of the struct of state: an array of all elements of a tensor.
/// On a GPU it ends at a multiple of the chunks in which kernels access it, so
/// that the next field is aligned to them.
static std::string printArray(exec::StateOp state) {
  RankedTensorType type = state.getTensor();
  int64_t elements = std::max<int64_t>(type.getNumElements(), 1);
  if (isCuda(state.getOperation()))
    elements = llvm::alignTo(elements,
                             16 / nn::getElementBytes(type.getElementType()));
  return printField(state, state.getModelName(),
                    getCType(type.getElementType()) + " " + state.getName() +
                        "[" + Twine(elements) + "]");
}

/// Prints the macro for a number of bytes. `stem` is the part of its name
/// before `_ARENA_BYTES`.
static std::string printArenaSize(const Twine &stem, int64_t bytes) {
  return ((bytes ? "" : "/* None is needed, but C has no empty arrays. */\n") +
          ("#define " + stem) + "_ARENA_BYTES ((size_t)" +
          Twine(std::max<int64_t>(bytes, 1)) + ")\n")
      .str();
}

static std::string printMemorySizes(exec::ProgramOp program) {
  std::string text, name = program.getSymName().upper();
  for (auto memory : program.getMemories().getAsRange<exec::MemoryAttr>())
    text += printArenaSize(name + "_" + memory.getName().upper(),
                           memory.getBytes());
  return text;
}

/// Prints the struct with the parts of the arena, if there are several
/// memories.
static std::string printArenas(exec::ProgramOp program) {
  if (!hasMemories(program))
    return "";
  std::string name = program.getSymName().str(), fields;
  for (auto memory : program.getMemories().getAsRange<exec::MemoryAttr>())
    fields += ("  void *" + memory.getName() + "; /* " +
               program.getSymName().upper() + "_" + memory.getName().upper() +
               "_ARENA_BYTES" + (memory.getSlow() ? ", slow" : "") + " */\n")
                  .str();
  return fillTemplate("arenas.h.in", {{"name", name}, {"fields", fields}});
}

/// Prints the declaration of <name>_load_weights of a CUDA program.
static std::string declareLoadWeights(exec::ProgramOp program,
                                      const EmitOptions &options) {
  std::string name = program.getSymName().upper();
  std::string text = printComment(
      "Copies the weights into the GPU's memory, once, for all runs: " + name +
          "_WEIGHT_BYTES bytes at `device_weights`, aligned as the arena is. "
          "`weights` are in the CPU's memory: " +
          (embedsWeights(program, options) ? "null for those in the program"
                                           : "the `bytes` bytes of the file") +
          ". `stream` is a cudaStream_t or null; a run in another stream has "
          "to wait for the copy.",
      " *");
  return "\n/*" + text.substr(2, text.size() - 3) + " */\n" +
         printLoadPrototype(program, options, "", ");");
}

/// Prints the part of the header that belongs to one program.
static std::string printHeader(exec::ProgramOp program,
                               const EmitOptions &options) {
  Values values;
  std::string name = program.getSymName().str();
  values["name"] = name;
  values["NAME"] = StringRef(name).upper();
  values["extension"] = getSourceExtension(program).str();
  values["target"] = program.getTarget().str();
  values["arena"] = std::to_string(program.getArena());
  values["arena_sizes"] =
      hasMemories(program)
          ? printMemorySizes(program)
          : printArenaSize(program.getSymName().upper(), program.getArena());
  values["arenas"] = printArenas(program);
  values["aligned"] = hasMemories(program) ? "each arena" : "the arena";
  values["align"] = std::to_string(program.getAlign());
  values["weights"] = std::to_string(getWeightsBytes(program));
  values["weight_sizes"] = "";
  for (const WeightsPiece &piece : listWeights(program))
    if (!piece.memory.empty())
      values["weight_sizes"] += "#define " + piece.macro + " ((size_t)" +
                                std::to_string(piece.bytes) + ")\n";
  std::string &inputs = values["inputs"], &outputs = values["outputs"];
  bool inArena = hasPortsInArena(program);
  for (auto input : program.getBody().getOps<exec::InputOp>())
    inputs +=
        printPointer(input, input.getModelName(), inArena ? "" : "const ");
  for (auto output : program.getBody().getOps<exec::OutputOp>())
    outputs += printPointer(output, output.getModelName(), "");
  if (takesWeights(program, options))
    inputs += isCuda(program)
                  ? "  const void *weights; /* where " + name +
                        "_load_weights has loaded them */\n"
                  : "  const void *weights; /* " +
                        exec::getModuleName(program) +
                        "_weights.bin, aligned as the arena is */\n";
  for (auto size : program.getSizes().getAsRange<exec::SizeAttr>())
    if (!size.getFound())
      inputs += printSizeField(size);
  // C does not allow empty structs.
  if (inputs.empty())
    inputs = "  const void *none; /* the model reads nothing */\n";
  for (StringRef key : {"state", "place"})
    values[key] = "";
  values["status_codes"] = printStatusCodes(program);
  values["written"] = isCuda(program)
                          ? "With 0 the work is in the\n * stream, whose "
                            "errors CUDA tells later."
                          : "Other than for 0, nothing was written.";
  values["copy"] = isCuda(program)
                       ? "\n * It lies in the GPU's memory: prepare one in the "
                         "CPU's and copy it there."
                       : "";
  values["dims"] = printOutputDims(program);
  values["quantized"] = printQuantizedPorts(program);
  bool hasFunctions = !values["dims"].empty() || !values["quantized"].empty();
  values["inline"] = hasFunctions ? fillTemplate("inline.h.in", {}) : "";
  if (inArena)
    values["place"] =
        fillTemplate("place.h.in",
                     {{"place", printList("void " + name + "_place(",
                                          getPlaceParameters(program), ");")}});
  if (hasState(program)) {
    Values more = values;
    for (auto state : program.getBody().getOps<exec::StateOp>())
      more["fields"] += printArray(state);
    values["state"] = fillTemplate("state.h.in", more);
  }
  auto features = program.getFeatures().getAsValueRange<StringAttr>();
  values["cpu"] =
      features.empty()
          ? ""
          : " *\n" + printComment("Needs a CPU with " +
                                      llvm::join(features, ", ") + ".",
                                  " *");
  values["includes"] =
      takesPool(program, options) ? "#include \"nnc_runtime.h\"\n\n" : "";
  values["run"] = printPrototype(program, /*parallel=*/false, "", ");");
  if (takesPool(program, options))
    values["parallel"] =
        "\n/* The same on a pool of threads; a null pool is one thread. */\n" +
        printPrototype(program, /*parallel=*/true, "", ");");
  else
    values["parallel"] = "";
  values["load_weights"] = isCuda(program) && program.getWeights()
                               ? declareLoadWeights(program, options)
                               : "";
  values["memory"] =
      isCuda(program)
          ? printComment(
                std::string(
                    program.getHostPorts()
                        ? "The pointers in the structs of inputs and outputs "
                          "are to memory of the CPU, which should be pinned, "
                          "as cudaHostAlloc() returns it; the others are to "
                          "memory of the GPU. A run adds its work, and the "
                          "copies of inputs before and of outputs after it, to "
                          "a stream of CUDA"
                        : "All pointers are to memory of the GPU, but for "
                          "those to the structs of inputs and outputs. A run "
                          "adds its work to a stream of CUDA") +
                    (listDecisions(program).empty()
                         ? " and does not wait for it: it can be captured into "
                           "a graph."
                         : ", and waits for it where data decide which layers "
                           "run, or how many elements there are: it cannot be "
                           "captured into a graph.") +
                    (program.getHostPorts()
                         ? " Inputs may be changed, and outputs be read, once "
                           "the stream has done the run's work. A captured "
                           "graph needs pinned memory, from and to which it "
                           "copies in each replay."
                         : ""),
                " *")
          : "";
  values["check_weights"] = "";
  if (program.getWeights())
    values["check_weights"] =
        "\n/* Whether the weights are whole and this code's: reads all of "
        "them, for once\n * after they were stored or loaded. " +
        std::string(isCuda(program)
                        ? "They are in the CPU's memory. */\nint "
                        : "Each run looks at their first bytes. */\nint ") +
        name + "_check_weights(" +
        (embedsWeights(program, options)
             ? "void"
             : "const void *weights, size_t bytes") +
        ");\n";
  return fillTemplate("model.h.in", values);
}

std::string codegen::printHeader(ArrayRef<exec::ProgramOp> programs,
                                 const EmitOptions &options) {
  std::string text;
  for (exec::ProgramOp program : programs)
    text += (text.empty() ? "" : "\n") + ::printHeader(program, options);
  return text;
}
