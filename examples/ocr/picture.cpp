#include "picture.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <stb/stb_image.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

float Rectangle::width() const { return std::hypot(along.x, along.y); }
float Rectangle::height() const { return std::hypot(down.x, down.y); }

Picture loadPicture(const std::string &path) {
  int width = 0, height = 0, channels = 0;
  std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load(path.c_str(), &width, &height, &channels, 3), &stbi_image_free);
  if (!pixels)
    throw std::runtime_error(path + ": " + stbi_failure_reason());
  Picture picture(width, height);
  std::copy_n(pixels.get(), picture.rgb.size(), picture.rgb.begin());
  return picture;
}

Picture cut(const Picture &from, const Rectangle &r, int width, int height) {
  Picture to(width, height);
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      // Centres of pixels lie at half coordinates.
      float u = (column + 0.5f) / width, v = (row + 0.5f) / height;
      float x = r.corner.x + u * r.along.x + v * r.down.x - 0.5f;
      float y = r.corner.y + u * r.along.y + v * r.down.y - 0.5f;
      x = std::clamp(x, 0.0f, float(from.width - 1));
      y = std::clamp(y, 0.0f, float(from.height - 1));
      int x0 = int(x), y0 = int(y);
      int x1 = std::min(x0 + 1, from.width - 1);
      int y1 = std::min(y0 + 1, from.height - 1);
      float fx = x - x0, fy = y - y0;
      for (int c = 0; c < 3; ++c) {
        float above =
            from.pixel(x0, y0)[c] * (1 - fx) + from.pixel(x1, y0)[c] * fx;
        float below =
            from.pixel(x0, y1)[c] * (1 - fx) + from.pixel(x1, y1)[c] * fx;
        to.pixel(column, row)[c] =
            std::uint8_t(above * (1 - fy) + below * fy + 0.5f);
      }
    }
  return to;
}

Picture resize(const Picture &from, int width, int height) {
  return cut(from, {{0, 0}, {float(from.width), 0}, {0, float(from.height)}},
             width, height);
}

Picture turned(const Picture &from) {
  Picture to(from.width, from.height);
  for (int y = 0; y < from.height; ++y)
    for (int x = 0; x < from.width; ++x)
      std::copy_n(from.pixel(x, y), 3,
                  to.pixel(from.width - 1 - x, from.height - 1 - y));
  return to;
}

void writePlanes(const Picture &picture, const float (&mean)[3],
                 const float (&deviation)[3], int width, int height,
                 float *planes) {
  std::fill_n(planes, std::size_t(3) * width * height, 0.0f);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < std::min(height, picture.height); ++y)
      for (int x = 0; x < std::min(width, picture.width); ++x)
        planes[(std::size_t(c) * height + y) * width + x] =
            (picture.pixel(x, y)[2 - c] / 255.0f - mean[c]) / deviation[c];
}
