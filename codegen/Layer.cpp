//===- Layer.cpp - A comment, a shape and a function for each layer -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/description/Description.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The names that the functions of layers use themselves.
static constexpr StringLiteral kOwnNames[] = {
    "V",       "epilogue", "gpu_stream", "nnc", "pool", "routine",
    "scratch", "shape",    "v",          "w",   "x",    "y"};

/// Returns the role of operand `i`, an input or an extra, in a call, such as
/// "bias". Returns an empty string for activations.
static std::string getRole(exec::CallOp call, size_t i) {
  if (auto roles = call->getAttrOfType<ArrayAttr>(nn::kRolesAttr))
    return i < roles.size() ? cast<StringAttr>(roles[i]).str() : "";
  // A program that was written by hand has no roles.
  size_t inputs = call.getInputs().size();
  Value place = i < inputs ? call.getInputs()[i] : call.getExtras()[i - inputs];
  if (!isa<exec::WeightOp>(place.getDefiningOp()))
    return "";
  if (i < inputs)
    return inputs == 2 && i == 1 ? "weights" : "";
  return nn::getRoleInEpilogue(
      call.getExpression().getArgument(i - inputs + 1));
}

/// Returns the name of the pointer to an extra of an epilogue that has no role:
/// the name of the value, or "residual" if it is added to the result.
static std::string getExtraName(exec::CallOp call, size_t extra) {
  BlockArgument argument = call.getExpression().getArgument(extra + 1);
  auto kind = cast<exec::OperandKindAttr>(call.getKinds()[extra]).getValue();
  if (kind == exec::OperandKind::full && argument.hasOneUse() &&
      isa<nn::AddOp>(*argument.user_begin()))
    return "residual";
  std::string name = exec::getPlaceOp(call.getExtras()[extra]).getName().str();
  return llvm::is_contained(kOwnNames, name) ? name + "_value" : name;
}

/// Returns the names of the pointers of a call: inputs, extras, outputs and
/// scratch, in this order.
static SmallVector<std::string> getParameters(exec::CallOp call) {
  SmallVector<std::string> names;
  size_t inputs = call.getInputs().size(), extras = call.getExtras().size();
  for (size_t i = 0; i < inputs + extras; ++i) {
    std::string role = getRole(call, i);
    std::replace(role.begin(), role.end(), ' ', '_');
    names.push_back(role == "weights" ? "w" : role);
  }
  // Inputs without a role are called x, with numbers if there are several.
  auto unnamed = MutableArrayRef(names).take_front(inputs);
  size_t count = llvm::count(unnamed, ""), next = 0;
  for (std::string &name : unnamed)
    if (name.empty())
      name = count == 1 ? "x" : "x" + std::to_string(next++);
  size_t outputs = call.getOutputs().size();
  for (size_t i = 0; i < outputs; ++i)
    names.push_back(outputs == 1 ? "y" : "y" + std::to_string(i));
  llvm::StringSet<> taken;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty())
      names[i] = getExtraName(call, i - inputs);
    std::string name = names[i];
    for (int number = 2; !taken.insert(names[i]).second; ++number)
      names[i] = name + std::to_string(number);
  }
  if (call.getScratch())
    names.push_back("scratch");
  return names;
}

/// Returns the names of the expression's arguments, which are equal to the
/// names of the pointers to them.
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

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string getShapeValue(Attribute value) {
  SmallVector<std::string> items;
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value)) {
    for (int64_t item : list.asArrayRef())
      items.push_back(std::to_string(item));
    return "{" + llvm::join(items, ", ") + "}";
  }
  if (auto rows = dyn_cast<ArrayAttr>(value)) {
    for (Attribute row : rows)
      items.push_back(getShapeValue(row));
    return "{" + llvm::join(items, ", ") + "}";
  }
  if (auto real = dyn_cast<FloatAttr>(value)) {
    // The runtime's shape structs hold real numbers as float.
    Builder builder(value.getContext());
    APFloat number = real.getValue();
    bool lost;
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    return getLiteral(builder.getFloatAttr(builder.getF32Type(), number));
  }
  return std::to_string(cast<IntegerAttr>(value).getInt());
}

/// Returns the array dimensions for the declaration of a list or list of lists.
static std::string getListDims(Attribute value) {
  // C++ has no arrays without elements.
  auto getDim = [](size_t size) {
    return "[" + std::to_string(std::max<size_t>(size, 1)) + "]";
  };
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    return getDim(list.size());
  if (auto rows = dyn_cast<ArrayAttr>(value))
    return getDim(rows.size()) + (rows.empty() ? "" : getListDims(rows[0]));
  return "";
}

/// Returns the declaration of a shape's field that a function takes as an
/// argument.
static std::string declareSize(NamedAttribute field) {
  return field.getName().str() + getListDims(field.getValue());
}

/// Returns the value of a field that depends on sizes. getShapeValue() handles
/// the others.
static std::string getVaryingValue(Attribute field, AffineMap map,
                                   ArrayRef<StringRef> sizes, unsigned &next) {
  if (isa<IntegerAttr>(field))
    return printSize(map.getResult(next++), sizes);
  SmallVector<std::string> items;
  if (auto list = dyn_cast<DenseI64ArrayAttr>(field))
    for (int64_t i = 0; i < list.size(); ++i)
      items.push_back(printSize(map.getResult(next++), sizes));
  else
    for (Attribute row : cast<ArrayAttr>(field))
      items.push_back(getVaryingValue(row, map, sizes, next));
  return "{" + llvm::join(items, ", ") + "}";
}

std::string codegen::printVaryingSizes(exec::CallOp call,
                                       ArrayRef<StringRef> sizes,
                                       StringRef indent) {
  SmallVector<std::string> values;
  for (NamedAttribute field : call.getShape().getFields()) {
    unsigned next = 0;
    if (AffineMap map = call.getVaryingField(field.getName()))
      values.push_back(getVaryingValue(field.getValue(), map, sizes, next));
  }
  return printList(indent.str() + "const " +
                       call.getLike().value_or(call.getName()).str() +
                       "_shape " + call.getName().str() + "_sizes = {",
                   values, "};");
}

/// Prints the values of the shape's fields that a function takes as arguments.
static std::string printSizes(exec::CallOp call) {
  SmallVector<std::string> values;
  for (NamedAttribute field : call.getShape().getFields())
    if (call.isSizedBy(field.getName()))
      values.push_back(getShapeValue(field.getValue()));
  std::string type = "static constexpr " +
                     call.getLike().value_or(call.getName()).str() + "_shape";
  std::string name = call.getName().str() + "_sizes = {";
  bool fits = type.size() + 1 + name.size() < 80;
  return printList(type + (fits ? " " : "\n    ") + name, values, "};");
}

/// Prints the fields of the shape as constants, except those that the function
/// takes as arguments. Consecutive integers share a declaration.
static std::string printShape(exec::CallOp call) {
  std::string text = "struct " + call.getName().str() + "_shape {\n";
  // A kernel cannot read static lists, so that it gets lists as members.
  std::string members;
  bool hasMembers = isCuda(call.getOperation());
  SmallVector<std::string> integers, sizes;
  auto flush = [&]() {
    if (!integers.empty())
      text += printList("  static constexpr int ", integers, ";");
    integers.clear();
  };
  for (NamedAttribute field : call.getShape().getFields()) {
    std::string name = field.getName().str();
    Attribute value = field.getValue();
    if (call.isSizedBy(name)) {
      sizes.push_back(declareSize(field));
      continue;
    }
    if (isa<IntegerAttr>(value)) {
      integers.push_back(name + " = " + getShapeValue(value));
      continue;
    }
    flush();
    std::string type = isa<FloatAttr>(value) ? "float " : "int ";
    std::string list = getListDims(value);
    bool isMember = hasMembers && !list.empty();
    (isMember ? members : text) += printList(
        (isMember ? "  " : "  static constexpr ") + type + name + list + " = ",
        {getShapeValue(value)}, ";");
  }
  flush();
  if (sizes.empty())
    return text + members + "};\n";
  if (call.getVarying())
    return text + printList("  int ", sizes, ";") + members + "};\n";
  // Firmware keeps these sizes in as few bytes as they need.
  StringRef integer = hasMembers ? "  int " : "  int16_t ";
  return text + printList(integer.str(), sizes, ";") + members + "};\n" +
         printSizes(call);
}

//===----------------------------------------------------------------------===//
// Comments and functions
//===----------------------------------------------------------------------===//

std::string codegen::printLayerComment(exec::CallOp call, int number,
                                       int64_t total, StringRef indent) {
  std::string text;
  llvm::raw_string_ostream words(text);
  words << "Layer " << number << ", " << call.getName();
  if (auto name = dyn_cast<NameLoc>(call.getLoc()))
    if (name.getName() != call.getName())
      words << " (" << printModelName(name.getName()) << " in the model)";
  words << ": " << (call.getWhat().empty() ? "layer" : call.getWhat()) << "; ";
  llvm::interleave(
      call.getInputs(), words,
      [&](Value place) {
        words << describe(exec::getPlaceOp(place).getTensor());
      },
      " and ");
  words << " -> "
        << describe(exec::getPlaceOp(call.getOutputs()[0]).getTensor());
  if (int64_t count = call.getMultiplyAdds()) {
    Trips trips = getTrips(call);
    double all = double(count) * double(trips.count);
    words << ", " << printMultiplyAdds(count) << trips.describe() << ", "
          << llvm::format("%.1f", 100.0 * all / double(total))
          << " % of the model's";
  }
  words << ".";
  if (!call.getLaunch().empty())
    words << " Launches " << (call.getVarying() ? "at most " : "")
          << call.getLaunch() << ".";
  if (call.getLike())
    words << (call.getSized() ? " Shares the code of " : " Has the code of ")
          << *call.getLike() << ".";
  if (std::optional<StringRef> device = call.getDevice())
    words << " Runs on " << *device << ".";
  if (call.getSerial() && !isCuda(call.getOperation()))
    words << " Too short to share: one thread computes it.";
  return printComment(text, (indent + "//").str());
}

static std::string printRoutine(exec::CallOp call, StringRef functor) {
  SmallVector<std::string> arguments = {call.getName().str() + "_shape"};
  for (NamedAttribute param : call.getParams().getFields())
    arguments.push_back("/*" + param.getName().str() + "=*/" +
                        getShapeValue(param.getValue()));
  arguments.push_back(functor.str());
  return printList("  using routine = nnc::" + call.getRoutine().str() + "<",
                   arguments, ">;");
}

/// Returns the declarations of the function's parameters, which are called
/// `names`.
static SmallVector<std::string> declareParameters(exec::CallOp call,
                                                  ArrayRef<std::string> names) {
  SmallVector<std::string> parameters = {
      getQueueParameter(call.getOperation())};
  if (call.getSized())
    parameters.push_back("const " + call.getName().str() + "_shape &shape");
  SmallVector<Value> places(call.getInputs());
  llvm::append_range(places, call.getExtras());
  size_t readOnly = places.size();
  llvm::append_range(places, call.getOutputs());
  for (auto [i, place] : llvm::enumerate(places)) {
    Type element = exec::getPlaceOp(place).getTensor().getElementType();
    parameters.push_back(std::string(i < readOnly ? "const " : "") +
                         getCppType(element).str() + " *" + names[i]);
  }
  if (call.getScratch())
    parameters.push_back("uint8_t *" + names.back());
  return parameters;
}

/// Prints the type of the epilogue, which consists of the functor and the kind
/// of each of its operands.
static std::string printEpilogue(exec::CallOp call, StringRef functor) {
  SmallVector<std::string> arguments = {functor.str()};
  for (auto [kind, place] : llvm::zip(call.getKinds(), call.getExtras())) {
    StringRef name =
        stringifyOperandKind(cast<exec::OperandKindAttr>(kind).getValue());
    Type element = exec::getPlaceOp(place).getTensor().getElementType();
    arguments.push_back(
        ("nnc::" + name + "_of<" + getCppType(element) + ">").str());
  }
  return printList("  using epilogue = nnc::fused<", arguments, ">;");
}

/// Prints the scratch memory as an argument of launch(), which divides it among
/// threads. It consists of the pointer `name` and the size.
static std::string printScratch(exec::CallOp call, StringRef name) {
  RankedTensorType type = exec::getPlaceOp(call.getScratch()).getTensor();
  return llvm::formatv("nnc::scratch_memory{{{0}, {1}}", name,
                       type.getNumElements());
}

std::string codegen::printLayer(exec::CallOp call, int number, int64_t total) {
  std::string name = call.getName().str();
  if (call.getLike())
    return call.getSized() ? printLayerComment(call, number, total) +
                                 printShape(call) + "\n"
                           : "";
  SmallVector<std::string> names = getParameters(call);
  size_t inputs = call.getInputs().size();
  size_t readOnly = inputs + call.getExtras().size();
  std::string text = printLayerComment(call, number, total) + printShape(call);
  bool hasFunctor = call.getPointwise() || !call.hasEmptyExpression();
  std::string functor = hasFunctor ? name + "_expression" : "nnc::none";
  if (hasFunctor)
    text += printExpression(call, functor, getArguments(call, names));
  text += printList("static void " + name + "(", declareParameters(call, names),
                    ") {");
  std::string argument = functor + "{}";
  if (hasFunctor && !call.getPointwise()) {
    text += printEpilogue(call, functor);
    functor = "epilogue";
    argument =
        "epilogue{" +
        llvm::join(ArrayRef(names).slice(inputs, readOnly - inputs), ", ") +
        "}";
  }
  SmallVector<std::string> arguments = {getQueueName(call.getOperation()).str(),
                                        call.getSized() ? "shape"
                                                        : name + "_shape{}"};
  llvm::append_range(arguments, ArrayRef(names).take_front(inputs));
  llvm::append_range(arguments, ArrayRef(names).drop_front(readOnly));
  if (call.getScratch())
    arguments.back() = printScratch(call, names.back());
  arguments.push_back(argument);
  auto clearing =
      isCuda(call.getOperation())
          ? findClearingCall(call->getParentOfType<exec::ProgramOp>())
          : exec::CallOp();
  const bool clears =
      clearing && clearing.getLike().value_or(clearing.getName()) == name;
  return text + printRoutine(call, functor) +
         printList(clears ? "  nnc::launch_and_clear<routine>("
                          : "  nnc::launch<routine>(",
                   arguments, ");") +
         "}\n\n";
}
