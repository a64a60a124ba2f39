//===- candidates_test.cpp - What is tried for a layer --------------------===//

#include "compiler/pipelines/Pipeline.h"
#include "compiler/routines/Candidates.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace mlir;
using namespace nnc;

/// A 1 x 1 convolution of images with S x S pixels.
static const char *const kFunction = R"(
func.func @f(%x: tensor<1x64xSxSxf32>) -> tensor<1x128xSxSxf32> {
  %w = nn.constant dense<1.0> : tensor<128x64x1x1xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x64xSxSxf32>, tensor<128x64x1x1xf32>) -> tensor<1x128xSxSxf32>
  anchor {
  ^bb0(%a: tensor<1x64xSxSxf32>, %b: tensor<128x64x1x1xf32>):
    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64xSxSxf32>, tensor<128x64x1x1xf32>) -> tensor<1x128xSxSxf32>
    nn.yield %c : tensor<1x128xSxSxf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<1x128xSxSxf32>
}
)";

/// Visits all candidates for the convolution of images with size x size pixels
/// on the machine that `makeMachine` creates in the context.
static void
forEachTried(int size,
             function_ref<target::MachineAttr(MLIRContext &)> makeMachine,
             function_ref<void(Candidate)> visit) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string text = kFunction;
  for (size_t at; (at = text.find('S')) != std::string::npos;)
    text.replace(at, 1, std::to_string(size));
  auto module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  target::MachineAttr machine = makeMachine(context);
  REQUIRE(machine);
  auto function = *module->getOps<func::FuncOp>().begin();
  forEachCandidate(*function.getOps<nn::LayerOp>().begin(),
                   makeCostModel(function, machine, nullptr), {}, visit);
}

/// Returns the columns of the tiles of all candidates of the pointwise routine
/// for AVX2, by the tiles' numbers of channel blocks.
static std::map<int64_t, SmallVector<int64_t>> getTiles(int size) {
  std::map<int64_t, SmallVector<int64_t>> tiles;
  forEachTried(
      size,
      [](MLIRContext &context) {
        return target::getMachine("x86-64-v3", UnknownLoc::get(&context))
            .value_or(target::MachineAttr());
      },
      [&](const Candidate &candidate) {
        ArrayRef<int64_t> params = candidate.params;
        if (candidate.routine->name == "conv2d_f32_nchw8c_pointwise_avx2")
          tiles[params[1]].push_back(params[0]);
      });
  return tiles;
}

TEST_CASE("Tiles that make the same code are tried once") {
  // OC 2 goes with several COLS.
  auto many = getTiles(28), one = getTiles(1);
  REQUIRE(many[2].size() > 1);
  CHECK(one.size() == many.size());
  for (const auto &[blocks, columns] : one) {
    INFO(blocks);
    CHECK(columns.size() == 1);
  }
  // Two by two pixels: those of four columns and more are alike.
  auto four = getTiles(2);
  for (const auto &[blocks, columns] : four) {
    INFO(blocks);
    CHECK(llvm::count_if(columns, [](int64_t c) { return c >= 4; }) <= 1);
    CHECK(llvm::count_if(columns, [](int64_t c) { return c < 4; }) ==
          llvm::count_if(many[blocks], [](int64_t c) { return c < 4; }));
  }
}

TEST_CASE("Estimates for a machine without caches count memory alone") {
  auto makeMachine = [](StringRef caches) {
    std::string text = (R"(#target.machine<name = "small", triple = "",
        chip = "", devices = [#target.device<name = "host",
        isas = ["avx2", "portable"], features = [],
        spaces = [#target.space<name = "ram", align = 64>], compiler = "c++",
        flags = "", cost = #target.core<vector_bytes = 32,
        vector_registers = 16, )" +
                        caches + R"(, memory_mb_s = 1000, multiply_adds = 16,
        mhz = 1000>>], emulator = "">)")
                           .str();
    return [text](MLIRContext &context) {
      return dyn_cast_if_present<target::MachineAttr>(
          parseAttribute(text, &context));
    };
  };
  auto getSeconds = [&](StringRef caches) {
    std::map<std::string, double> seconds;
    forEachTried(14, makeMachine(caches), [&](const Candidate &candidate) {
      INFO(candidate.routine->name.str());
      CHECK(std::isfinite(candidate.estimate));
      std::string call = candidate.routine->name.str();
      for (int64_t param : candidate.params)
        call += " " + std::to_string(param);
      seconds[call] = candidate.estimate;
    });
    return seconds;
  };
  auto none = getSeconds("caches = [], bandwidth = []");
  auto some = getSeconds("caches = [32768, 4194304], bandwidth = [64, 32]");
  // 32 KiB of weights and 150 KB of activations.
  const double memory = (128 * 64 * 4 + 14 * 14 * (64 + 128) * 4) / 1000e6;
  REQUIRE(none.size() > 10);
  for (auto [call, seconds] : none) {
    INFO(call);
    CHECK(seconds > memory * 0.8); // the longer one alone: activations
    auto near = some.find(call);
    REQUIRE(near != some.end());
    CHECK(seconds > near->second);
  }
}
