//===- Declared.h - Types that a model declares for its values ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_DECLARED_H
#define NNC_FRONTENDS_ONNX_DECLARED_H

#include "frontends/onnx/Problems.h"

#include "mlir/IR/BuiltinTypes.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringMap.h"

namespace nnc::onnx {

/// The element types and shapes that a graph declares for its outputs, for
/// values between its nodes (`value_info`) and for inputs with initial values.
///
/// The importer infers all types itself. A declaration that contradicts one is
/// an error: either it or the graph is not what its author meant. Dimensions
/// that are open, named or zero (which some exporters write for unknown ones)
/// contradict nothing. Where the user's --shape bound open dimensions of an
/// input, other shapes may be left over from the sizes that the model was
/// exported with: then they are counted for one warning.
class Declarations {
public:
  Declarations(Problems &problems, bool isRebound)
      : problems(problems), isRebound(isRebound) {}

  /// The declarations of one graph, by name.
  struct Declared {
    const ::onnx::TypeProto *type;
    llvm::StringRef list; ///< where in the graph it stands
  };
  using Scope = llvm::StringMap<Declared>;
  static Scope collect(const ::onnx::GraphProto &graph);

  /// Reports at `loc` where `name`, which is of type `inferred` as `origin`
  /// ("Conv", "the initializer") gives it, has been declared otherwise.
  void check(const Scope &scope, llvm::StringRef name,
             mlir::RankedTensorType inferred, llvm::StringRef origin,
             mlir::Location loc);

  /// Warns of the declarations that the user's shapes have overruled.
  void warnOfStale() const;

private:
  Problems &problems;
  bool isRebound;
  int64_t stale = 0;
  std::string firstStale;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_DECLARED_H
