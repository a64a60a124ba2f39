//===- MeasuredFile.cpp - Text files of measurements ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/MeasuredFile.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;

std::string MeasuredFileKind::findHeadProblem(StringRef line) const {
  int found;
  if (!line.consume_front(magic) || line.trim().getAsInteger(10, found))
    return ("is not " + name + ": it does not begin with '" + magic + " " +
            Twine(format) + "', as those of " + maker + " do")
        .str();
  if (found != format)
    return ("is of format " + Twine(found) + ", this nnc reads " +
            Twine(format) + "; write it anew with " + maker)
        .str();
  return "";
}

std::string MeasuredFileKind::findMismatch(ArrayRef<std::string> isas,
                                           StringRef chip,
                                           target::MachineAttr machine) const {
  SmallVector<StringRef> own(
      machine.getHost().getIsas().getAsValueRange<StringAttr>());
  if (!llvm::equal(own, isas))
    return ("was measured for " + llvm::join(isas, " ") + "; the target '" +
            machine.getName() + "' has " + llvm::join(own, " ") +
            ": measure for it with " + maker + " --target=" + machine.getName())
        .str();
  if (!machine.getChip().empty() && machine.getChip() != chip)
    return ("was measured on a " + chip + ", this is a " + machine.getChip() +
            ": measure here with " + maker +
            ", or give the --target whose chip that is")
        .str();
  return "";
}

unsigned nnc::forEachLine(StringRef text,
                          llvm::function_ref<bool(StringRef, unsigned)> visit) {
  unsigned number = 0;
  for (StringRef line : llvm::split(text, '\n')) {
    ++number;
    line = line.trim();
    if (!line.empty() && !line.starts_with("#") && !visit(line, number))
      break;
  }
  return number;
}

Location nnc::getLineLoc(MLIRContext *context, StringRef path, unsigned line) {
  return FileLineColLoc::get(context, path, line, line ? 1 : 0);
}

FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
nnc::readWithDiagnostic(StringRef path, MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return emitError(getLineLoc(context, path, 0), "cannot be read: ")
           << buffer.getError().message();
  return std::move(*buffer);
}
