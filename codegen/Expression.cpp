//===- Expression.cpp - Functors of elementwise expressions ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;
using exec::ExpressionForm;

/// Returns true for types that expressions compute as float. 16-bit floats are
/// loaded as floats and rounded when they are stored.
static bool isFloat(Type type) { return nn::isComputedAsFloat(type); }

namespace {
/// Prints one expression. A value with a single use is printed inside the
/// expression that uses it. Other values, and those that would make a line too
/// long, become local variables.
class ExpressionPrinter {
public:
  ExpressionPrinter(Block &block, ExpressionForm form,
                    ArrayRef<std::string> names)
      : block(block), form(form) {
    for (auto [argument, name] : llvm::zip(block.getArguments(), names))
      texts[argument] = name;
  }

  std::string print() {
    std::string body;
    llvm::raw_string_ostream stream(body);
    for (Operation &op : block.without_terminator()) {
      Value result = op.getResult(0);
      std::string text = printOp(op);
      if (text.size() > kLongest) {
        for (Value operand : op.getOperands())
          if (StringRef(texts[operand]).contains('('))
            texts[operand] = addLocal(texts[operand], stream);
        text = printOp(op);
      }
      bool isConstant = op.hasTrait<OpTrait::ConstantLike>();
      texts[result] =
          result.hasOneUse() || isConstant ? text : addLocal(text, stream);
    }
    stream << "    return "
           << texts.lookup(block.getTerminator()->getOperand(0)) << ";\n";
    return body;
  }

  /// Returns the declarations of the tables that the printed text reads.
  StringRef getTables() const { return declarations; }

private:
  /// The length of the longest expression that fits on a line.
  static constexpr size_t kLongest =
      kColumns - std::char_traits<char>::length("    const auto t10 = ;");

  std::string addLocal(const std::string &text, llvm::raw_ostream &stream) {
    std::string local = "t" + std::to_string(++locals);
    stream << "    const auto " << local << " = " << text << ";\n";
    return local;
  }

  /// Declares the table of an op if that has not happened yet, and returns its
  /// name.
  std::string addTable(nn::LookupOp op) {
    auto [entry, isNew] =
        tables.try_emplace(op, "table" + std::to_string(tables.size() + 1));
    if (isNew) {
      SmallVector<std::string> items;
      bool isSigned =
          !getElementTypeOrSelf(op.getY().getType()).isUnsignedInteger();
      for (const APInt &item : op.getTable())
        items.push_back(llvm::toString(item, /*Radix=*/10, isSigned));
      declarations += printList("  static constexpr " +
                                    getCppType(op.getY().getType()).str() +
                                    " " + entry->second + "[256] = {",
                                items, "};");
    }
    return entry->second;
  }

  /// Returns a constant as a literal of the type with which operations compute.
  std::string printConstant(TypedAttr value) {
    std::string literal = getLiteral(value);
    if (form == ExpressionForm::floats && isa<FloatAttr>(value))
      return "V(" + literal + ")";
    if (isa<IntegerAttr>(value) && !value.getType().isInteger(1))
      literal = (getCppType(value.getType()) + "(" + literal + ")").str();
    if (form == ExpressionForm::mixed && !value.getType().isInteger(1))
      return "nnc::same<V>(" + literal + ")";
    return literal;
  }

  /// Returns the cast `op` as a float. The float is rounded to 16 bits if
  /// anything but the final store reads it; the store rounds by itself.
  std::string printFloatCast(Operation &op) {
    Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
    std::string text = texts.lookup(op.getOperand(0));
    if (!isFloat(from))
      text = "nnc::cast<float>(" + text + ")";
    bool isStored = llvm::all_of(op.getUsers(), [](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>();
    });
    if (to.isF32() || to == from || isStored)
      return text;
    return "nnc::round_to<" + getCppType(to).str() + ">(" + text + ")";
  }

  /// Returns the template arguments of the function that requantizes.
  static std::string printParameters(nn::RequantizeOp op) {
    if (!op.saturates())
      return "";
    auto [low, high] = op.getRange();
    return llvm::formatv("<{0}, {1}, {2}, {3}>",
                         getCppType(op.getY().getType()), op.getZeroPoint(),
                         low, high);
  }

  std::string printOp(Operation &op) {
    Attribute constant;
    if (matchPattern(&op, m_Constant(&constant)))
      return printConstant(cast<TypedAttr>(constant));
    auto elementwise = cast<nn::ElementwiseOpInterface>(op);
    if (auto lookup = dyn_cast<nn::LookupOp>(op))
      return "nnc::lookup(" + addTable(lookup) + ", " +
             texts.lookup(lookup.getX()) + ")";
    if (isa<nn::CastOp>(op) && isFloat(op.getResult(0).getType()))
      return printFloatCast(op);
    std::string text = "nnc::" + elementwise.getFunction().str();
    if (auto requantize = dyn_cast<nn::RequantizeOp>(op))
      text += printParameters(requantize);
    Type type = op.getResult(0).getType();
    // The result types of other functions follow from their operands.
    if (elementwise.getFunction() == "cast")
      text += "<" + getCppType(type).str() + ">";
    text += "(";
    ListSeparator separator;
    llvm::raw_string_ostream stream(text);
    for (Value operand : op.getOperands())
      stream << separator << texts.lookup(operand);
    Type scalar = op.getOperand(0).getType();
    for (double value : elementwise.getScalars()) {
      Builder builder(op.getContext());
      TypedAttr attribute =
          isa<FloatType>(scalar)
              ? TypedAttr(builder.getFloatAttr(scalar, value))
              : TypedAttr(builder.getIntegerAttr(scalar, int64_t(value)));
      stream << separator << printConstant(attribute);
    }
    stream << ")";
    return text;
  }

  using ListSeparator = llvm::ListSeparator;
  Block &block;
  ExpressionForm form;
  llvm::DenseMap<Value, std::string> texts;
  /// The names of the tables, and their declarations.
  llvm::DenseMap<Operation *, std::string> tables;
  std::string declarations;
  int locals = 0;
};
} // namespace

/// Returns the line with which a functor declares that it requantizes sums
/// (runtime/epilogue.h).
static std::string printRequantization(nn::RequantizeOp op) {
  auto [low, high] = op.getRange();
  return llvm::formatv(
      "  using requantization = nnc::requantization_of<{0}, {1}, {2}>;\n",
      op.getZeroPoint(), low, high);
}

std::string codegen::printExpression(exec::CallOp call, StringRef name,
                                     ArrayRef<std::string> arguments) {
  Block &block = call.getExpression().front();
  ExpressionForm form = call.getForm();
  Type result = block.getTerminator()->getOperand(0).getType();
  SmallVector<std::string> parameters;
  for (auto [argument, word] : llvm::zip(block.getArguments(), arguments)) {
    // An unused argument has no name, because compilers would warn about it.
    Type element = argument.getType();
    std::string type = isFloat(element) ? "float" : getCppType(element).str();
    if (form == ExpressionForm::floats ||
        (form == ExpressionForm::mixed && parameters.empty()))
      type = "V";
    else if (form == ExpressionForm::mixed)
      type = "nnc::like<V, " + type + ">";
    parameters.push_back(argument.use_empty() ? type : type + " " + word);
  }
  std::string head = getCppType(result).str() + " ";
  if (form != ExpressionForm::scalars)
    head = form == ExpressionForm::floats ? "template <class V> V "
                                          : "template <class V> auto ";
  ExpressionPrinter printer(block, form, arguments);
  std::string body = printer.print();
  std::string tables = printer.getTables().str();
  if (isCuda(call.getOperation())) {
    // A kernel can only read tables that are local to the function.
    body = std::exchange(tables, "") + body;
    StringRef start = "template <class V> ";
    head.insert(StringRef(head).starts_with(start) ? start.size() : 0,
                "NNC_FN ");
  }
  std::string kind = call.getRequantizes()
                         ? printRequantization(call.findRequantization())
                         : std::string();
  return "struct " + name.str() + " {\n" + kind + tables +
         printList("  " + head + "operator()(", parameters, ") const {") +
         body + "  }\n};\n";
}
