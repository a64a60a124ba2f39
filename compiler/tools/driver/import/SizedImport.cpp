//===- SizedImport.cpp - A model whose sizes vary within bounds -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/import/SizedImport.h"

#include "compiler/sizes/Constants.h"
#include "compiler/sizes/Outline.h"
#include "compiler/sizes/Quotients.h"
#include "compiler/sizes/SizedNetwork.h"
#include "dialects/exec/Identifiers.h"
#include "dialects/nn/tensors/Resource.h"

#include "llvm/ADT/StringSet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {

/// The largest number of sizes of a model that the caller chooses, and of all
/// open sizes. Each size takes several compilations, and each pair of sizes
/// takes further ones.
static constexpr size_t kMaxCallersSizes = 4, kMaxSizes = 8;

/// Returns a name for a size that is not in `taken`, and adds the name to it.
/// The name is the model's name of the dimension, or if it has none, it
/// consists of the input and the axis.
static std::string nameSize(llvm::StringRef dim, llvm::StringRef input,
                            size_t axis, llvm::StringSet<> &taken) {
  std::string stem =
      dim.empty() ? (input + "_dim" + llvm::Twine(axis)).str() : dim.str();
  std::string name = exec::makeIdentifier(stem, "size");
  for (int number = 2; !taken.insert(name).second; ++number)
    name = exec::makeIdentifier(stem, "size", exec::kMaxIdentifier,
                                "_" + std::to_string(number));
  return name;
}

frontends::GivenShapes
SizedImport::getShapesAt(llvm::ArrayRef<int64_t> point) const {
  frontends::GivenShapes shapes = choices.shapes;
  for (const auto &[input, dims] : sizeOf)
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (const OpenDim &dim = dims[axis]; dim.size >= 0)
        shapes[input][axis] = dim.factor * point[dim.size] + dim.offset;
  return shapes;
}

static std::string describePoint(llvm::ArrayRef<SizeRange> ranges,
                                 llvm::ArrayRef<int64_t> point) {
  std::vector<std::string> words;
  for (auto [range, size] : llvm::zip(ranges, point))
    words.push_back(fmt::format("{}={}", range.name, size));
  return fmt::format("{}", fmt::join(words, ", "));
}

ExitCode SizedImport::nameSizes(ImportedModel &model) {
  llvm::StringSet<> taken;
  for (const auto &[input, names] : model.dimNames)
    taken.insert(input);
  std::vector<std::string> unnamed;
  if (ExitCode code = nameCallersSizes(model, taken, unnamed);
      code != ExitCode::done)
    return code;
  expectedSizes = model.foundSizes;
  tieSizes(std::move(unnamed));
  callersSizes = sizes.size();
  nameFoundSizes(taken);
  if (sizes.size() > kMaxSizes || callersSizes > kMaxCallersSizes) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
        << fmt::format("has {} sizes that --shape leaves open and {} that its "
                       "data decide; at most {} are possible, {} in all",
                       callersSizes, expectedSizes.size(), kMaxCallersSizes,
                       kMaxSizes);
    return ExitCode::limit;
  }
  std::vector<SizePoint> points = chooseSamples(sizes);
  finder = std::make_unique<ExpressionFinder>(sizes, points, &context);
  // Samples beyond the largest sizes fail if the model has a table that is as
  // long as the largest size, or limits a count by a size.
  if (llvm::any_of(points, [&](const SizePoint &point) {
        return isBeyond(point) && failsAt(point);
      })) {
    for (SizeRange &size : sizes)
      size.isMost = true;
    points = chooseSamples(sizes);
    finder = std::make_unique<ExpressionFinder>(sizes, points, &context);
  }
  Reason why;
  ExitCode code = tryImport(points[0], model, why);
  code = acceptSample(points[0], code, why, model);
  if (code != ExitCode::done)
    return code;
  return model.foundSizes.empty() ? ExitCode::done
                                  : dropInnerCounts(*model.module);
}

void SizedImport::nameFoundSizes(llvm::StringSet<> &taken) {
  for (const frontends::FoundSize &size : expectedSizes) {
    SizeRange &range = sizes.emplace_back(
        SizeRange{nameSize(size.name + "_size", "", 0, taken),
                  /*low=*/0, size.most, /*step=*/1});
    range.isFound = true;
    if (size.within)
      range.within = callersSizes + *size.within;
    range.computed = size.expression;
  }
}

/// Frees the memory of the constants of a module that is no longer needed.
static void freeConstants(mlir::ModuleOp module) {
  llvm::SetVector<mlir::DenseResourceElementsAttr> resources;
  module.walk([&](nn::ConstantOp constant) {
    if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(
            constant.getValue()))
      resources.insert(resource);
  });
  for (mlir::DenseResourceElementsAttr resource : resources)
    nn::freeResource(resource);
}

static mlir::func::FuncOp getMain(mlir::ModuleOp module) {
  auto isMain = [](mlir::func::FuncOp function) {
    return !function.isPrivate();
  };
  return *llvm::find_if(module.getOps<mlir::func::FuncOp>(), isMain);
}

/// Removes the results of a module that tell the sizes with the given indices.
static void removeCounts(mlir::ModuleOp module,
                         llvm::ArrayRef<unsigned> numbers) {
  mlir::func::FuncOp main = getMain(module);
  llvm::BitVector dropped(main.getNumResults());
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (auto size =
            main.getResultAttrOfType<mlir::IntegerAttr>(i, nn::kSizeAttr);
        size && llvm::is_contained(numbers, unsigned(size.getInt())))
      dropped.set(i);
  main.getBody().front().getTerminator()->eraseOperands(dropped);
  main.eraseResults(dropped);
}

bool SizedImport::isBeyond(llvm::ArrayRef<int64_t> point) const {
  return llvm::any_of(llvm::zip(point, sizes), [](auto pair) {
    return std::get<0>(pair) > std::get<1>(pair).high;
  });
}

bool SizedImport::failsAt(llvm::ArrayRef<int64_t> point) {
  ImportedModel model;
  Reason why;
  if (tryImport(point, model, why) != ExitCode::done)
    return true;
  freeConstants(*model.module);
  return false;
}

ExitCode SizedImport::dropInnerCounts(mlir::ModuleOp module) {
  auto getResults = [](mlir::ModuleOp module) {
    return getMain(module).getFunctionType().getResults();
  };
  // Until all inner sizes are known, samples have the same results as the
  // module.
  std::vector<unsigned> inner;
  innerSizes.clear();
  llvm::ArrayRef<SizePoint> points = finder->getSamples();
  for (unsigned i = callersSizes; i < sizes.size(); ++i) {
    // Returns true if a sample differs from the largest sizes only in size `i`.
    auto isOther = [&](const SizePoint &point) {
      for (size_t j = 0; j < point.size(); ++j)
        if ((point[j] != points[0][j]) != (j == i))
          return false;
      return true;
    };
    ImportedModel sample;
    if (ExitCode code = importSample(*llvm::find_if(points, isOther), sample);
        code != ExitCode::done)
      return code;
    if (getResults(*sample.module) == getResults(module))
      inner.push_back(i - callersSizes);
    freeConstants(*sample.module);
  }
  innerSizes = std::move(inner);
  removeCounts(module, innerSizes);
  return ExitCode::done;
}

std::optional<SizedImport::OpenDim>
SizedImport::followSize(llvm::StringRef dim, const SizeRange &range,
                        const std::map<std::string, int> &known) const {
  OpenDim found;
  llvm::StringRef rest = dim.trim();
  if (!rest.consumeInteger(10, found.factor)) {
    rest = rest.ltrim();
    if (!rest.consume_front("*"))
      return std::nullopt;
  }
  llvm::StringRef name = rest.take_until([](char c) {
    return llvm::StringRef(" +-").contains(c);
  }),
                  offset = rest.drop_front(name.size());
  auto size = known.find(name.trim().str());
  if (size == known.end() || found.factor < 1)
    return std::nullopt;
  offset = offset.trim();
  bool isMinus = offset.consume_front("-");
  if (!offset.empty() && !isMinus && !offset.consume_front("+"))
    return std::nullopt;
  if (!offset.empty() && offset.trim().getAsInteger(10, found.offset))
    return std::nullopt;
  if (isMinus)
    found.offset = -found.offset;
  found.size = size->second;
  const SizeRange &of = sizes[found.size];
  bool isLike = range.low == found.factor * of.low + found.offset &&
                range.high == found.factor * of.high + found.offset;
  return isLike ? std::optional(found) : std::nullopt;
}

std::vector<size_t> SizedImport::findTied(size_t first,
                                          llvm::ArrayRef<std::string> unnamed) {
  SizePoint largest;
  for (const SizeRange &size : sizes)
    largest.push_back(size.high);
  for (const frontends::FoundSize &size : expectedSizes)
    largest.push_back(size.most);
  auto failsWith = [&](llvm::ArrayRef<size_t> changed) {
    SizePoint point = largest;
    for (size_t i : changed)
      point[i] -= sizes[i].step;
    return failsAt(point);
  };
  std::vector<size_t> tied = {first};
  for (size_t i = first + 1; i < sizes.size(); ++i)
    if (!unnamed[i].empty() && sizes[i].low == sizes[first].low &&
        sizes[i].high == sizes[first].high &&
        sizes[i].step == sizes[first].step)
      tied.push_back(i);
  if (tied.size() == 1 || !failsWith(first) || failsWith(tied))
    return {first};
  for (size_t i = tied.size(); i-- > 1;) {
    std::vector<size_t> others = tied;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    if (others.size() > 1 && !failsWith(others))
      tied = others;
  }
  return tied;
}

void SizedImport::tieSizes(std::vector<std::string> unnamed) {
  for (size_t first = 0; first < sizes.size(); ++first) {
    if (unnamed[first].empty())
      continue;
    callersSizes = sizes.size();
    std::vector<size_t> tied = findTied(first, unnamed);
    std::vector<std::string> places = {unnamed[first]};
    for (size_t i = tied.size(); i-- > 1;) {
      const int dropped = int(tied[i]);
      places.insert(places.begin() + 1, unnamed[dropped]);
      for (auto &[input, dims] : sizeOf)
        for (OpenDim &dim : dims)
          if (dim.size == dropped)
            dim.size = int(first);
          else if (dim.size > dropped)
            --dim.size;
      sizes.erase(sizes.begin() + dropped);
      unnamed.erase(unnamed.begin() + dropped);
    }
    if (tied.size() > 1)
      mlir::emitWarning(
          mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
          << fmt::format("has one size '{}' for {}, as the model only computes "
                         "where these are equal",
                         sizes[first].name, fmt::join(places, ", "));
  }
}

ExitCode SizedImport::nameCallersSizes(const ImportedModel &model,
                                       llvm::StringSet<> &taken,
                                       std::vector<std::string> &unnamed) {
  mlir::Location file =
      mlir::FileLineColLoc::get(&context, choices.model, 0, 0);
  std::map<std::string, int> byDim;
  auto getName = [&](const std::string &input, size_t axis) -> std::string {
    auto names = model.dimNames.find(input);
    return names != model.dimNames.end() && axis < names->second.size()
               ? names->second[axis]
               : "";
  };
  // Dimensions that may follow from others come last.
  struct Place {
    std::string input, dim;
    size_t axis;
  };
  std::vector<Place> places, expressions;
  for (const auto &[input, dims] : choices.ranges) {
    sizeOf[input].resize(dims.size());
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (!dims[axis].varies())
        continue;
      std::string dim = getName(input, axis);
      bool isExpression = dim.find_first_of("*+- ") != std::string::npos;
      (isExpression ? expressions : places).push_back({input, dim, axis});
    }
  }
  llvm::append_range(places, expressions);
  for (const auto &[input, dim, axis] : places) {
    const auto &bounds = choices.ranges.at(input)[axis];
    SizeRange range{"", bounds.low, bounds.high, bounds.step};
    OpenDim &open = sizeOf[input][axis];
    auto known = byDim.find(dim);
    if (!dim.empty() && known != byDim.end()) {
      const SizeRange &other = sizes[known->second];
      if (other.low != range.low || other.high != range.high ||
          other.step != range.step) {
        mlir::emitError(file)
            << "has one size '" << dim
            << "' in several inputs, which --shape gives other bounds";
        return ExitCode::usage;
      }
      open.size = known->second;
      continue;
    }
    if (auto follows = followSize(dim, range, byDim)) {
      open = *follows;
      continue;
    }
    range.name = nameSize(dim, input, axis, taken);
    open.size = int(sizes.size());
    if (!dim.empty())
      byDim[dim] = open.size;
    sizes.push_back(range);
    unnamed.push_back(dim.empty() ? fmt::format("axis {} of '{}'", axis, input)
                                  : "");
  }
  return ExitCode::done;
}

ExitCode SizedImport::tryImport(llvm::ArrayRef<int64_t> point,
                                ImportedModel &model, Reason &why) {
  // The import for the largest sizes has printed the warnings of this model
  // already.
  mlir::ScopedDiagnosticHandler quiet(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            !why.location)
          why = {diagnostic.str(), diagnostic.getLocation()};
        return mlir::success();
      });
  return importer.importPoint({getShapesAt(point),
                               point.drop_front(callersSizes).vec(),
                               expectedSizes, /*isSample=*/true},
                              model);
}

ExitCode SizedImport::importSample(llvm::ArrayRef<int64_t> point,
                                   ImportedModel &model) {
  Reason why;
  ExitCode code = tryImport(point, model, why);
  return acceptSample(point, code, why, model);
}

ExitCode SizedImport::acceptSample(llvm::ArrayRef<int64_t> point, ExitCode code,
                                   const Reason &why, ImportedModel &model) {
  if (code != ExitCode::done) {
    mlir::Location file =
        mlir::FileLineColLoc::get(&context, choices.model, 0, 0);
    auto isFound = [&](size_t i) {
      return i >= callersSizes && point[i] != sizes[i].high;
    };
    // ONNX allows models that are invalid only for some lengths, and that fail
    // in a run whose data lead to one of them. Emitted code cannot report this,
    // so the model counts as sound but unsupported.
    bool mayBeSound = code == ExitCode::broken &&
                      llvm::any_of(llvm::seq(point.size()), isFound);
    auto diagnostic = mlir::emitError(why.location.value_or(file));
    diagnostic << "cannot be imported with " << describePoint(sizes, point)
               << ": " << why.text;
    if (!mayBeSound)
      return code;
    diagnostic
        << "; nnc compiles a model only if it computes with every length "
           "that data may decide, 0 among them: keep rows beyond those "
           "that are found, such as those of a Concat with rows of zeros";
    return ExitCode::unsupported;
  }
  const std::vector<frontends::FoundSize> &foundSizes = model.foundSizes;
  auto isSame = [](const frontends::FoundSize &a,
                   const frontends::FoundSize &b) { return a.name == b.name; };
  if (!std::equal(foundSizes.begin(), foundSizes.end(), expectedSizes.begin(),
                  expectedSizes.end(), isSame)) {
    auto [found, expected] =
        std::mismatch(foundSizes.begin(), foundSizes.end(),
                      expectedSizes.begin(), expectedSizes.end(), isSame);
    // If the sample has no fewer sizes than expected, the size is an extra one
    // of the sample. Otherwise the sample lacks the expected size.
    bool isMore = expected == expectedSizes.end() ||
                  (found != foundSizes.end() &&
                   foundSizes.size() >= expectedSizes.size());
    std::string name = isMore ? found->name : expected->name;
    mlir::emitError(mlir::NameLoc::get(
        mlir::StringAttr::get(&context, name),
        mlir::FileLineColLoc::get(&context, choices.model, 0, 0)))
        << fmt::format("varies in a way that nnc does not handle: its length "
                       "is {} by data with {}, and {} where all sizes are "
                       "largest; a mask with Where keeps the length",
                       isMore ? "decided" : "not decided",
                       describePoint(sizes, point), isMore ? "is not" : "is");
    return ExitCode::unsupported;
  }
  removeCounts(*model.module, innerSizes);
  return code;
}

ExitCode SizedImport::checkEdges(std::vector<Outline> samples) {
  OutlineCheck check(std::move(samples), *finder, &context);
  for (const SizePoint &point : chooseEdges(sizes)) {
    if (llvm::is_contained(finder->getSamples(), point))
      continue;
    ImportedModel model;
    if (ExitCode code = importSample(point, model); code != ExitCode::done)
      return code;
    std::string why = check.findDifference(Outline(*model.module), point);
    freeConstants(*model.module);
    if (!why.empty()) {
      mlir::Location loc =
          mlir::FileLineColLoc::get(&context, choices.model, 0, 0);
      // The name of the node follows its operation.
      llvm::SmallVector<llvm::StringRef> parts;
      llvm::StringRef(why).split(parts, '\'', 2);
      if (parts.size() > 2)
        loc =
            mlir::NameLoc::get(mlir::StringAttr::get(&context, parts[1]), loc);
      mlir::emitError(loc)
          << "varies with the sizes in a way that nnc does not handle: with "
          << describePoint(sizes, point) << ", " << why
          << (callersSizes == 0
                  ? ""
                  : "; bounds on one side of what a minimum, maximum or "
                    "division of the model switches at are possible");
      return ExitCode::unsupported;
    }
  }
  return ExitCode::done;
}

ExitCode SizedImport::gatherSamples(ImportedModel &model) {
  // Passes run on one module after the other.
  context.disableMultithreading();
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> samples;
  std::vector<Outline> outlines = {Outline(*model.module)};
  for (const SizePoint &point : finder->getSamples().drop_front()) {
    ImportedModel sample;
    if (ExitCode code = importSample(point, sample); code != ExitCode::done)
      return code;
    outlines.emplace_back(*sample.module);
    shareMemory(*model.module, *sample.module);
    samples.push_back(std::move(sample.module));
  }
  std::vector<mlir::ModuleOp> networks = {*model.module};
  for (mlir::OwningOpRef<mlir::ModuleOp> &sample : samples)
    networks.push_back(*sample);
  noteQuotients(networks, *finder);
  if (ExitCode code = checkEdges(std::move(outlines)); code != ExitCode::done)
    return code;
  model.module.release();
  for (mlir::OwningOpRef<mlir::ModuleOp> &sample : samples)
    sample.release();
  model.module = SizedNetwork::join(networks, *finder);
  if (model.saved)
    model.saved = llvm::cast<mlir::ModuleOp>((*model.module)->clone());
  return ExitCode::done;
}

} // namespace nnc::tools
