# What users get: `cmake --install build` and, by cpack, a Debian package. Components:
#
#   nnc_program        bin/nnc, which holds all that it emits
#   nnc_cmake          lib/cmake/nnc, for find_package(nnc)
#   nnc_documentation  share/doc/nnc, manual pages, completions of shells
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Debian keeps libMLIR in LLVM's own folder, where the loader does not look.
set_target_properties(nnc PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIRS}")
install(TARGETS nnc EXPORT nnc COMPONENT nnc_program)

set(package ${CMAKE_CURRENT_LIST_DIR}/package)
set(nnc_config_folder lib/cmake/nnc)
configure_package_config_file(
  ${package}/nncConfig.cmake.in ${PROJECT_BINARY_DIR}/package/nncConfig.cmake
  INSTALL_DESTINATION ${nnc_config_folder} NO_SET_AND_CHECK_MACRO)
# nnc runs where the build does: programs for any machine may find it.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/nncConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(
  FILES ${PROJECT_BINARY_DIR}/package/nncConfig.cmake
        ${PROJECT_BINARY_DIR}/package/nncConfigVersion.cmake
        ${package}/NNCAddModel.cmake ${package}/NNCFinishModel.cmake
  DESTINATION ${nnc_config_folder} COMPONENT nnc_cmake)
install(EXPORT nnc NAMESPACE nnc:: FILE nncTargets.cmake
        DESTINATION ${nnc_config_folder} COMPONENT nnc_cmake)

install(FILES README.md CHANGELOG.md compiler/tools/output.schema.json
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT nnc_documentation)
# The pages that the README leads to, at the same places beside it, so that its links work.
foreach(page
    codegen/README.md
    codegen/building.md
    codegen/calling.md
    codegen/cuda.md
    codegen/sizes.md
    compiler/tools/README.md
    compiler/tools/nnc/README.md
    compiler/tools/nnc/compress/README.md
    compiler/tools/nnc/quantize/README.md
    compiler/tools/nnc/report/README.md
    compiler/tools/nnc/weights.md
    compiler/tools/python/README.md
    dialects/target/README.md
    examples/cmake/README.md
    examples/cuda/README.md
    examples/firmware/README.md
    examples/ocr/README.md
    examples/recipes/README.md
    frontends/README.md
    frontends/caffe/README.md
    frontends/mxnet/README.md
    frontends/onnx/README.md
    frontends/tensorflow/README.md
    frontends/tflite/README.md
    frontends/torch/README.md
    scripts/benchmark/README.md)
  cmake_path(GET page PARENT_PATH folder)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder}
          COMPONENT nnc_documentation)
endforeach()
install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT nnc_documentation)

# nnc prints its manual pages and what lets shells complete its options. One that was
# built for another machine does not run here.
if(NOT CMAKE_CROSSCOMPILING)
  set(printed ${PROJECT_BINARY_DIR}/package/share)
  set(printer ${CMAKE_CURRENT_LIST_DIR}/PrintManual.cmake)
  set(last ${printed}/fish/vendor_completions.d/nnc.fish)
  add_custom_command(
    OUTPUT ${last}
    COMMAND ${CMAKE_COMMAND} -DNNC=$<TARGET_FILE:nnc> -DFOLDER=${printed} -P ${printer}
    DEPENDS nnc ${printer} VERBATIM)
  add_custom_target(nnc_printed ALL DEPENDS ${last})
  # A build of the target nnc alone has not written them.
  install(CODE "set(NNC \"$<TARGET_FILE:nnc>\")
set(FOLDER \"${printed}\")
if(NOT EXISTS \"${last}\" OR \"\${NNC}\" IS_NEWER_THAN \"${last}\")
  include(\"${printer}\")
endif()" COMPONENT nnc_documentation)
  install(DIRECTORY ${printed}/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}
          COMPONENT nnc_documentation)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nnc)
set(CPACK_PACKAGE_VENDOR "the nnc project")
set(CPACK_PACKAGE_CONTACT "the nnc project <nnc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "ahead-of-time compiler of neural networks to C++ source")
set(CPACK_PACKAGE_DESCRIPTION
    "nnc turns a trained network of ONNX, TFLite, PyTorch, TensorFlow, Caffe or MXNet into a
small folder of C++ source that needs no library, for Linux machines and microcontrollers.
CMake projects find it by find_package(nnc).")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# dpkg-shlibdeps finds the libraries but for libLLVM, which it takes for a part of
# llvm-19-dev, by the link in the folder with libMLIR that the program names. The
# compilers of targets are the user's choice.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "libllvm${LLVM_VERSION_MAJOR} (>= 1:${LLVM_PACKAGE_VERSION})")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "cmake, gcc-arm-none-eabi, g++-aarch64-linux-gnu, qemu-system-arm, qemu-user")
set(CPACK_PRE_BUILD_SCRIPTS ${package}/ArrangeForDebian.cmake)
set(CPACK_INSTALL_CMAKE_PROJECTS
    "${PROJECT_BINARY_DIR};nnc;nnc_program;/;${PROJECT_BINARY_DIR};nnc;nnc_cmake;/;\
${PROJECT_BINARY_DIR};nnc;nnc_documentation;/")
include(CPack)
