//===- plan_memory_test.cpp - Plans of random functions -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// nnc-plan-memory reasons about lifetimes, nnc-verify-memory follows bytes: on
// random functions they must agree, and a plan that is spoilt must be found
// out.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Contents.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/VerifyMemory.h"
#include "compiler/pipelines/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

#include <random>

using namespace mlir;
using namespace nnc;

namespace {
/// A random function of layers on 1 x C x 4 x 4 tensors, row-major or in
/// NCHW16c, with views, concats, residuals and channel operands.
class RandomFunction {
public:
  explicit RandomFunction(unsigned seed) : random(seed) {}
  std::string write(int ops);

private:
  struct Value {
    std::string name;
    int channels;
    bool blocked;
  };

  int pick(int n) { return static_cast<int>(random() % n); }
  /// Returns a random value, more often a recent one, as in networks.
  const Value &pickValue() {
    int back = std::min(pick(6), pick(static_cast<int>(values.size())));
    return values[values.size() - 1 - back];
  }
  static std::string type(int channels, bool blocked) {
    return "tensor<1x" + std::to_string(channels) + "x4x4xf32" +
           (blocked ? ", #nn.layout<NCHW16c>>" : ">");
  }
  static std::string type(const Value &value) {
    return type(value.channels, value.blocked);
  }
  std::string define(int channels, bool blocked) {
    values.push_back({"%v" + std::to_string(values.size()), channels, blocked});
    return "  " + values.back().name + " = ";
  }
  std::string layer(const Value &result, const std::vector<Value> &inputs,
                    const std::string &anchor,
                    const std::vector<Value> &extras);
  std::string addOp();

  std::mt19937 random;
  std::vector<Value> values;
};
} // namespace

std::string RandomFunction::layer(const Value &result,
                                  const std::vector<Value> &inputs,
                                  const std::string &anchor,
                                  const std::vector<Value> &extras) {
  auto list = [](const std::vector<Value> &values, auto print) {
    std::string text;
    for (size_t i = 0; i < values.size(); ++i)
      text += (i ? ", " : "") + print(values[i], i);
    return text;
  };
  auto operands = [&](const char *word, const std::vector<Value> &values) {
    if (values.empty())
      return std::string();
    return std::string(" ") + word + "(" +
           list(values, [](const Value &v, size_t) { return v.name; }) + " : " +
           list(values, [](const Value &v, size_t) { return type(v); }) + ")";
  };
  std::string text = define(result.channels, result.blocked) + "nn.layer \"" +
                     values.back().name.substr(1) + "\"" +
                     operands("inputs", inputs) + operands("extras", extras) +
                     " -> " + type(result);
  auto plain = [](const Value &v) { return type(v.channels, false); };
  if (!inputs.empty())
    text += " anchor {\n  ^bb0(" +
            list(inputs,
                 [&](const Value &v, size_t i) {
                   return "%a" + std::to_string(i) + ": " + plain(v);
                 }) +
            "):\n    %r = " + anchor + " : (" +
            list(inputs, [&](const Value &v, size_t) { return plain(v); }) +
            ") -> " + plain(result) + "\n    nn.yield %r : " + plain(result) +
            "\n  }";
  size_t arguments = extras.size() + (inputs.empty() ? 0 : 1);
  text += " epilogue {\n  ^bb0(%e0: f32";
  for (size_t i = 1; i < arguments; ++i)
    text += ", %e" + std::to_string(i) + ": f32";
  text += "):\n";
  std::string last = "%e0";
  for (size_t i = 1; i < arguments; ++i) {
    std::string next = "%s" + std::to_string(i);
    text += "    " + next + " = nn.add " + last + ", %e" + std::to_string(i) +
            " : f32, f32\n";
    last = next;
  }
  if (inputs.empty() && arguments == 1) {
    text += "    %s = nn.relu %e0 : f32\n";
    last = "%s";
  }
  return text + "    nn.yield " + last + " : f32\n  }\n";
}

std::string RandomFunction::addOp() {
  Value x = pickValue();
  std::vector<Value> same;
  for (const Value &v : values)
    if (v.channels == x.channels && v.blocked == x.blocked)
      same.push_back(v);
  Value other = same[pick(static_cast<int>(same.size()))];
  const std::string pool = "nn.max_pool %a0 {kernel = array<i64: 1, 1>, "
                           "strides = array<i64: 1, 1>, dilations = "
                           "array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, "
                           "ceil_mode = false}";
  switch (pick(8)) {
  case 0:
    return layer(x, {}, "", {x});
  case 1:
    return layer(x, {}, "", {x, other});
  case 2:
    return layer(x, {x}, pool, {});
  case 3:
    return layer(x, {x}, pool, {other});
  case 4: { // a part of it, at times of the size of a block
    int channels =
        std::max(1, x.channels >= 32 && pick(2) ? 16 : x.channels / 2);
    int start = x.blocked ? 0 : pick(x.channels - channels + 1);
    return layer({"", channels, x.blocked}, {x},
                 "nn.slice %a0 {starts = array<i64: 0, " +
                     std::to_string(start) + ", 0, 0>, sizes = array<i64: 1, " +
                     std::to_string(channels) +
                     ", 4, 4>, steps = array<i64: 1, 1, 1, 1>}",
                 {});
  }
  case 5: { // joined, at times with itself
    Value third = pick(3) ? other : x;
    return layer({"", x.channels + third.channels, x.blocked}, {x, third},
                 "nn.concat %a0, %a1 {axis = 1 : i64}", {});
  }
  case 6:
    return define(x.channels, !x.blocked) + "nn.adapt " + x.name + " : " +
           type(x) + " -> " + type(x.channels, !x.blocked) + "\n";
  default:
    if (x.blocked)
      return layer(x, {x}, pool, {x});
    std::string text = "  %flat" + std::to_string(values.size()) +
                       " = nn.reshape " + x.name + " : " + type(x) +
                       " -> tensor<" + std::to_string(16 * x.channels) +
                       "xf32>\n";
    std::string flat = "%flat" + std::to_string(values.size());
    return text + define(x.channels, false) + "nn.reshape " + flat +
           " : tensor<" + std::to_string(16 * x.channels) + "xf32> -> " +
           type(x) + "\n";
  }
}

std::string RandomFunction::write(int ops) {
  values = {{"%v0", 16 * (1 + pick(3)), false}, {"%v1", 1 + pick(40), true}};
  std::string text = "func.func @main(%v0: " + type(values[0]) +
                     ", %v1: " + type(values[1]) + ") -> (";
  std::string body;
  while (static_cast<int>(values.size()) < ops)
    body += addOp();
  std::vector<Value> results;
  for (int n = 1 + pick(3); n > 0; --n)
    results.push_back(n == 1 ? values.back() : pickValue());
  std::string names, types;
  for (size_t i = 0; i < results.size(); ++i) {
    names += (i ? ", " : "") + results[i].name;
    types += (i ? ", " : "") + type(results[i]);
  }
  return text + types + ") {\n" + body + "  return " + names + " : " + types +
         "\n}\n";
}

/// Runs `f` without printing diagnostics.
template <class F> static bool quietly(MLIRContext &context, F f) {
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &) {});
  return succeeded(f());
}

TEST_CASE("Plans of random functions hold, and spoilt ones are found out") {
  DialectRegistry registry;
  nnc::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  int64_t arena = 0, bound = 0, spoilt = 0, inPlace = 0, views = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::string text = RandomFunction(seed).write(4 + seed % 40);
    INFO(text);
    auto module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    PassManager manager(&context);
    manager.addPass(createPlanMemory());
    REQUIRE(succeeded(manager.run(*module)));
    auto function = *module->getOps<func::FuncOp>().begin();
    REQUIRE(succeeded(verifyMemory(function)));
    arena += function->getAttrOfType<IntegerAttr>(exec::kArenaAttr).getInt();
    bound +=
        function->getAttrOfType<IntegerAttr>(exec::kLowerBoundAttr).getInt();

    // Counts results in place and views. If a result is moved to the place of
    // one that is still read, the check must find it.
    for (Operation &op : function.getBody().front()) {
      if (op.getNumResults() != 1)
        continue;
      auto place = op.getAttrOfType<exec::PlaceAttr>(exec::kPlaceAttr);
      for (OpOperand &operand : op.getOpOperands())
        inPlace += getMoves(&op).empty() && getPlace(operand.get()) == place;
      views += !getMoves(&op).empty();
      Operation *next = op.getNextNode();
      bool isRead = llvm::any_of(op.getUsers(),
                                 [&](Operation *user) { return user != next; });
      if (place.getPool() == exec::Pool::input || !isRead ||
          next->getNumResults() != 1 || !getMoves(next).empty())
        continue;
      auto good = next->getAttr(exec::kPlaceAttr);
      next->setAttr(exec::kPlaceAttr, place);
      bool isFound = !quietly(context, [&] { return verifyMemory(function); });
      next->setAttr(exec::kPlaceAttr, good);
      INFO("with the place of " << op.getName().getStringRef().str());
      CHECK(isFound);
      ++spoilt;
    }
  }
  // The test must have seen enough of each case.
  CHECK(spoilt > 300);
  CHECK(inPlace > 300);
  CHECK(views > 300);
  INFO("arena " << arena << ", bound " << bound);
  CHECK(arena >= bound);
  CHECK(double(arena) / double(bound) < 1.02);
}
