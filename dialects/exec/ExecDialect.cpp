//===- ExecDialect.cpp - Registration, assembly, generated code of exec ---===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Exec.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::exec;

#include "dialects/exec/ExecDialect.cpp.inc"
#include "dialects/exec/ExecEnums.cpp.inc"
#include "dialects/exec/ExecInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/exec/ExecAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/exec/ExecTypes.cpp.inc"

//===----------------------------------------------------------------------===//
// Custom directives of exec.call's assembly, called by the generated parser and
// printer
//===----------------------------------------------------------------------===//

static ParseResult parseRoutine(OpAsmParser &parser, StringAttr &routine,
                                nn::ShapeAttr &params) {
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  routine = parser.getBuilder().getStringAttr(name);
  SmallVector<NamedAttribute> values;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::OptionalLessGreater, [&]() -> ParseResult {
            std::string param;
            int64_t value;
            if (parser.parseKeywordOrString(&param) || parser.parseEqual() ||
                parser.parseInteger(value))
              return failure();
            Builder &builder = parser.getBuilder();
            values.push_back({builder.getStringAttr(param),
                              builder.getI64IntegerAttr(value)});
            return success();
          }))
    return failure();
  params = parser.getChecked<nn::ShapeAttr>(parser.getContext(),
                                            ArrayRef<NamedAttribute>(values));
  return success(params != nullptr);
}

static void printRoutine(OpAsmPrinter &printer, Operation *, StringAttr routine,
                         nn::ShapeAttr params) {
  printer.printKeywordOrString(routine);
  if (!params.getFields().empty())
    params.print(printer);
}

static ParseResult
parseExtras(OpAsmParser &parser,
            SmallVectorImpl<OpAsmParser::UnresolvedOperand> &extras,
            ArrayAttr &kinds) {
  SmallVector<Attribute> list;
  if (parser.parseCommaSeparatedList([&]() -> ParseResult {
        SMLoc location = parser.getCurrentLocation();
        StringRef keyword;
        if (parser.parseKeyword(&keyword) ||
            parser.parseOperand(extras.emplace_back()))
          return failure();
        std::optional<OperandKind> kind = symbolizeOperandKind(keyword);
        if (!kind)
          return parser.emitError(location, "expected full, channel or scalar");
        list.push_back(OperandKindAttr::get(parser.getContext(), *kind));
        return success();
      }))
    return failure();
  kinds = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printExtras(OpAsmPrinter &printer, CallOp op, OperandRange extras,
                        ArrayAttr) {
  llvm::interleaveComma(llvm::zip(extras, op.getKinds()), printer,
                        [&](auto extra) {
                          auto kind = cast<OperandKindAttr>(std::get<1>(extra));
                          printer << stringifyOperandKind(kind.getValue())
                                  << " " << std::get<0>(extra);
                        });
}

#define GET_OP_CLASSES
#include "dialects/exec/ExecOps.cpp.inc"

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/exec/ExecAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/exec/ExecTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/exec/ExecOps.cpp.inc"
      >();
}
