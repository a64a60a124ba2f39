//===- catalogue.cpp - The tables of runtime/ as the compiler sees them ---===//

#include "compiler/routines/Catalogue.h"
#include "dialects/target/Target.h"
#include "runtime/routines/catalogue/expressions.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace nnc;

TEST_CASE("Every line of routines.inc is complete") {
  MLIRContext context;
  const Catalogue &catalogue = Catalogue::get();
  REQUIRE(!catalogue.getRoutines().empty());
  for (const Routine &routine : catalogue.getRoutines()) {
    INFO(routine.name.str());
    REQUIRE(routine.family != nullptr);
    CHECK(routine.name.starts_with(routine.family->name));
    CHECK(catalogue.findRoutine(routine.name) == &routine);
    CHECK(routine.header.starts_with("runtime/routines/"));
    if (routine.family->inputs >= 0)
      CHECK(int(routine.layouts.size()) ==
            routine.family->inputs + routine.family->outputs);
    CHECK(!routine.candidates.empty());
    for (const auto &values : routine.candidates)
      CHECK(values.size() == routine.params.size());
    bool known = false;
    for (target::MachineAttr machine : target::getMachines(&context))
      known |= machine.getHost().hasIsa(routine.isa);
    CHECK(known);
  }
}

static nn::RoutineCall makeConv(MLIRContext &context, int64_t kernel,
                                int64_t channels = 64, int64_t groups = 1,
                                int64_t width = 56) {
  nn::ShapeFields fields(&context);
  fields.add("n", 1).add("c", channels).add("h", 56).add("w", width);
  fields.add("k", channels).add("kh", kernel).add("kw", kernel);
  for (const char *name : {"sh", "sw", "dh", "dw"})
    fields.add(name, 1);
  fields.add("pt", kernel / 2).add("pl", kernel / 2);
  fields.add("oh", 56).add("ow", width).add("groups", groups).add("fill", 0);
  return {"conv2d", fields.get(), {0, 1}};
}

static const Routine *find(StringRef name) {
  const Routine *routine = Catalogue::get().findRoutine(name);
  REQUIRE(routine);
  return routine;
}

static constexpr core_limits kOneACycle = usual_core(/*vector_rate=*/1);

TEST_CASE("A shape decides which routines apply") {
  MLIRContext context;
  context.loadDialect<nn::NnDialect>();
  auto pointwise = readShape(makeConv(context, 1));
  auto three = readShape(makeConv(context, 3));
  REQUIRE(pointwise);
  REQUIRE(three);
  const Routine *routine = find("conv2d_f32_nchw16c_pointwise_avx512");
  CHECK(routine->applies(*pointwise, {14, 2}));
  CHECK(!routine->applies(*three, {14, 2}));
  CHECK(!routine->applies(*pointwise, {14})); // one value is missing
  // One sum at a time waits for the latency of each multiply-add.
  CHECK(routine->getEfficiency(*pointwise, {14, 2}, kOneACycle) >
        routine->getEfficiency(*pointwise, {1, 1}, kOneACycle));
  CHECK(routine->getLayout(0) == "NCHW16c");
  CHECK(routine->getLayout(1) == "KCRS16c16k");
  CHECK(routine->takesElement(Float32Type::get(&context)));
  CHECK(!routine->takesElement(Float64Type::get(&context)));
  CHECK(routine->takesSums(Type()));

  // The integer routine is for layers that ask for sums in i32, and for others
  // the float routine is.
  Type i8 = IntegerType::get(&context, 8), i32 = IntegerType::get(&context, 32);
  const Routine *sums = find("conv2d_i32_portable");
  CHECK(sums->takesElement(i8));
  CHECK(
      sums->takesElement(IntegerType::get(&context, 8, IntegerType::Unsigned)));
  CHECK(!sums->takesElement(Float32Type::get(&context)));
  CHECK(!sums->takesElement(IntegerType::get(&context, 64)));
  CHECK(sums->takesSums(i32));
  CHECK(!sums->takesSums(Type()));
  CHECK(!routine->takesSums(i32));
}

TEST_CASE("Convolutions of microcontrollers take sizes that fit in 16 bits") {
  MLIRContext context;
  context.loadDialect<nn::NnDialect>();
  for (auto [channels, groups, name] :
       {std::tuple(64, 1, "conv2d_i32_nhwc_armdsp"),
        std::tuple(1, 1, "conv2d_i32_nhwc_first_armdsp"),
        std::tuple(64, 64, "conv2d_i32_nhwc_depthwise_armdsp"),
        std::tuple(64, 1, "conv2d_i32_nhwc_helium"),
        std::tuple(64, 64, "conv2d_i32_nhwc_depthwise_helium")})
    for (int64_t width : {32767, 32768}) {
      auto wide = readShape(makeConv(context, 3, channels, groups, width));
      REQUIRE(wide);
      CHECK(find(name)->applies(*wide, {}) == (width == 32767));
    }
}

TEST_CASE("What a routine reaches depends on the core") {
  MLIRContext context;
  context.loadDialect<nn::NnDialect>();
  auto shape = readShape(makeConv(context, 1));
  REQUIRE(shape);
  const Routine *pointwise = find("conv2d_f32_nchw16c_pointwise_avx512");
  const Routine *strassen = find("conv2d_f32_nchw16c_strassen_avx512");
  const core_limits one = kOneACycle;
  core_limits two = one;
  two.vector_rate = 2;
  auto gain = [&](const core_limits &core) {
    return pointwise->getEfficiency(*shape, {14, 2}, core) /
           pointwise->getEfficiency(*shape, {28, 1}, core);
  };
  // 29 loads for 28 multiply-adds are more than two a cycle leave time for.
  CHECK(gain(two) > 1.02 * gain(one));
  // Four sums hide the latency of one multiply-add a cycle, not of two.
  CHECK(pointwise->getEfficiency(*shape, {1, 4}, two) <
        0.6 * pointwise->getEfficiency(*shape, {1, 4}, one));
  // Strassen's method reads more data, which costs more if memory is slower.
  core_limits slow = one;
  slow.last_cost *= 8;
  CHECK(strassen->getEfficiency(*shape, {14, 2}, slow) <
        strassen->getEfficiency(*shape, {14, 2}, one));
}

TEST_CASE("Weights that the last cache does not hold cost more to read again") {
  MLIRContext context;
  context.loadDialect<nn::NnDialect>();
  // Like BERT's second feed-forward product, with so few columns that strips
  // stay short: 4 MB in several strips.
  nn::ShapeFields fields(&context);
  fields.add("batch", 1).add("m", 128).add("n", 192).add("k", 3072);
  fields.add("a_batch_stride", 0).add("b_batch_stride", 0);
  fields.add("transpose_a", 0).add("transpose_b", 0);
  auto shape = readShape({"matmul", fields.get(), {0, 1}});
  REQUIRE(shape);
  const Routine *strassen = find("matmul_f32_nk16n_strassen_avx512");
  core_limits small = kOneACycle;
  small.last_bytes = 2 << 20;
  CHECK(strassen->getEfficiency(*shape, {16, 1}, small) <
        0.9 * strassen->getEfficiency(*shape, {16, 1}, kOneACycle));
}

TEST_CASE("Without a GPU, the efficiency of tiles counts what is padded") {
  auto getShare = [](int size, int channels, int filters) {
    conv2d_shape s{};
    s.n = s.kh = s.kw = s.groups = 1;
    s.h = s.w = s.oh = s.ow = size;
    s.c = channels, s.k = filters;
    return gemm_efficiency(portable_tile, s, /*rows=*/64, /*columns=*/64,
                           /*depth_bytes=*/64, /*stages=*/4, /*slices=*/1);
  };
  CHECK(getShare(8, 32, 64) == 1);
  CHECK(getShare(8, 32, 32) == 0.5);
  CHECK(getShare(8, 16, 64) == 0.5);
  CHECK(getShare(9, 32, 64) == Approx(81 / 128.0));
}

TEST_CASE("Strassen's method costs more where weights crowd the last cache") {
  MLIRContext context;
  context.loadDialect<nn::NnDialect>();
  auto shape = readShape(makeConv(context, 1, 512));
  REQUIRE(shape);
  const Routine *strassen = find("conv2d_f32_nchw16c_strassen2_avx512");
  core_limits roomy = kOneACycle;
  roomy.crowding = 0;
  CHECK(strassen->getEfficiency(*shape, {14, 2}, kOneACycle) <
        strassen->getEfficiency(*shape, {14, 2}, roomy));
}

TEST_CASE("Bytes of code are known of routines for microcontrollers") {
  auto own = find("conv2d_f32_nhwc_fpu")->getCodeBytes({1});
  auto shared = find("conv2d_f32_nhwc_fpu")->getCodeBytes({0});
  REQUIRE(own);
  REQUIRE(shared);
  CHECK(*shared < *own);
  CHECK(*find("matmul_i32_armdsp")->getCodeBytes({}) <
        *find("matmul_i32_armdsp")->getCodeBytes({}, false));
  CHECK(!find("conv2d_f32_nchw8c_pointwise_avx2")->getCodeBytes({6, 2}));
}

TEST_CASE("Every instruction set has a complete table of cost constants") {
  // costs.h checks this when it is compiled; here it is seen to tell.
  CHECK(is_complete(all_costs.avx2));
  routine_costs lacks = all_costs.avx2;
  lacks.peak_share = unset_cost;
  CHECK(!is_complete(lacks));
  CHECK(!is_complete(make_unset_costs()));
  for (const tile_limits &tile : {
#define NNC_TILE(isa, ...) isa##_tile,
#include "runtime/routines/catalogue/isas.inc"
       }) {
    REQUIRE(tile.cost);
    CHECK(is_complete(*tile.cost));
    for (double share : {tile.cost->peak_share, tile.cost->level2_exposed_share,
                         tile.cost->depthwise_wait_share,
                         tile.cost->strassen_matmul_share_slow}) {
      CHECK(share > 0);
      CHECK(share <= 1);
    }
  }
  CHECK(avx512vnni_tile.cost == avx512_tile.cost);
  CHECK(avx2_tile.cost != sse4_tile.cost);
}

TEST_CASE("Cost constants can be tried without a new build") {
  MLIRContext context;
  context.loadDialect<nn::NnDialect>();
  auto shape = readShape(makeConv(context, 1));
  REQUIRE(shape);
  auto getEfficiency = [&](StringRef name) {
    return find(name)->getEfficiency(*shape, {6, 2}, kOneACycle);
  };
  const double avx2 = getEfficiency("conv2d_f32_nchw8c_pointwise_avx2");
  const double sse4 = getEfficiency("conv2d_f32_nchw4c_pointwise_sse4");
  CHECK(tryCosts("// a comment\n\nNNC_COST(avx2, peak_share, 0.5)\n") == "");
  CHECK(getEfficiency("conv2d_f32_nchw8c_pointwise_avx2") < 0.6 * avx2);
  CHECK(getEfficiency("conv2d_f32_nchw4c_pointwise_sse4") == sse4);
  for (StringRef wrong :
       {"NNC_COST(avx2, no_such_constant, 1)", "NNC_COST(avx3, peak_share, 1)",
        "NNC_COST(avx2, peak_share, much)", "NNC_COST(avx2, peak_share)",
        "peak_share = 1"}) {
    INFO(wrong.str());
    CHECK(StringRef(tryCosts(("\n" + wrong).str())).contains("line 2: "));
  }
  // Wrong lines change nothing. The last lines restore the constants for the
  // other tests.
  CHECK(getEfficiency("conv2d_f32_nchw4c_pointwise_sse4") == sse4);
  CHECK(tryCosts("NNC_COST(avx2, peak_share, " +
                 std::to_string(all_costs.avx2.peak_share) + ")") == "");
  CHECK(getEfficiency("conv2d_f32_nchw8c_pointwise_avx2") == Approx(avx2));
}

TEST_CASE("Elementwise routines want whole vectors in a row") {
  MLIRContext context;
  context.loadDialect<nn::NnDialect>();
  // Scaled a channel, in blocks of so many.
  auto getEfficiency = [&](StringRef name, int64_t block) {
    nn::ShapeFields fields(&context);
    fields.add("rank", 3).add("dims", {64, 49, block});
    fields.addRows("strides", {{49 * block, block, 1}, {block, 0, 1}});
    fields.add("planes", 64).add("pixels", 49);
    auto shape = readShape({"elementwise", fields.get(), {0, 1}});
    REQUIRE(shape);
    return find(name)->getEfficiency(*shape, {}, kOneACycle);
  };
  CHECK(getEfficiency("elementwise_avx512", 4) <
        0.3 * getEfficiency("elementwise_avx512", 16));
  CHECK(getEfficiency("elementwise_avx2", 4) <
        0.3 * getEfficiency("elementwise_avx2", 8));
  CHECK(getEfficiency("elementwise_avx2", 8) <
        getEfficiency("elementwise_avx2", 16));
}

TEST_CASE("Taps beside the input take no time") {
  // Three rows of three taps each, padded by one: the first and the last row
  // lack one.
  CHECK(nnc::share_inside(3, 3, 3, 1, 1, 1) == Approx(7.0 / 9));
  CHECK(nnc::share_inside(5, 3, 3, 1, 1, 0) == Approx(1));
  // In steps of two: -1 0 1, 1 2 3, 3 4 5.
  CHECK(nnc::share_inside(5, 3, 3, 2, 1, 1) == Approx(7.0 / 9));
  // Taps two apart: -2 0 2, -1 1 3, 0 2 4, 1 3 5.
  CHECK(nnc::share_inside(4, 4, 3, 1, 2, 2) == Approx(8.0 / 12));
  CHECK(nnc::share_inside(1, 1, 2, 1, 2, 1) == Approx(0));
}

TEST_CASE("Depthwise tiles of few sums go on with the next one") {
  MLIRContext context;
  context.loadDialect<nn::NnDialect>();
  auto shape = readShape(makeConv(context, 3, 64, /*groups=*/64));
  REQUIRE(shape);
  const Routine *depthwise = find("conv2d_f32_nchw8c_depthwise_avx2");
  core_limits two = kOneACycle;
  two.vector_rate = 2;
  // Four sums wait half of the time, for which others make up.
  const double few = depthwise->getEfficiency(*shape, {4}, two);
  const double many = depthwise->getEfficiency(*shape, {8}, two);
  CHECK(few < 0.95 * many);
  CHECK(few > 0.75 * many);
}
