//===- Roi.cpp - Regions of interest --------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

namespace {
/// The operands of an operator on regions.
struct Regions {
  Value x;      ///< images
  Value rois;   ///< for each region the number of its image and two corners
  Value images; ///< the numbers of the images
  int64_t sizes[2];
  APFloat scale;
};
} // namespace

static std::optional<Regions> getRegions(Node &node) {
  Value x = node.getTensor("input"),
        rois = node.castTo(node.getTensor("rois"), getElement(x));
  if (!x || !rois)
    return std::nullopt;
  if (getRank(x) != 4 || getRank(rois) != 2 || getShape(rois)[1] != 5) {
    node.broken("has images of shape " + toString(getShape(x)) +
                " and regions of shape " + toString(getShape(rois)));
    return std::nullopt;
  }
  Value images = node.slice(rois, 1, 0, 1);
  images = node.castTo(node.reshape(images, {getShape(rois)[0]}),
                       node.getBuilder().getI64Type());
  Regions regions{x,
                  rois,
                  images,
                  {node.getInt("pooled_height"), node.getInt("pooled_width")},
                  APFloat(node.getFloat("spatial_scale", 1))};
  for (int64_t size : regions.sizes)
    if (size < 1 || size > kMaxDim) {
      node.broken("has " + Twine(size) + " bins along an axis");
      return std::nullopt;
    }
  return regions;
}

/// Returns the means of the bins of regions.
static Value averageRegions(Node &node, const Regions &regions,
                            bool isAligned) {
  // A number below 1 stands for as many samples as a bin has elements.
  int64_t samples = std::max<int64_t>(node.getInt("sampling_ratio", -1), 0);
  return node.create<nn::RoiAlignOp>(
      nn::RoiMode::avg, regions.x, node.slice(regions.rois, 1, 1, 4),
      regions.images, ArrayRef<int64_t>(regions.sizes), samples, regions.scale,
      isAligned);
}

/// Converts torchvision's roi_align, whose regions are rows of the number of an
/// image and two corners.
Value convertRoiAlign(Node &node) {
  auto regions = getRegions(node);
  return regions ? averageRegions(node, *regions, node.getBool("aligned"))
                 : Value();
}

/// Converts torchvision's roi_pool: the largest element of each bin.
Value convertRoiPool(Node &node) {
  auto regions = getRegions(node);
  return regions
             ? node.create<nn::MaxRoiPoolOp>(regions->x, regions->rois,
                                             ArrayRef<int64_t>(regions->sizes),
                                             regions->scale)
             : Value();
}

/// Converts torchvision's ps_roi_align, in which each bin reads channels of its
/// own: the means of all bins of all channels, of which one bin is taken.
Value convertPsRoiAlign(Node &node) {
  auto regions = getRegions(node);
  if (!regions)
    return {};
  int64_t bins = regions->sizes[0] * regions->sizes[1],
          channels = getShape(regions->x)[1];
  if (bins > channels || channels % bins != 0)
    return node.broken("has " + Twine(channels) + " channels for " +
                       Twine(bins) + " bins");
  int64_t count = getShape(regions->rois)[0], results = channels / bins;
  SmallVector<int64_t> own;
  for (int64_t bin = 0; bin < bins; ++bin)
    own.push_back(bin * bins + bin);
  Value means = node.reshape(averageRegions(node, *regions, /*isAligned=*/true),
                             {count, results, bins * bins});
  return node.reshape(
      node.create<nn::GatherOp>(means, node.constant(own), int64_t(2)),
      {count, results, regions->sizes[0], regions->sizes[1]});
}

} // namespace nnc::torch
