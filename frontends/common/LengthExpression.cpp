//===- LengthExpression.cpp - Computations of lengths ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/LengthExpression.h"

#include "frontends/common/LayerBuilder.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

using Kind = LengthExpression::Kind;

Value frontends::buildLength(const LengthExpression &number,
                             LayerBuilder &builder, ArrayRef<Value> lengths) {
  Type integer = builder.getBuilder().getI64Type();
  auto of = [&](size_t i) {
    return buildLength(number.getOperands()[i], builder, lengths);
  };
  auto create = [&](StringRef op) {
    return builder.createElementwise(op, {of(0), of(1)});
  };
  switch (number.getKind()) {
  case Kind::constant:
    return builder.reshape(
        builder.constant(ArrayRef<int64_t>{number.getNumber()}), {});
  case Kind::length:
    return builder.castTo(lengths[number.getNumber()], integer);
  case Kind::add:
    return create("add");
  case Kind::sub:
    return create("sub");
  case Kind::mul:
    return create("mul");
  case Kind::div:
    return create("div");
  case Kind::mod:
    return create("mod");
  case Kind::min:
    return create("min");
  case Kind::max:
    return create("max");
  case Kind::less:
    return builder.castTo(create("less"), integer);
  case Kind::equal:
    return builder.castTo(create("equal"), integer);
  case Kind::select: {
    Value isFirst = builder.castTo(of(0), builder.getBuilder().getI1Type());
    return builder.createElementwise("select", {isFirst, of(1), of(2)});
  }
  }
  llvm_unreachable("no expression of lengths");
}
