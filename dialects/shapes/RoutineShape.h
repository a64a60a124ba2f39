//===- RoutineShape.h - The shape of a call as its family's struct --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_SHAPES_ROUTINESHAPE_H
#define NNC_DIALECTS_SHAPES_ROUTINESHAPE_H

#include "dialects/nn/Nn.h"
#include "runtime/routines/catalogue/shapes.h"

#include <memory>

namespace nnc {

/// A family of routines: an NNC_FAMILY of a table in runtime/routines/.
struct Family {
  llvm::StringRef name;
  int inputs; ///< tensors read, or -1 for any number
  int outputs;
  /// The axis that an epilogue's `channel` operands vary along (negative:
  /// counted from the last), or nullopt if the family's routines take no
  /// epilogue.
  std::optional<int> channelAxis;
};

llvm::ArrayRef<Family> getFamilies();
/// Returns the family called `name`, or null.
const Family *findFamily(llvm::StringRef name);

/// The shape of one call of a family: an instance of the runtime's struct
/// <family>_shape.
class RoutineShape {
public:
  template <class Struct>
  RoutineShape(const Family &family, std::shared_ptr<Struct> fields)
      : family(&family), type(&kType<Struct>), fields(std::move(fields)) {}

  const Family &getFamily() const { return *family; }
  /// Returns the struct, whose type is that of the family.
  const void *get() const { return fields.get(); }
  /// Returns the struct, or null if the family's struct is not a `Struct`.
  template <class Struct> const Struct *getAs() const {
    return type == &kType<Struct> ? static_cast<const Struct *>(fields.get())
                                  : nullptr;
  }

private:
  /// A variable whose address identifies the type `Struct`.
  template <class Struct> static constexpr char kType = 0;

  const Family *family;
  const void *type;
  std::shared_ptr<const void> fields;
};

/// Reads the shape of a call into its family's struct. Returns nullopt if the
/// family does not exist, or if the attribute does not have exactly the
/// struct's fields, in the struct's order, with values that they can hold;
/// `problem`, unless null, then receives the reason, as a sentence without its
/// full stop.
std::optional<RoutineShape> readShape(const nn::RoutineCall &call,
                                      std::string *problem = nullptr);

} // namespace nnc

#endif // NNC_DIALECTS_SHAPES_ROUTINESHAPE_H
