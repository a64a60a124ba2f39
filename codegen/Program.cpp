//===- Program.cpp - <name>.cpp: a function a layer, and what calls them --===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

//===----------------------------------------------------------------------===//
// One function a layer
//===----------------------------------------------------------------------===//

/// Names of a call's pointers: inputs, extras, outputs and scratch, in order.
static SmallVector<std::string> getParameters(exec::CallOp call) {
  static constexpr StringLiteral kLetters[] = {"a", "b", "c", "d", "e", "f"};
  auto number = [](StringRef stem, size_t i) {
    return (stem + Twine(i)).str();
  };
  SmallVector<std::string> names;
  size_t inputs = call.getInputs().size();
  for (size_t i = 0; i < inputs; ++i)
    names.push_back(inputs <= 2 ? (i == 0 ? "x" : "w") : number("x", i));
  for (size_t i = 0; i < call.getExtras().size(); ++i)
    names.push_back(i < std::size(kLetters) ? kLetters[i].str()
                                            : number("extra", i));
  size_t outputs = call.getOutputs().size();
  for (size_t i = 0; i < outputs; ++i)
    names.push_back(outputs == 1 ? "y" : number("y", i));
  if (call.getScratch())
    names.push_back("scratch");
  return names;
}

/// Names of the expression's arguments, which its pointers share.
static SmallVector<std::string> getArguments(exec::CallOp call,
                                             ArrayRef<std::string> parameters) {
  SmallVector<std::string> names;
  size_t inputs = call.getInputs().size();
  if (call.getPointwise())
    return SmallVector<std::string>(parameters.take_front(inputs));
  names.push_back("v");
  llvm::append_range(names, parameters.slice(inputs, call.getExtras().size()));
  return names;
}

static void printShapeValue(Attribute value, llvm::raw_ostream &stream) {
  if (auto list = dyn_cast<ArrayAttr>(value)) {
    stream << "{";
    llvm::interleaveComma(
        list, stream, [&](Attribute item) { printShapeValue(item, stream); });
    stream << "}";
    return;
  }
  if (auto real = dyn_cast<FloatAttr>(value)) {
    // Shapes hold reals as float.
    Builder builder(value.getContext());
    APFloat number = real.getValue();
    bool lost;
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    stream << getLiteral(builder.getFloatAttr(builder.getF32Type(), number));
    return;
  }
  stream << cast<IntegerAttr>(value).getInt();
}

/// Dimensions of a list of lists, for its declaration.
static std::string getListDims(ArrayAttr list) {
  std::string dims =
      "[" + std::to_string(std::max<size_t>(list.size(), 1)) + "]";
  if (!list.empty())
    if (auto inner = dyn_cast<ArrayAttr>(list[0]))
      dims += getListDims(inner);
  return dims;
}

/// The shape's fields as constants; runs of integers share a declaration.
static void printShape(exec::CallOp call, llvm::raw_ostream &stream) {
  std::string integers;
  auto flush = [&]() {
    if (integers.empty())
      return;
    std::string line = "  static constexpr int ";
    StringRef rest = integers;
    while (!rest.empty()) {
      auto [item, next] = rest.split(", ");
      rest = next;
      std::string piece = item.str() + (rest.empty() ? ";" : ",");
      if (line.size() + piece.size() + 1 > 79) {
        stream << line << "\n";
        line = "     ";
      }
      line += (line.back() == ' ' && line.size() > 6 ? "" : " ") + piece;
    }
    stream << line << "\n";
    integers.clear();
  };
  stream << "struct " << call.getName() << "_shape {\n";
  for (NamedAttribute field : call.getShape().getFields()) {
    if (isa<IntegerAttr>(field.getValue())) {
      integers += integers.empty() ? "" : ", ";
      llvm::raw_string_ostream(integers)
          << field.getName().getValue() << " = "
          << cast<IntegerAttr>(field.getValue()).getInt();
      continue;
    }
    flush();
    bool isReal = isa<FloatAttr>(field.getValue());
    stream << "  static constexpr " << (isReal ? "float " : "int ")
           << field.getName().getValue();
    if (auto list = dyn_cast<ArrayAttr>(field.getValue()))
      stream << getListDims(list);
    stream << " = ";
    printShapeValue(field.getValue(), stream);
    stream << ";\n";
  }
  flush();
  stream << "};\n";
}

static std::string getRoutine(exec::CallOp call, StringRef functor) {
  std::string text =
      "nnc::" + call.getRoutine().str() + "<" + call.getName().str() + "_shape";
  for (int64_t param : call.getParams())
    text += ", " + std::to_string(param);
  return text + ", " + functor.str() + ">";
}

/// `using routine = ...`, a new line where a list of arguments grows too long.
static std::string wrapUsing(StringRef routine) {
  std::string line = ("  using routine = " + routine + ";").str();
  if (line.size() <= 79)
    return line + "\n";
  line = ("      " + routine + ";").str();
  size_t list = routine.find('<') + 7;
  for (size_t from = 0; line.size() - from > 79;) {
    size_t comma = line.rfind(", ", from + 79);
    if (comma == std::string::npos || comma <= from + list)
      break;
    line.replace(comma, 2, ",\n" + std::string(list, ' '));
    from = comma + 2;
  }
  return "  using routine =\n" + line + "\n";
}

/// A comment, wrapped at 79 columns.
static void printComment(StringRef text, StringRef indent,
                         llvm::raw_ostream &stream) {
  std::string line = (indent + "//").str();
  while (!text.empty()) {
    auto [word, rest] = text.split(' ');
    text = rest;
    if (line.size() + word.size() + 1 > 79) {
      stream << line << "\n";
      line = (indent + "//  ").str();
    }
    line += " " + word.str();
  }
  stream << line << "\n";
}

/// What a call computes, on which shapes, and its share of the work.
static void printCallComment(exec::CallOp call, int64_t total, StringRef indent,
                             llvm::raw_ostream &stream) {
  std::string text;
  llvm::raw_string_ostream words(text);
  words << call.getName();
  if (auto name = dyn_cast<NameLoc>(call.getLoc()))
    if (name.getName() != call.getName())
      words << " (" << name.getName().getValue() << " in the model)";
  words << ": " << (call.getWhat().empty() ? "layer" : call.getWhat()) << " ";
  llvm::interleave(
      call.getInputs(), words,
      [&](Value place) {
        words << describe(exec::getPlaceOp(place).getTensor());
      },
      " and ");
  words << " -> "
        << describe(exec::getPlaceOp(call.getOutputs()[0]).getTensor());
  if (int64_t count = call.getMultiplyAdds())
    words << ", " << llvm::format("%.2f", double(count) / 1e6)
          << " million multiply-adds, "
          << llvm::format("%.1f", 100.0 * double(count) / double(total))
          << " % of the model's";
  words << ".";
  if (call.getLike())
    words << " Has the code of " << *call.getLike() << ".";
  printComment(text, indent, stream);
}

static void printFunction(exec::CallOp call, int64_t total,
                          llvm::raw_ostream &stream) {
  StringRef name = call.getName();
  SmallVector<std::string> parameters = getParameters(call);
  printCallComment(call, total, "", stream);
  printShape(call, stream);
  bool hasFunctor = call.getPointwise() || !call.hasEmptyExpression();
  std::string functor = "nnc::none";
  if (hasFunctor) {
    functor = name.str() + "_expression";
    stream << printExpression(call, functor, getArguments(call, parameters));
  }
  // Pointers of the function, in the order of inputs, extras, outputs, scratch.
  stream << "static void " << name << "(nnc::pool pool";
  SmallVector<Value> places(call.getInputs());
  llvm::append_range(places, call.getExtras());
  size_t readOnly = places.size();
  llvm::append_range(places, call.getOutputs());
  for (auto [i, place] : llvm::enumerate(places)) {
    Type element = exec::getPlaceOp(place).getTensor().getElementType();
    stream << ",\n    " << std::string(name.size() + 9, ' ')
           << (i < readOnly ? "const " : "") << getCppType(element) << " *"
           << parameters[i];
  }
  if (call.getScratch())
    stream << ",\n    " << std::string(name.size() + 9, ' ')
           << "unsigned char *scratch";
  stream << ") {\n";
  std::string argument = functor + "{}";
  if (hasFunctor && !call.getPointwise()) {
    std::string kinds, pointers;
    for (auto [i, kind] : llvm::enumerate(call.getKinds())) {
      kinds += ", nnc::" + stringifyOperandKind(
                               cast<exec::OperandKindAttr>(kind).getValue())
                               .str();
      pointers += (i ? ", " : "") + parameters[call.getInputs().size() + i];
    }
    stream << "  using epilogue = nnc::fused<" << functor << kinds << ">;\n";
    functor = "epilogue";
    argument = "epilogue{" + pointers + "}";
  }
  stream << wrapUsing(getRoutine(call, functor))
         << "  nnc::launch<routine>(pool, " << name << "_shape{}";
  for (size_t i = 0; i < call.getInputs().size(); ++i)
    stream << ", " << parameters[i];
  for (size_t i = readOnly; i < parameters.size(); ++i)
    stream << ", " << parameters[i];
  stream << ", " << argument << ");\n}\n\n";
}

//===----------------------------------------------------------------------===//
// run()
//===----------------------------------------------------------------------===//

/// How `place` is declared in run().
static void printPlace(exec::PlaceOpInterface place,
                       llvm::raw_ostream &stream) {
  RankedTensorType type = place.getTensor();
  StringRef element = getCppType(type.getElementType());
  StringRef constant = place.isWritable() ? "" : "const ";
  std::string value;
  llvm::raw_string_ostream words(value);
  std::string cast = ("at<" + element + ">(").str();
  if (auto weight = dyn_cast<exec::WeightOp>(place.getOperation()))
    words << cast << "weights, " << weight.getOffset() << ")";
  else if (auto buffer = dyn_cast<exec::BufferOp>(place.getOperation()))
    words << cast << "arena, place::" << buffer.getName() << ")";
  else if (auto view = dyn_cast<exec::ViewOp>(place.getOperation()))
    words << cast << exec::getPlaceOp(view.getBase()).getName() << ", "
          << view.getOffset() << ")";
  else {
    bool isInput = isa<exec::InputOp>(place.getOperation());
    std::string field =
        (isInput ? "inputs." : "outputs.") + place.getName().str();
    // A bool is a byte in C's header.
    if (type.getElementType().isInteger(1))
      words << cast << field << ", 0)";
    else
      words << field;
  }
  stream << "  " << constant << element << " *const " << place.getName()
         << " = " << value << ";";
  if (!isa<exec::BufferOp>(place.getOperation()))
    stream << " // " << describe(type);
  stream << "\n";
}

/// The layers that write or read a place or a view of it.
static void findLayers(Value place, const DenseMap<Operation *, int> &layers,
                       std::pair<int, int> &range) {
  for (Operation *user : place.getUsers()) {
    if (auto view = dyn_cast<exec::ViewOp>(user)) {
      findLayers(view.getPlace(), layers, range);
      continue;
    }
    int layer = layers.lookup(user);
    range = {std::min(range.first, layer), std::max(range.second, layer)};
  }
}

/// The map of the arena: a constant for each buffer.
static std::string printArena(exec::ProgramOp program) {
  DenseMap<Operation *, int> layers;
  for (Operation &op : program.getBody().front())
    if (isa<exec::CallOp, exec::CopyOp>(op))
      layers.insert({&op, layers.size()});
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto buffer : program.getBody().getOps<exec::BufferOp>()) {
    std::pair<int, int> range = {layers.size(), 0};
    findLayers(buffer.getPlace(), layers, range);
    stream << "constexpr std::size_t " << buffer.getName() << " = "
           << buffer.getOffset() << "; // " << describe(buffer.getTensor());
    if (range.first <= range.second)
      stream << ", layers " << range.first << " to " << range.second;
    stream << "\n";
  }
  if (text.empty())
    return "";
  return "// Where values lie in the arena, in bytes. What is never needed at "
         "once shares\n// memory. Layers are numbered in the order in which "
         "they run.\nnamespace place {\n" +
         text + "} // namespace place\n";
}

static std::string printBody(exec::ProgramOp program, int64_t total) {
  std::string body;
  llvm::raw_string_ostream stream(body);
  bool usesWeights = false, usesArena = false;
  int layer = 0;
  // What a layer is the first to use is declared under the layer's comment.
  std::string declared;
  llvm::raw_string_ostream declarations(declared);
  auto flush = [&]() { stream << std::exchange(declared, ""); };
  for (Operation &op : program.getBody().front()) {
    usesWeights |= isa<exec::WeightOp>(op);
    usesArena |= isa<exec::BufferOp>(op);
    if (auto place = dyn_cast<exec::PlaceOpInterface>(op)) {
      bool isCallers = isa<exec::InputOp, exec::OutputOp>(op);
      printPlace(place, isCallers ? stream : declarations);
      continue;
    }
    stream << "\n";
    if (auto copy = dyn_cast<exec::CopyOp>(op)) {
      auto target = exec::getPlaceOp(copy.getTarget());
      auto source = exec::getPlaceOp(copy.getSource());
      int64_t bytes = nn::getPhysicalBytes(target.getTensor());
      flush();
      stream << "  std::memcpy(" << target.getName() << ", " << source.getName()
             << ", " << bytes << ");\n";
      stream << "  NNC_LAYER_DONE(" << layer++ << ", " << target.getName()
             << ", " << bytes << ");\n";
      continue;
    }
    auto call = cast<exec::CallOp>(op);
    if (call.getLike())
      printCallComment(call, total, "  ", stream);
    flush();
    std::string line =
        "  " + call.getLike().value_or(call.getName()).str() + "(pool";
    SmallVector<Value> places(call.getInputs());
    llvm::append_range(places, call.getExtras());
    llvm::append_range(places, call.getOutputs());
    std::string arguments;
    auto addArgument = [&](const std::string &argument) {
      line += ",";
      if (line.size() - line.rfind('\n') + argument.size() + 3 > 79)
        line += "\n     ";
      line += " " + argument;
    };
    for (Value place : places)
      addArgument(exec::getPlaceOp(place).getName().str());
    if (Value scratch = call.getScratch()) {
      auto place = exec::getPlaceOp(scratch);
      addArgument("at<unsigned char>(" + place.getName().str() + ", 0)");
    }
    auto output = exec::getPlaceOp(call.getOutputs()[0]);
    stream << line << ");\n  NNC_LAYER_DONE(" << layer++ << ", "
           << output.getName() << ", "
           << nn::getPhysicalBytes(output.getTensor()) << ");\n";
  }
  flush();
  if (!usesWeights)
    stream << "  static_cast<void>(weights);\n";
  if (!usesArena)
    stream << "  static_cast<void>(arena);\n";
  return StringRef(stream.str()).rtrim().str();
}

/// `&& inputs->x` for each field.
static std::string printChecks(exec::ProgramOp program,
                               const EmitOptions &options) {
  std::string text;
  for (Operation &op : program.getBody().front())
    if (isa<exec::InputOp, exec::OutputOp>(op))
      text += " && " +
              (isa<exec::InputOp>(op) ? std::string("inputs->") : "outputs->") +
              cast<exec::PlaceOpInterface>(op).getName().str();
  if (options.weights == "file")
    text += " && inputs->weights";
  return text;
}

static std::string printParallel(const std::string &name,
                                 const std::string &weights) {
  std::string pad(name.size() + 29, ' ');
  return "\nextern \"C\" int " + name + "_run_parallel(const struct " + name +
         "_inputs *inputs,\n" + pad + "const struct " + name +
         "_outputs *outputs,\n" + pad +
         "void *arena, const struct nnc_pool *pool) {\n"
         "  if (!" +
         name +
         "::accepts(inputs, outputs, arena))\n    return 1;\n"
         "  return " +
         name + "::run(pool, *inputs, *outputs, arena, " + weights + ");\n}";
}

std::string codegen::printProgram(exec::ProgramOp program,
                                  const EmitOptions &options) {
  int64_t total = 0, layers = 0;
  bool copies = !program.getBody().getOps<exec::CopyOp>().empty();
  for (auto call : program.getBody().getOps<exec::CallOp>()) {
    total += call.getMultiplyAdds();
    ++layers;
  }
  std::string functions;
  llvm::raw_string_ostream stream(functions);
  for (auto call : program.getBody().getOps<exec::CallOp>())
    if (!call.getLike())
      printFunction(call, std::max<int64_t>(total, 1), stream);
  Values values;
  std::string name = program.getSymName().str();
  values["name"] = name;
  values["NAME"] = StringRef(name).upper();
  values["origin"] =
      program.getModel().empty() ? "" : " from " + program.getModel().str();
  values["target"] = program.getTarget().str();
  values["layers"] = std::to_string(layers);
  values["macs"] = std::to_string(total / 1000000);
  values["flags"] = llvm::join(getFlags(program), " ");
  values["functions"] = StringRef(stream.str()).rtrim('\n').str() + "\n";
  values["arena_map"] = printArena(program);
  values["body"] = printBody(program, std::max<int64_t>(total, 1));
  values["checks"] = printChecks(program, options);
  values["copies"] = copies ? "#include <cstring>\n" : "";
  std::string weights = options.weights == "file"   ? "inputs->weights"
                        : program.getWeights() == 0 ? "nullptr"
                                                    : name + "_weights";
  bool linked = options.weights != "file" && program.getWeights() != 0;
  values["weights"] =
      linked ? "\nextern \"C\" const unsigned char " + name + "_weights[];\n"
             : "";
  values["weights_pointer"] = weights;
  values["parallel"] = options.threads ? printParallel(name, weights) : "";
  return StringRef(fillTemplate("model.cpp.in", values)).rtrim().str() + "\n";
}
