//===- ComputedLengths.h - Numbers computed from lengths --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A model may compute with data-dependent sizes (lengths), for example to limit
// or to pad the number of rows. An import is made for one value of each length,
// so that these numbers are constants and the computation is folded. Sums and
// products of lengths are recovered by comparing several imports
// (compiler/sizes). Every other result, such as a minimum or a quotient,
// becomes a new length, which the network computes from the others at run time.
// Numbers that a node uses as data instead of shapes are computed at run time,
// too.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_LENGTHS_COMPUTEDLENGTHS_H
#define NNC_FRONTENDS_ONNX_LENGTHS_COMPUTEDLENGTHS_H

#include "frontends/common/Lengths.h"

#include "onnx/onnx_pb.h"

namespace nnc::onnx {
using namespace frontends;

class GraphImporter;
struct Scope;

/// A node whose results were folded to constants although they depend on
/// data-dependent sizes.
struct LengthMaker {
  ::onnx::NodeProto node;
  /// The number of the data-dependent size that was registered for the first
  /// result, if any.
  std::optional<unsigned> size;
};

/// Derives expressions of data-dependent sizes from the nodes that compute a
/// value.
class LengthReader {
public:
  /// A model is imported several times, with different values of its
  /// data-dependent sizes. The first import (`bases` is null) recognizes a size
  /// by its value, and lists the numbers of the sizes that it recognized; later
  /// imports read the same ones from `bases`, in order.
  LengthReader(const GraphImporter &importer, const Scope &scope,
               const std::vector<unsigned> *bases = nullptr);

  /// Returns element `index` of the value `name`, a scalar or a list of
  /// integers that was folded to a constant, as an expression of data-dependent
  /// sizes; null if an operator that computes it is not understood.
  LengthExpression read(llvm::StringRef name, int64_t index = 0);
  /// Returns the same for an element of the first result of a node.
  LengthExpression readNode(const ::onnx::NodeProto &node, int64_t index = 0);

  /// The numbers of the sizes that were recognized by their values, in order.
  std::vector<unsigned> bases;

private:
  using Kind = LengthExpression::Kind;

  LengthExpression readMade(const LengthMaker &maker, int64_t index,
                            int64_t number, uint64_t sources);
  LengthExpression readBase(int64_t number, uint64_t sources);
  LengthExpression readShape(const ::onnx::NodeProto &node, int64_t index,
                             int64_t number, uint64_t sources);
  LengthExpression readSlice(const ::onnx::NodeProto &node, int64_t index);
  LengthExpression readSize(const ::onnx::NodeProto &node);
  LengthExpression readCast(const ::onnx::NodeProto &node, int64_t index);
  LengthExpression readUnary(llvm::StringRef op, const LengthExpression &x);
  LengthExpression readBinary(llvm::StringRef op, const LengthExpression &a,
                              const LengthExpression &b);
  LengthExpression readList(const ::onnx::NodeProto &node);
  /// Returns an expression that is 1 if `x` is not 0, else 0.
  LengthExpression isNonZero(const LengthExpression &x);

  const GraphImporter &importer;
  const Lengths &lengths;
  const Scope &scope;
  const std::vector<unsigned> *given;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_LENGTHS_COMPUTEDLENGTHS_H
