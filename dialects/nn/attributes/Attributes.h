//===- Attributes.h - Attributes and enumerations of nn -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ATTRIBUTES_ATTRIBUTES_H
#define NNC_DIALECTS_NN_ATTRIBUTES_ATTRIBUTES_H

#include "dialects/nn/layouts/Layout.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"

#include "dialects/nn/NnDialect.h.inc"
#include "dialects/nn/NnEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/nn/NnAttrs.h.inc"

namespace nnc::nn {

/// The names of the discardable attributes, which NnDialect.td declares.
inline constexpr llvm::StringLiteral
    kActivationAttr = NnDialect::ActivationAttrHelper::getNameStr(),
    kAlwaysEmptyAttr = NnDialect::AlwaysEmptyAttrHelper::getNameStr(),
    kBatchOpAttr = NnDialect::BatchOpAttrHelper::getNameStr(),
    kByteWeightsAttr = NnDialect::ByteWeightsAttrHelper::getNameStr(),
    kBytesNeedRamAttr = NnDialect::BytesNeedRamAttrHelper::getNameStr(),
    kCopiesAttr = NnDialect::CopiesAttrHelper::getNameStr(),
    kCustomFilesAttr = NnDialect::CustomFilesAttrHelper::getNameStr(),
    kDescriptionAttr = NnDialect::DescriptionAttrHelper::getNameStr(),
    kExpandedAttr = NnDialect::ExpandedAttrHelper::getNameStr(),
    kFloatConstantsAttr = NnDialect::FloatConstantsAttrHelper::getNameStr(),
    kHalfConstantsAttr = NnDialect::HalfConstantsAttrHelper::getNameStr(),
    kInitialAttr = NnDialect::InitialAttrHelper::getNameStr(),
    kKeptWeightsAttr = NnDialect::KeptWeightsAttrHelper::getNameStr(),
    kLargestAttr = NnDialect::LargestAttrHelper::getNameStr(),
    kLinkAttr = NnDialect::LinkAttrHelper::getNameStr(),
    kModelAttr = NnDialect::ModelAttrHelper::getNameStr(),
    kModelTypeAttr = NnDialect::ModelTypeAttrHelper::getNameStr(),
    kNameAttr = NnDialect::NameAttrHelper::getNameStr(),
    kNumberAttr = NnDialect::NumberAttrHelper::getNameStr(),
    kOtherShapesAttr = NnDialect::OtherShapesAttrHelper::getNameStr(),
    kPlanAttr = NnDialect::PlanAttrHelper::getNameStr(),
    kRolesAttr = NnDialect::RolesAttrHelper::getNameStr(),
    kScalingAttr = NnDialect::ScalingAttrHelper::getNameStr(),
    kSeparableAttr = NnDialect::SeparableAttrHelper::getNameStr(),
    kSha256Attr = NnDialect::Sha256AttrHelper::getNameStr(),
    kSizeAttr = NnDialect::SizeAttrHelper::getNameStr(),
    kSizesAttr = NnDialect::SizesAttrHelper::getNameStr(),
    kSizesComputedAttr = NnDialect::SizesComputedAttrHelper::getNameStr(),
    kSizesWithinAttr = NnDialect::SizesWithinAttrHelper::getNameStr(),
    kStateAttr = NnDialect::StateAttrHelper::getNameStr(),
    kStoredNsAttr = NnDialect::StoredNsAttrHelper::getNameStr(),
    kSumsAttr = NnDialect::SumsAttrHelper::getNameStr(),
    kTargetAttr = NnDialect::TargetAttrHelper::getNameStr(),
    kTextsAttr = NnDialect::TextsAttrHelper::getNameStr(),
    kVariesAttr = NnDialect::VariesAttrHelper::getNameStr(),
    kVaryingAxesAttr = NnDialect::VaryingAxesAttrHelper::getNameStr(),
    kWeightsFrontAttr = NnDialect::WeightsFrontAttrHelper::getNameStr();

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ATTRIBUTES_ATTRIBUTES_H
