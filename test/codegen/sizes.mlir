// Sizes beyond 2 GiB are constants of type size_t, in C99 and in C++.
// RUN: rm -rf %t && nnc-codegen %s -o %t
// RUN: gcc -std=c99 -pedantic -Wall -Wextra -Werror -I%t -fsyntax-only %S/sizes.c
// RUN: g++ -std=c++17 -pedantic -Wall -Wextra -Werror -I%t -fsyntax-only -x c++ %S/sizes.c

exec.program @big arena 5368709120 lower_bound 5368709120 align 64 weights 0 {
  %x = exec.input "x" : tensor<4xf32>
  %y = exec.output "y" : tensor<4xf32>
  exec.copy "copy_y" %x to %y
}
