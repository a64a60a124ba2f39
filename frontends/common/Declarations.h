//===- Declarations.h - Types that a model declares for its values --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_DECLARATIONS_H
#define NNC_FRONTENDS_COMMON_DECLARATIONS_H

#include "frontends/common/Problems.h"
#include "frontends/common/TensorInfo.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

namespace nnc::frontends {

/// The element types and shapes that a model declares for values that the
/// importer computes.
///
/// An importer infers all types itself. A declaration that contradicts one is
/// an error: either the declaration or the graph is not what its author meant.
/// Dimensions that are open, named or zero (which some exporters write for
/// unknown ones) contradict nothing. Where the user's --shape bound open
/// dimensions of an input, other shapes may be left over from the sizes that
/// the model was exported with: then they are counted for one warning.
class Declarations {
public:
  /// `nameOf` gives the framework's name of an element type, for messages.
  Declarations(Problems &problems, bool isRebound,
               std::string (*nameOf)(mlir::Type))
      : problems(problems), isRebound(isRebound), nameOf(nameOf) {}

  /// The declarations of one graph, by name.
  struct Entry {
    TensorInfo info;
    llvm::StringRef list; ///< list of the graph that declares it: "outputs"
    /// Set if the declaration was derived from that of another value, which is
    /// checked instead.
    bool isDerived = false;
  };
  using Scope = llvm::StringMap<Entry>;

  /// Reports at `loc` where `name`, which is of type `inferred` as `origin`
  /// ("Conv", "the initializer") gives it, has been declared otherwise.
  void check(const Scope &scope, llvm::StringRef name,
             mlir::RankedTensorType inferred, llvm::StringRef origin,
             mlir::Location loc);

  /// Returns the shape that has been declared for `name` if it states all sizes
  /// and the user's shapes may not have overruled it.
  std::optional<llvm::SmallVector<int64_t>>
  getShape(const Scope &scope, llvm::StringRef name) const;
  /// Allows values to have other shapes than the declared ones from here on,
  /// because their shapes may depend on data.
  void loosen() { isLoose = true; }

  /// Warns of the declarations that the user's shapes have overruled.
  void warnOfStale() const;

private:
  Problems &problems;
  bool isRebound, isLoose = false;
  std::string (*nameOf)(mlir::Type);
  int64_t stale = 0;
  std::string firstStale;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_DECLARATIONS_H
