//===- shapes_test.cpp - Reading #nn.shape into the family's struct -------===//

#include "dialects/shapes/RoutineShape.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace nnc;

namespace {
struct Fixture {
  Fixture() { context.loadDialect<nn::NnDialect>(); }

  nn::ShapeFields fields() { return nn::ShapeFields(&context); }
  /// Returns the reason why a call of `family` with these fields is rejected.
  static std::string refuse(StringRef family, const nn::ShapeFields &fields) {
    std::string problem;
    CHECK(!readShape({family.str(), fields.get(), {0}}, &problem));
    return problem;
  }
  /// Returns the fields of a copy of 2 x 3 elements from rows that begin ten
  /// elements apart.
  nn::ShapeFields copy() {
    nn::ShapeFields fields(&context);
    fields.add("rank", 2).add("dims", {2, 3});
    fields.add("src_strides", {10, 1}).add("dst_strides", {3, 1});
    fields.add("src_offset", 5).add("dst_offset", 7);
    return fields;
  }

  MLIRContext context;
};
} // namespace

TEST_CASE_METHOD(Fixture, "A shape is read into the family's struct") {
  auto shape = readShape({"copy", copy().get(), {0}});
  REQUIRE(shape);
  CHECK(shape->getFamily().name == "copy");
  CHECK(!shape->getAs<reduce_shape>());
  const auto *copied = shape->getAs<copy_shape>();
  REQUIRE(copied);
  CHECK(copied == shape->get());
  CHECK(copied->rank == 2);
  CHECK(copied->dims[0] == 2);
  CHECK(copied->dims[1] == 3);
  CHECK(copied->dims[2] == 0); // beyond the rank
  CHECK(copied->src_strides[0] == 10);
  CHECK(copied->dst_strides[0] == 3);
  CHECK(copied->src_offset == 5);
  CHECK(copied->dst_offset == 7);
}

TEST_CASE_METHOD(Fixture, "Lists of lists and reals are read") {
  nn::ShapeFields two = fields();
  two.add("rank", 2).add("dims", {4, 8}).addRows("strides", {{8, 1}, {0, -1}});
  two.add("planes", 1).add("pixels", 1);
  auto shape = readShape({"elementwise", two.get(), {0, 1}});
  REQUIRE(shape);
  const auto *read = shape->getAs<elementwise_shape>();
  REQUIRE(read);
  CHECK(read->strides[0][0] == 8);
  CHECK(read->strides[1][0] == 0);
  CHECK(read->strides[1][1] == -1);
  CHECK(read->strides[2][0] == 0);

  nn::ShapeFields norm = fields();
  norm.add("outer", 2).add("size", 3).addReal("epsilon", 0.1);
  auto real = readShape({"layer_norm", norm.get(), {0, 1, 2}});
  REQUIRE(real);
  CHECK(real->getAs<layer_norm_shape>()->epsilon == 0.1f);
}

TEST_CASE_METHOD(Fixture, "Other fields than the struct's are refused") {
  CHECK(refuse("fold", copy()) == "there is no family 'fold'");
  const std::string call = "the shape of a call of 'reduce_sum' ";
  CHECK(refuse("reduce_sum", fields().add("outer", 1).add("inner", 2)) ==
        call + "lacks the field 'size'");
  CHECK(refuse("reduce_sum", fields().add("outer", 1).add("size", 2)) ==
        call + "lacks the field 'inner'");
  CHECK(refuse("reduce_sum",
               fields().add("size", 1).add("outer", 2).add("inner", 3)) ==
        call + "has another field in the place of 'outer'");
  nn::ShapeFields more = fields();
  more.add("outer", 1).add("size", 2).add("inner", 3).add("log", 4);
  CHECK(refuse("reduce_sum", more) ==
        call + "has a field 'log', which the family's struct does not have");
  // Of several problems the first is reported.
  CHECK(refuse("reduce_sum", copy()) == call + "lacks the field 'outer'");
}

TEST_CASE_METHOD(Fixture, "Values that a field cannot hold are refused") {
  auto reduce = [&](int64_t outer) {
    return fields().add("outer", outer).add("size", 1).add("inner", 1);
  };
  const int64_t most = std::numeric_limits<int>::max();
  CHECK(readShape({"reduce_sum", reduce(most).get(), {0}}));
  CHECK(readShape({"reduce_sum", reduce(-most - 1).get(), {0}}));
  for (int64_t wrong : {most + 1, -most - 2, int64_t(1) << 40})
    CHECK(refuse("reduce_sum", reduce(wrong)) ==
          "the shape of a call of 'reduce_sum' has a field 'outer' of " +
              std::to_string(wrong) + ", which does not fit 32 bits");

  const std::string call = "the shape of a call of 'copy' has a field ";
  auto copyOf = [&](ArrayRef<int64_t> dims) {
    nn::ShapeFields copy = fields();
    copy.add("rank", dims.size()).add("dims", dims);
    copy.add("src_strides", dims).add("dst_strides", dims);
    return copy.add("src_offset", 0).add("dst_offset", 0);
  };
  CHECK(readShape({"copy", copyOf(SmallVector<int64_t>(8, 2)).get(), {0}}));
  CHECK(refuse("copy", copyOf(SmallVector<int64_t>(9, 2))) ==
        call + "'dims' of 9 values; there is room for 8");
  CHECK(refuse("copy", copyOf({2, int64_t(1) << 40})) ==
        call + "'dims' of 1099511627776, which does not fit 32 bits");

  auto strides = [&](ArrayRef<SmallVector<int64_t>> rows) {
    nn::ShapeFields shape = fields();
    shape.add("rank", 1)
        .add("dims", ArrayRef<int64_t>{2})
        .addRows("strides", rows);
    return shape.add("planes", 1).add("pixels", 1);
  };
  SmallVector<SmallVector<int64_t>> rows(9, {1});
  CHECK(refuse("elementwise", strides(rows)) ==
        "the shape of a call of 'elementwise' has a field 'strides' of 9 "
        "values; there is room for 8");
  rows = {SmallVector<int64_t>(9, 1)};
  CHECK(refuse("elementwise", strides(rows)) ==
        "the shape of a call of 'elementwise' has a field 'strides' of 9 "
        "values; there is room for 8");
}

TEST_CASE_METHOD(Fixture, "Values of another kind are refused") {
  CHECK(refuse("reduce_sum", fields().addReal("outer", 1)) ==
        "the shape of a call of 'reduce_sum' has a field 'outer' that is not "
        "an integer");
  CHECK(refuse("reduce_sum", fields().add("outer", ArrayRef<int64_t>{1})) ==
        "the shape of a call of 'reduce_sum' has a field 'outer' that is not "
        "an integer");
  CHECK(refuse("copy", fields().add("rank", 1).add("dims", 1)) ==
        "the shape of a call of 'copy' has a field 'dims' that is not a list "
        "of integers");
  CHECK(refuse("elementwise", fields()
                                  .add("rank", 1)
                                  .add("dims", ArrayRef<int64_t>{1})
                                  .add("strides", ArrayRef<int64_t>{1})) ==
        "the shape of a call of 'elementwise' has a field 'strides' that is "
        "not a list of lists");
  CHECK(refuse("layer_norm",
               fields().add("outer", 1).add("size", 1).add("epsilon", 1)) ==
        "the shape of a call of 'layer_norm' has a field 'epsilon' that is not "
        "a real number");
}
