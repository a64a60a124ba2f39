//===- Custom.cpp - Calls of custom functions -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Custom functions are C functions, so a separate C file, <name>_custom.c,
// calls them. It holds the descriptions of operands and results as constants.
// For each operator it defines a function whose name begins with that of the
// program, and which <name>.cpp calls.
//
// A module for GPUs has no such file: <name>.cu includes the functions'
// headers, and one thread of the GPU calls a function with constants of its
// own.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/custom/Custom.h"
#include "codegen/Printer.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// Returns the name of the function that the C file defines for an operator.
static std::string getLinkName(exec::CustomOp custom) {
  auto program = custom->getParentOfType<exec::ProgramOp>();
  return (program.getSymName() + "_custom_" + custom.getName()).str();
}

static std::string printCustomPrototype(exec::CustomOp custom, StringRef head,
                                        StringRef tail) {
  return printList(
      (head + "void " + getLinkName(custom) + "(").str(),
      {"const void *const *inputs", "void *const *outputs", "void *scratch"},
      tail);
}

//===----------------------------------------------------------------------===//
// <name>_custom.c
//===----------------------------------------------------------------------===//

/// The longest string literal that every C90 compiler must accept, in
/// characters.
static constexpr size_t kMaxText = 509;

/// Returns a character as it is written between quotes in C.
static std::string printCharacter(unsigned char c) {
  // Octal escapes have at most three digits, so that a following digit is not
  // part of them. Question marks are escaped because they could begin a
  // trigraph.
  if (llvm::isPrint(c) && c != '"' && c != '\'' && c != '\\' && c != '?')
    return {char(c)};
  return {'\\', char('0' + c / 64), char('0' + c / 8 % 8), char('0' + c % 8)};
}

/// Returns a string literal. Each byte is written so that it does not matter
/// whether char is signed.
static std::string printText(StringRef text) {
  std::string literal = "\"";
  for (unsigned char c : text)
    literal += printCharacter(c);
  return literal + "\"";
}

namespace {
/// Prints the constants of one operator, each line behind `indent`.
class Constants {
public:
  explicit Constants(exec::CustomOp custom, StringRef indent = "")
      : custom(custom), stem("nnc_" + custom.getName().str()), indent(indent) {}

  /// Returns the definitions, of which the last is `nnc_<layer>_operator`.
  std::string print();

private:
  /// Defines an array and returns its name, or NULL if it has no elements.
  std::string addArray(StringRef type, const Twine &name,
                       ArrayRef<std::string> values);
  template <class T>
  std::string addNumbers(StringRef type, const Twine &name, ArrayRef<T> values);
  /// Defines an array of characters for a text that is too long for a string
  /// literal.
  std::string addCharacters(StringRef said, const Twine &name);
  std::string describe(Attribute tensor, const Twine &name);
  std::string addTensors(ArrayAttr tensors, StringRef name);
  std::string describe(NamedAttribute attribute, const Twine &name);

  exec::CustomOp custom;
  std::string stem, indent, text;
};
} // namespace

std::string Constants::addArray(StringRef type, const Twine &name,
                                ArrayRef<std::string> values) {
  if (values.empty())
    return "NULL";
  std::string whole = (stem + "_" + name).str();
  text += printList(
      (indent + "static const " + type + " " + whole + "[] = {").str(), values,
      "};");
  return whole;
}

std::string Constants::addCharacters(StringRef said, const Twine &name) {
  SmallVector<std::string> literals;
  for (unsigned char c : said)
    literals.push_back("'" + printCharacter(c) + "'");
  literals.push_back("0");
  return addArray("char", name, literals);
}

template <class T>
std::string Constants::addNumbers(StringRef type, const Twine &name,
                                  ArrayRef<T> values) {
  SmallVector<std::string> literals;
  for (T value : values) {
    if constexpr (std::is_same_v<T, float>)
      literals.push_back(
          getLiteral(Builder(custom.getContext()).getF32FloatAttr(value)));
    else if (int64_t(value) == std::numeric_limits<int64_t>::min())
      literals.push_back("INT64_MIN");
    else if (int64_t(value) == std::numeric_limits<int32_t>::min())
      literals.push_back("INT32_MIN");
    else if (!llvm::isInt<32>(int64_t(value)))
      literals.push_back("INT64_C(" + std::to_string(value) + ")");
    else
      literals.push_back(std::to_string(value));
  }
  return addArray(type, name, literals);
}

/// Returns the initializer of a struct nnc_tensor_info.
std::string Constants::describe(Attribute tensor, const Twine &name) {
  auto described = dyn_cast<nn::DescribedAttr>(tensor);
  if (!described)
    return "{NNC_TYPE_NONE, 0, NULL, 0, 0, NULL, NULL, -1}";
  RankedTensorType type = described.getType();
  std::string dims = addNumbers("int32_t", name + "_dims", type.getShape());
  std::string scales =
      addNumbers("float", name + "_scales", described.getScales().asArrayRef());
  std::string zeros = addNumbers("int32_t", name + "_zero_points",
                                 described.getZeroPoints().asArrayRef());
  return "{NNC_TYPE_" + StringRef(getTypeName(type.getElementType())).upper() +
         ", " + std::to_string(type.getRank()) + ", " + dims + ", " +
         std::to_string(type.getNumElements()) + ", " +
         std::to_string(described.getScales().size()) + ", " + scales + ", " +
         zeros + ", " + std::to_string(described.getAxis()) + "}";
}

std::string Constants::addTensors(ArrayAttr tensors, StringRef name) {
  SmallVector<std::string> items;
  for (auto [i, tensor] : llvm::enumerate(tensors))
    items.push_back(describe(tensor, name + Twine(i)));
  return addArray("struct nnc_tensor_info", name + "s", items);
}

/// Returns the initializer of a struct nnc_attribute.
std::string Constants::describe(NamedAttribute attribute, const Twine &name) {
  std::string ints = "NULL", floats = "NULL", characters = "NULL";
  size_t count = 1;
  Attribute value = attribute.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    ints = addNumbers<int64_t>("int64_t", name, integer.getInt());
  } else if (auto real = dyn_cast<FloatAttr>(value)) {
    floats = addNumbers<float>("float", name, real.getValue().convertToFloat());
  } else if (auto list = dyn_cast<DenseI64ArrayAttr>(value)) {
    count = list.size();
    ints = addNumbers("int64_t", name, list.asArrayRef());
  } else if (auto list = dyn_cast<DenseF32ArrayAttr>(value)) {
    count = list.size();
    floats = addNumbers("float", name, list.asArrayRef());
  } else {
    StringRef said = cast<StringAttr>(value).getValue();
    count = said.size();
    characters =
        said.size() <= kMaxText ? printText(said) : addCharacters(said, name);
  }
  return "{" + printText(attribute.getName().getValue()) + ", " +
         std::to_string(count) + ", " + ints + ", " + floats + ", " +
         characters + "}";
}

std::string Constants::print() {
  std::string inputs = addTensors(custom.getReads(), "input");
  std::string outputs = addTensors(custom.getWrites(), "output");
  SmallVector<std::string> bytes, items;
  for (int8_t byte : custom.getOptions())
    bytes.push_back(std::to_string(static_cast<uint8_t>(byte)));
  std::string options = addArray("unsigned char", "options", bytes);
  for (auto [i, attribute] : llvm::enumerate(custom.getModelAttributes()))
    items.push_back(describe(attribute, "attribute" + Twine(i)));
  std::string attributes =
      addArray("struct nnc_attribute", "attributes", items);
  int64_t scratch = 0;
  if (Value place = custom.getScratch())
    scratch = exec::getPlaceOp(place).getTensor().getNumElements();
  text += printList(
      indent + "static const struct nnc_operator " + stem + "_operator = {",
      {std::to_string(custom.getReads().size()), inputs,
       std::to_string(custom.getWrites().size()), outputs, options,
       std::to_string(bytes.size()), std::to_string(items.size()), attributes,
       std::to_string(scratch)},
      "};");
  return std::move(text);
}

/// Returns the lines that include the headers of the program's functions.
static std::string printIncludes(exec::ProgramOp program) {
  std::string text;
  llvm::SetVector<StringRef> headers;
  for (auto custom : exec::getSteps<exec::CustomOp>(program))
    headers.insert(custom.getHeader());
  for (StringRef header : headers)
    text += ("#include \"" + header + "\"\n").str();
  return text;
}

std::string codegen::printCustomFile(exec::ProgramOp program) {
  std::string functions;
  for (auto custom : exec::getSteps<exec::CustomOp>(program))
    functions +=
        "\n/* " + printModelName(custom.getOperatorName()) + " */\n" +
        Constants(custom).print() + printCustomPrototype(custom, "", ");") +
        printCustomPrototype(custom, "", ") {") +
        "  nnc_function *const function = " + custom.getFunction().str() +
        ";\n  function(&nnc_" + custom.getName().str() +
        "_operator, inputs, outputs, scratch);\n}\n";
  return fillTemplate(
      "custom.c.in",
      {{"about",
        printComment("The custom operators of " + program.getSymName().str() +
                         ". The headers below declare the "
                         "functions that compute them. Where "
                         "a header does not hold its function, "
                         "link the file that does.",
                     " *")},
       {"includes", printIncludes(program)},
       {"functions", StringRef(functions).rtrim().str()}});
}

//===----------------------------------------------------------------------===//
// <name>.cpp and <name>.cu
//===----------------------------------------------------------------------===//

std::string codegen::printCustomIncludes(exec::ProgramOp program) {
  std::string text = isCuda(program) ? printIncludes(program) : "";
  return text.empty() ? text : "#include \"nnc_custom.h\"\n" + text;
}

std::string codegen::printCustomDeclarations(exec::ProgramOp program) {
  std::string text;
  if (isCuda(program))
    return text;
  for (auto custom : exec::getSteps<exec::CustomOp>(program))
    text += printCustomPrototype(custom, "extern \"C\" ", ");");
  return text.empty() ? text : "\n" + text;
}

/// Prints the functions of an operator in a module for GPUs: a routine of one
/// unit, which calls the custom function on the results' pointers y0, y1 and so
/// on, and the function that launches it.
static std::string printCustomLaunch(exec::CustomOp custom,
                                     ArrayRef<std::string> parameters,
                                     ArrayRef<std::string> inputs,
                                     ArrayRef<std::string> outputs) {
  std::string name = custom.getName().str(), routine = name + "_custom";
  SmallVector<std::string> taken(ArrayRef(parameters).drop_back(2)), results,
      given = {"gpu_stream", routine + "()"};
  for (StringRef input : inputs)
    if (input != "nullptr")
      given.push_back(input.str());
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.push_back("y" + std::to_string(i));
    taken.push_back("void *" + results.back());
    given.push_back(outputs[i]);
  }
  given.push_back("scratch");
  llvm::append_values(taken, "void *scratch", "int", "int");
  taken.insert(taken.begin(), "const " + routine + " &");
  SmallVector<std::string> launched = {"nnc::stream &gpu_stream"};
  llvm::append_range(launched, parameters);
  return "struct " + routine + " {\n" +
         printList("  NNC_FN static int units(", {"const " + routine + " &"},
                   ") { return 1; }") +
         printList("  NNC_FN static void run(", taken, ") {") +
         Constants(custom, "    ").print() +
         printList("    const void *const inputs[] = {", inputs, "};") +
         printList("    void *const outputs[] = {", results, "};") +
         "    nnc_function *const function = " + custom.getFunction().str() +
         ";\n" +
         printList(
             "    function(",
             {"&nnc_" + name + "_operator", "inputs", "outputs", "scratch"},
             ");") +
         "  }\n};\n" + printList("static void " + name + "(", launched, ") {") +
         printList("  nnc::launch<" + routine + ">(", given, ");") + "}\n\n";
}

/// Prints what follows the call of a function that is not nnc's: it may have
/// released the tiles.
static std::string printTiles(exec::CustomOp custom) {
  return custom->getParentOfType<exec::ProgramOp>().getTiles()
             ? "  nnc::amx_scope::configure();\n"
             : "";
}

std::string codegen::printCustomLayer(exec::CustomOp custom, int number) {
  std::string what = "Layer " + std::to_string(number) + ", " +
                     custom.getName().str() + ": " +
                     printModelName(custom.getOperatorName()) + " by " +
                     custom.getFunction().str() + " of " +
                     printModelName(custom.getHeader()) + ".";
  SmallVector<std::string> parameters, inputs, outputs;
  int given = 0;
  for (Attribute tensor : custom.getReads()) {
    if (!isa<nn::DescribedAttr>(tensor)) {
      inputs.push_back("nullptr");
      continue;
    }
    inputs.push_back("x" + std::to_string(given++));
    parameters.push_back("const void *" + inputs.back());
  }
  // C++ has no arrays without elements.
  if (inputs.empty())
    inputs.push_back("nullptr");
  parameters.push_back("void *y");
  SmallVector<int64_t> offsets = nn::getOffsets(custom.getWrites());
  for (int64_t offset : ArrayRef(offsets).drop_back())
    outputs.push_back(offset == 0 ? "y"
                                  : "at<unsigned char>(y, " +
                                        std::to_string(offset) + ")");
  parameters.push_back("void *scratch");
  if (isCuda(custom.getOperation()))
    return printComment(what + " One thread of the GPU computes it.") +
           printCustomLaunch(custom, parameters, inputs, outputs);
  return printComment(what) +
         printList("static void " + custom.getName().str() + "(", parameters,
                   ") {") +
         printList("  const void *const inputs[] = {", inputs, "};") +
         printList("  void *const outputs[] = {", outputs, "};") +
         printList("  " + getLinkName(custom) + "(",
                   {"inputs", "outputs", "scratch"}, ");") +
         printTiles(custom) + "}\n\n";
}

std::string codegen::printCustomCall(exec::CustomOp custom, StringRef indent) {
  SmallVector<std::string> arguments;
  if (isCuda(custom.getOperation()))
    arguments.push_back(getQueueName(custom).str());
  for (Value place : custom.getInputs())
    arguments.push_back(exec::getPlaceOp(place).getName().str());
  arguments.push_back(exec::getPlaceOp(custom.getOutput()).getName().str());
  Value scratch = custom.getScratch();
  arguments.push_back(scratch ? exec::getPlaceOp(scratch).getName().str()
                              : "nullptr");
  return printList((indent + custom.getName() + "(").str(), arguments, ");");
}
