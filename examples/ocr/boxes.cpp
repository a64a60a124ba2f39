#include "boxes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace {

float cross(Point o, Point a, Point b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

/// Returns the convex hull of the points, by Andrew's monotone chain.
std::vector<Point> hullOf(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](Point a, Point b) {
    return a.x < b.x || (a.x == b.x && a.y < b.y);
  });
  std::vector<Point> hull;
  for (int side = 0; side < 2; ++side) {
    std::size_t start = hull.size();
    for (Point p : points) {
      while (hull.size() >= start + 2 &&
             cross(hull[hull.size() - 2], hull.back(), p) <= 0)
        hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back(); // the other side starts with it
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

/// Returns the smallest rectangle around the points with a side of the
/// direction (ux, uy). Text runs along the side that is closer to horizontal.
Rectangle around(const std::vector<Point> &points, float ux, float uy) {
  if (std::abs(ux) < std::abs(uy))
    std::swap(ux, uy), uy = -uy;
  if (ux < 0)
    ux = -ux, uy = -uy;
  float loU = INFINITY, hiU = -INFINITY, loV = INFINITY, hiV = -INFINITY;
  for (Point p : points) {
    float u = p.x * ux + p.y * uy, v = p.y * ux - p.x * uy;
    loU = std::min(loU, u), hiU = std::max(hiU, u);
    loV = std::min(loV, v), hiV = std::max(hiV, v);
  }
  return {{loU * ux - loV * uy, loU * uy + loV * ux},
          {(hiU - loU) * ux, (hiU - loU) * uy},
          {-(hiV - loV) * uy, (hiV - loV) * ux}};
}

/// Returns the rectangle of the smallest area around a convex hull. One of its
/// sides lies along a side of the hull.
Rectangle smallestRectangle(const std::vector<Point> &hull) {
  Rectangle best = around(hull, 1, 0);
  for (std::size_t i = 0; i < hull.size(); ++i) {
    Point a = hull[i], b = hull[(i + 1) % hull.size()];
    float length = std::hypot(b.x - a.x, b.y - a.y);
    if (length == 0)
      continue;
    Rectangle r = around(hull, (b.x - a.x) / length, (b.y - a.y) / length);
    if (r.width() * r.height() < best.width() * best.height())
      best = r;
  }
  return best;
}

Rectangle grown(const Rectangle &r, float by) {
  float w = r.width(), h = r.height();
  Point u = {r.along.x / w, r.along.y / w}, v = {r.down.x / h, r.down.y / h};
  float nw = w + 2 * by, nh = h + 2 * by;
  return {{r.corner.x - by * (u.x + v.x), r.corner.y - by * (u.y + v.y)},
          {u.x * nw, u.y * nw},
          {v.x * nh, v.y * nh}};
}

/// The regions of pixels of text that are connected to each other, diagonally
/// too.
class Regions {
public:
  Regions(const float *map, int width, int height, float threshold)
      : map(map), width(width), height(height), threshold(threshold),
        seen(std::size_t(width) * height) {}

  /// Returns the corners of the pixels of the region that contains (x, y), or
  /// an empty list if (x, y) is no text or its region has been returned before.
  std::vector<Point> from(int x, int y) {
    pixels.clear();
    visit(x, y);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      int px = int(pixels[i].x), py = int(pixels[i].y);
      for (int ny = py - 1; ny <= py + 1; ++ny)
        for (int nx = px - 1; nx <= px + 1; ++nx)
          visit(nx, ny);
    }
    std::vector<Point> corners;
    for (Point p : pixels)
      for (Point corner :
           {p, {p.x + 1, p.y}, {p.x, p.y + 1}, {p.x + 1, p.y + 1}})
        corners.push_back(corner);
    return corners;
  }

private:
  void visit(int x, int y) {
    if (x < 0 || y < 0 || x >= width || y >= height)
      return;
    std::size_t at = std::size_t(y) * width + x;
    if (seen[at] || !(map[at] > threshold))
      return;
    seen[at] = true;
    pixels.push_back({float(x), float(y)});
  }

  const float *map;
  int width, height;
  float threshold;
  std::vector<bool> seen;
  std::vector<Point> pixels;
};

/// Returns the mean of the map's pixels inside the rectangle.
float meanInside(const float *map, int width, int height, const Rectangle &r) {
  const Point &a = r.along, &d = r.down;
  float left = r.corner.x + std::min(0.0f, a.x) + std::min(0.0f, d.x);
  float right = r.corner.x + std::max(0.0f, a.x) + std::max(0.0f, d.x);
  float top = r.corner.y + std::min(0.0f, a.y) + std::min(0.0f, d.y);
  float bottom = r.corner.y + std::max(0.0f, a.y) + std::max(0.0f, d.y);
  int x0 = std::max(0, int(left)), x1 = std::min(width - 1, int(right));
  int y0 = std::max(0, int(top)), y1 = std::min(height - 1, int(bottom));
  double sum = 0;
  int count = 0;
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      float px = x + 0.5f - r.corner.x, py = y + 0.5f - r.corner.y;
      float u = (px * a.x + py * a.y) / (a.x * a.x + a.y * a.y);
      float v = (px * d.x + py * d.y) / (d.x * d.x + d.y * d.y);
      if (u < 0 || v < 0 || u > 1 || v > 1)
        continue;
      sum += map[std::size_t(y) * width + x];
      ++count;
    }
  return count ? float(sum / count) : 0;
}

Point middle(const Rectangle &r) {
  return {r.corner.x + (r.along.x + r.down.x) / 2,
          r.corner.y + (r.along.y + r.down.y) / 2};
}

/// Sorts boxes by rows, and from left to right in each row. A row consists of
/// the boxes that overlap its first box by at least half.
void sortForReading(std::vector<Rectangle> &boxes) {
  std::sort(boxes.begin(), boxes.end(),
            [](const Rectangle &a, const Rectangle &b) {
              return middle(a).y < middle(b).y;
            });
  for (auto first = boxes.begin(); first != boxes.end();) {
    float end = middle(*first).y + first->height() / 2;
    auto last = std::find_if(first, boxes.end(), [end](const Rectangle &r) {
      return middle(r).y > end;
    });
    std::sort(first, last, [](const Rectangle &a, const Rectangle &b) {
      return middle(a).x < middle(b).x;
    });
    first = last;
  }
}

} // namespace

std::vector<Rectangle> findBoxes(const float *map, int width, int height,
                                 const BoxOptions &options) {
  std::vector<Rectangle> boxes;
  Regions regions(map, width, height, options.pixelThreshold);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::vector<Point> region = regions.from(x, y);
      if (region.empty())
        continue;
      Rectangle box = smallestRectangle(hullOf(region));
      float w = box.width(), h = box.height();
      if (std::min(w, h) < options.smallestSide ||
          meanInside(map, width, height, box) < options.boxThreshold)
        continue;
      boxes.push_back(grown(box, w * h * options.unclip / (2 * (w + h))));
    }
  sortForReading(boxes);
  return boxes;
}
