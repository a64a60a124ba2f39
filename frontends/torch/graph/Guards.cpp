//===- Guards.cpp - Sizes for which a program was specialised -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A guard is Python: "(1 + (L['x'].size()[1] // 16)) == 21", where L has the
// arguments of forward().
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Guards.h"

using namespace nnc;
using namespace nnc::torch;
using llvm::StringRef;

namespace {
/// A size of an input in the text of a guard.
struct GuardedSize {
  std::string input; ///< its name in the graph
  int64_t axis = 0;
};
} // namespace

/// Takes a size, such as "L['batch']['x'].size()[1]", from the start of `text`.
/// Returns nullopt, and leaves `text` as it is, if that starts otherwise.
static std::optional<GuardedSize> takeSize(StringRef &text) {
  StringRef rest = text;
  if (!rest.consume_front("L["))
    return std::nullopt;
  GuardedSize size;
  do {
    // The graph names an input in a dictionary or a list "batch_x" or "list_0".
    size_t end = rest.find(']');
    if (end == StringRef::npos)
      return std::nullopt;
    if (!size.input.empty())
      size.input += "_";
    size.input += rest.take_front(end).trim("'\"");
    rest = rest.drop_front(end + 1);
  } while (rest.consume_front("["));
  if (!rest.consume_front(".size()[") || rest.consumeInteger(10, size.axis) ||
      !rest.consume_front("]"))
    return std::nullopt;
  text = rest;
  return size;
}

/// Returns the text of a guard in which `spell` replaces the sizes of inputs.
static std::string
replaceSizes(StringRef text,
             llvm::function_ref<std::string(const GuardedSize &)> spell) {
  std::string result;
  while (!text.empty())
    if (auto size = takeSize(text)) {
      result += spell(*size);
    } else {
      result += text.front();
      text = text.drop_front();
    }
  return result;
}

/// Returns what a program states of the sizes of an input; an empty list if it
/// states nothing.
static const json::Array &getSizes(const Program &program, StringRef input) {
  static const json::Array none;
  const json::Object *tensors = program.getGraph().getObject("tensor_values"),
                     *meta = tensors ? tensors->getObject(input) : nullptr;
  return meta ? getList(*meta, "sizes") : none;
}

/// Returns the number in a field `as_int`.
static std::optional<int64_t> readInteger(const json::Object *object) {
  return object ? object->getInteger("as_int") : std::nullopt;
}

/// Returns the size that the example has; nullopt if the program does not
/// state it.
static std::optional<int64_t> getExampleSize(const json::Value &size) {
  const json::Object &object = toObject(size);
  const json::Object *expression = object.getObject("as_expr");
  return expression ? readInteger(expression->getObject("hint"))
                    : readInteger(&object);
}

/// Returns options that give the inputs with open sizes the shapes of the
/// example, or an empty string if the program does not state them.
static std::string spellExample(const Program &program,
                                const Signature &signature) {
  std::string options;
  for (const GraphInput &input : signature.inputs) {
    const json::Array &sizes = getSizes(program, input.name);
    bool isOpen = llvm::any_of(sizes, [](const json::Value &size) {
      return !getSizeExpression(size).empty();
    });
    if (input.kind != GraphInput::Kind::user || !isOpen)
      continue;
    llvm::SmallVector<int64_t> shape;
    for (const json::Value &size : sizes) {
      auto number = getExampleSize(size);
      if (!number)
        return "";
      shape.push_back(*number);
    }
    options += (options.empty() ? "--shape " : " --shape ") + input.name + "=" +
               toString(llvm::ArrayRef<int64_t>(shape));
  }
  return options;
}

std::optional<Guard> nnc::torch::findBrokenGuard(const Program &program,
                                                 const Signature &signature,
                                                 const Symbols &symbols) {
  // Returns the value of a guard: that for the example, or that for `symbols`.
  auto evaluateGuard = [&](StringRef guard, bool isExample) {
    std::string text = replaceSizes(guard, [&](const GuardedSize &size) {
      const json::Array &sizes = getSizes(program, size.input);
      if (size.axis < 0 || size_t(size.axis) >= sizes.size())
        return std::string("unknown");
      const json::Value &stated = sizes[size.axis];
      StringRef expression = getSizeExpression(stated);
      auto value = isExample || expression.empty()
                       ? getExampleSize(stated)
                       : evaluate(expression, symbols);
      return value ? std::to_string(*value) : "unknown";
    });
    return evaluate(text, {});
  };
  for (const json::Value &entry : getList(program.getRoot(), "guards_code")) {
    auto guard = entry.getAsString();
    // Inequalities are bounds, some of which PyTorch assumes without need.
    if (!guard || !guard->contains(" == ") || guard->contains(" or ") ||
        guard->contains(" and ") || evaluateGuard(*guard, false) != 0 ||
        evaluateGuard(*guard, true) != 1)
      continue;
    auto spell = [](const GuardedSize &size) {
      return size.input + ".size(" + std::to_string(size.axis) + ")";
    };
    return Guard{replaceSizes(*guard, spell), spellExample(program, signature)};
  }
  return std::nullopt;
}
