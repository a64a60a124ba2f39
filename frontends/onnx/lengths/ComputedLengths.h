//===- ComputedLengths.h - Numbers computed from lengths --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A model may compute with the number of things that its data hold: how many
// rows it keeps at most, or by how many it pads them. An import knows these
// numbers, as it is for one value of each length, and folds the computation.
// Sums and products of lengths are found again by comparing several imports
// (compiler/sizes). Every other result, such as a minimum or a quotient,
// becomes a length of its own, which a run computes from the others. Numbers
// with which a node computes data, and no shape, are computed in the run, too.
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

/// A node whose results are known numbers that follow from lengths which data
/// decide.
struct LengthMaker {
  ::onnx::NodeProto node;
  /// The number of the length that the first result has become.
  std::optional<unsigned> size;
};

/// Reads what nodes compute from lengths.
class LengthReader {
public:
  /// A model is imported several times, with other values of its lengths.
  /// `bases` lists the numbers of the lengths that the first import read, in
  /// order, so that a later import reads the same ones; null in the first
  /// import, which recognises a length by its value.
  LengthReader(const GraphImporter &importer, const Scope &scope,
               const std::vector<unsigned> *bases = nullptr);

  /// Returns how an element of a value of the graph, a scalar or a list of
  /// known whole numbers, is computed from lengths; null if an operator on the
  /// way is not understood.
  LengthExpression read(llvm::StringRef name, int64_t index = 0);
  /// Returns the same for an element of the first result of a node.
  LengthExpression readNode(const ::onnx::NodeProto &node, int64_t index = 0);

  /// The lengths that were recognised by their value, in order.
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
  /// Returns whether a number is not 0.
  LengthExpression isNonZero(const LengthExpression &x);

  const GraphImporter &importer;
  const Lengths &lengths;
  const Scope &scope;
  const std::vector<unsigned> *given;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_LENGTHS_COMPUTEDLENGTHS_H
