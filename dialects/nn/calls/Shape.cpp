//===- Shape.cpp - #nn.shape ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static bool isField(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getType().isSignlessInteger(64);
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getType().isF64();
  auto rows = dyn_cast<ArrayAttr>(value);
  return isa<DenseI64ArrayAttr>(value) ||
         (rows && llvm::all_of(rows, llvm::IsaPred<DenseI64ArrayAttr>));
}

LogicalResult ShapeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<NamedAttribute> fields) {
  llvm::SmallDenseSet<StringAttr> names;
  for (NamedAttribute field : fields) {
    if (!isField(field.getValue()))
      return emitError() << "'" << field.getName().getValue()
                         << "' is not a number or a list of numbers";
    if (!names.insert(field.getName()).second)
      return emitError() << "'" << field.getName().getValue()
                         << "' is given twice";
  }
  return success();
}

/// Converts lists from how they are parsed, as arrays of integers, to how
/// #nn.shape holds them.
static Attribute packLists(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list)
    return value;
  SmallVector<int64_t> integers;
  SmallVector<Attribute> rows;
  for (Attribute item : list) {
    if (auto integer = dyn_cast<IntegerAttr>(item); integer && isField(integer))
      integers.push_back(integer.getInt());
    rows.push_back(packLists(item));
  }
  if (integers.size() == list.size())
    return DenseI64ArrayAttr::get(value.getContext(), integers);
  return ArrayAttr::get(value.getContext(), rows);
}

Attribute ShapeAttr::parse(AsmParser &parser, Type) {
  SmallVector<NamedAttribute> fields;
  auto parseField = [&]() -> ParseResult {
    std::string name;
    Attribute value;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseAttribute(value))
      return failure();
    fields.push_back(parser.getBuilder().getNamedAttr(name, packLists(value)));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseField))
    return {};
  return parser.getChecked<ShapeAttr>(parser.getContext(), ArrayRef(fields));
}

static void printField(Attribute value, AsmPrinter &printer) {
  auto printList = [&](const auto &list, auto printItem) {
    printer << "[";
    llvm::interleaveComma(list, printer, printItem);
    printer << "]";
  };
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    printList(list.asArrayRef(), [&](int64_t item) { printer << item; });
  else if (auto rows = dyn_cast<ArrayAttr>(value))
    printList(rows, [&](Attribute row) { printField(row, printer); });
  else
    printer.printAttributeWithoutType(value);
}

void ShapeAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getFields(), printer, [&](NamedAttribute field) {
    printer.printKeywordOrString(field.getName());
    printer << " = ";
    printField(field.getValue(), printer);
  });
  printer << ">";
}
