"""Tests that the check of the table "may include" finds violations."""

import pathlib
import subprocess
import tempfile
import unittest

import may_include


class MayInclude(unittest.TestCase):
    def found(self, **files):
        """Problems in a tree of files; a name's __ stands for / and _DOT_ for a dot."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            subprocess.run(["git", "init", "-q"], cwd=root, check=True)
            for name, text in files.items():
                path = root / name.replace("__", "/").replace("_DOT_", ".")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(may_include.problems(root))

    def test_runtime_takes_no_cpp_library(self):
        self.assertEqual(
            self.found(runtime__a_DOT_h="#include <cstdint>\n#include <vector>\n"),
            ["runtime/a.h: runtime/ may not include vector"])

    def test_reference_may_use_the_cpp_library(self):
        self.assertEqual(self.found(runtime__reference_DOT_cpp="#include <vector>\n"), [])

    def test_codegen_does_not_see_the_compiler(self):
        self.assertEqual(
            self.found(codegen__a_DOT_cpp='#include "compiler/Passes.h"\n'),
            ["codegen/a.cpp: codegen/ may not include compiler/Passes.h"])

    def test_frontends_do_not_see_each_other(self):
        self.assertEqual(
            self.found(frontends__common__a_DOT_cpp='#include "onnx/onnx_pb.h"\n'
                                                    '#include "dialects/evaluate/Evaluate.h"\n'
                                                    '#include "compiler/patterns/Patterns.h"\n',
                       frontends__onnx__b_DOT_cpp='#include "frontends/common/Problems.h"\n'
                                                  '#include "frontends/Registry.h"\n'),
            ["frontends/common/a.cpp: frontends/common/ may not include onnx/onnx_pb.h",
             "frontends/common/a.cpp: frontends/common/ may not include "
             "compiler/patterns/Patterns.h",
             "frontends/onnx/b.cpp: frontends/onnx/ may not include frontends/Registry.h"])

    def test_a_path_beside_the_file_is_resolved(self):
        self.assertEqual(
            self.found(compiler__a_DOT_cpp='#include "tools/b.h"\n',
                       compiler__tools__b_DOT_h=""),
            ["compiler/a.cpp: compiler/ may not include tools/b.h"])

    def test_compiler_reads_routine_tables_only(self):
        self.assertEqual(
            self.found(compiler__routines__a_DOT_cpp=
                       '#include "runtime/routines/catalogue/routines.inc"\n'
                       '#include "runtime/routines/convolution/conv2d/shape.h"\n'
                       '#include "runtime/simd/vec.h"\n'),
            ["compiler/routines/a.cpp: compiler/routines/ may not include "
             "runtime/simd/vec.h"])

    def test_rooms_of_the_runtime_keep_their_order(self):
        routine = '#include "runtime/routines/convolution/conv2d/direct.h"\n'
        self.assertEqual(
            self.found(runtime__epilogue_DOT_h=routine, runtime__simd__vec_DOT_h=routine,
                       runtime__simd__a_DOT_h='#include "runtime/epilogue.h"\n'
                                              '#include "runtime/meta.h"\n',
                       runtime__routines__tiles__b_DOT_h=routine + '#include "runtime/simd/vec.h"\n',
                       runtime__routines__pooling__c_DOT_h=routine,
                       runtime__routines__new__d_DOT_h=routine,
                       runtime__routines__stored_weights__e_DOT_h=routine,
                       runtime__routines__matrix__f_DOT_h=
                       '#include "runtime/routines/tiles/floats.h"\n'
                       '#include "runtime/routines/catalogue/tile.h"\n'),
            [f"{file}: {folder}/ may not include runtime/routines/{header}"
             if header else f"{file}: {folder}/ may not include runtime/epilogue.h"
             for file, folder, header in (
                 ("runtime/epilogue.h", "runtime", "convolution/conv2d/direct.h"),
                 ("runtime/routines/matrix/f.h", "runtime/routines/matrix", "catalogue/tile.h"),
                 ("runtime/routines/new/d.h", "runtime", "convolution/conv2d/direct.h"),
                 ("runtime/routines/pooling/c.h", "runtime/routines/pooling",
                  "convolution/conv2d/direct.h"),
                 ("runtime/routines/tiles/b.h", "runtime/routines/tiles",
                  "convolution/conv2d/direct.h"),
                 ("runtime/simd/a.h", "runtime/simd", None),
                 ("runtime/simd/vec.h", "runtime/simd", "convolution/conv2d/direct.h"))])

    def test_encodings_alone_read_matrices(self):
        matrices = '#include "runtime/routines/convolution/conv2d/winograd_matrices.h"\n'
        self.assertEqual(
            self.found(dialects__nn__encodings__a_DOT_cpp=matrices,
                       dialects__nn__b_DOT_cpp=matrices, codegen__c_DOT_cpp=matrices),
            [f"{file}: {folder}/ may not include runtime/routines/convolution/conv2d/winograd_matrices.h"
             for file, folder in (("codegen/c.cpp", "codegen"), ("dialects/nn/b.cpp", "dialects/nn"))])

    def test_dialects_keep_their_order(self):
        self.assertEqual(
            self.found(dialects__target__a_DOT_h='#include "dialects/nn/Nn.h"\n',
                       dialects__nn__moves__b_DOT_cpp='#include "dialects/target/Target.h"\n'
                                                      '#include "dialects/qnn/Qnn.h"\n',
                       dialects__qnn__c_DOT_cpp='#include "dialects/exec/Exec.h"\n',
                       dialects__evaluate__d_DOT_cpp='#include "compiler/patterns/P.h"\n'
                                                     '#include "runtime/reference.h"\n'),
            ["dialects/evaluate/d.cpp: dialects/evaluate/ may not include "
             "compiler/patterns/P.h",
             "dialects/nn/moves/b.cpp: dialects/nn/ may not include dialects/qnn/Qnn.h",
             "dialects/qnn/c.cpp: dialects/qnn/ may not include dialects/exec/Exec.h",
             "dialects/target/a.h: dialects/target/ may not include dialects/nn/Nn.h"])

    def test_rooms_of_the_compiler_keep_their_order(self):
        self.assertEqual(
            self.found(compiler__search__a_DOT_cpp='#include "dialects/nn/Nn.h"\n',
                       compiler__routines__b_DOT_cpp='#include "compiler/search/S.h"\n'
                                                     '#include "compiler/passes/P.h"\n'),
            ["compiler/routines/b.cpp: compiler/routines/ may not include "
             "compiler/passes/P.h",
             "compiler/search/a.cpp: compiler/search/ may not include dialects/nn/Nn.h"])

    def test_no_folder_may_include_another_in_a_circle(self):
        folders = {folder: {pattern.removesuffix("/*") for pattern in rule[0]} - {folder}
                   for folder, rule in may_include.TABLE.items() if "*" not in rule[0]}
        while folders:
            leaves = [f for f, others in folders.items() if not others & folders.keys()]
            self.assertTrue(leaves, f"a circle among {sorted(folders)}")
            for leaf in leaves:
                del folders[leaf]

    def test_rooms_of_the_programs_keep_their_order(self):
        self.assertEqual(
            self.found(compiler__tools__driver__import__a_DOT_cpp=
                       '#include "frontends/Registry.h"\n'
                       "#include <fmt/format.h>\n"
                       '#include "compiler/tools/driver/options/ModelOptions.h"\n'
                       '#include "compiler/tools/driver/compile/Driver.h"\n',
                       compiler__tools__nnc__options__b_DOT_cpp=
                       "#include <CLI/CLI.hpp>\n"
                       '#include "compiler/tools/nnc/commands/Command.h"\n'),
            ["compiler/tools/driver/import/a.cpp: compiler/tools/driver/import/ may not include "
             "compiler/tools/driver/compile/Driver.h",
             "compiler/tools/nnc/options/b.cpp: compiler/tools/nnc/options/ may not include "
             "compiler/tools/nnc/commands/Command.h"])

    def test_the_compiler_does_not_see_the_programs(self):
        self.assertEqual(
            self.found(compiler__passes__a_DOT_cpp=
                       '#include "compiler/tools/driver/console/Terminal.h"\n'),
            ["compiler/passes/a.cpp: compiler/passes/ may not include "
             "compiler/tools/driver/console/Terminal.h"])

    def test_every_folder_of_the_programs_has_a_row(self):
        for folder in {str(p.parent) for p in may_include.tree.files("compiler/tools/*.cpp")}:
            rule = may_include.rule_of(folder + "/x.cpp")
            self.assertTrue(rule and rule.startswith("compiler/tools/"), folder)

    def test_tablegen_includes_count(self):
        self.assertEqual(
            self.found(dialects__a_DOT_td='include "mlir/IR/OpBase.td"\n'
                                          'include "compiler/b.td"\n'),
            ["dialects/a.td: dialects/ may not include compiler/b.td"])

    def test_comments_do_not_count(self):
        self.assertEqual(self.found(runtime__a_DOT_h="// #include <vector>\n"), [])

    def libraries(self, link):
        """Libraries of three folders, of which that of memory has the line `link`."""
        return dict(
            compiler__memory__CMakeLists_DOT_txt=
            "nnc_add_library(nnc_compiler_memory M.cpp)\n"
            f"target_link_libraries(nnc_compiler_memory PUBLIC {link})\n",
            compiler__passes__CMakeLists_DOT_txt="nnc_add_library(nnc_compiler_passes P.cpp)\n",
            compiler__CMakeLists_DOT_txt="add_library(nnc_compiler INTERFACE)\n",
            dialects__CMakeLists_DOT_txt="nnc_add_library(nnc_dialects nn/Nn.cpp qnn/Qnn.cpp)\n")

    def test_links_follow_the_table(self):
        self.assertEqual(self.found(**self.libraries("nnc::dialects")), [])
        self.assertEqual(
            self.found(**self.libraries("nnc::compiler_passes nnc::dialects")),
            ["compiler/memory/CMakeLists.txt: compiler/memory/ may not link "
             "nnc::compiler_passes"])

    def test_no_library_links_all_of_the_compiler(self):
        self.assertEqual(
            self.found(**self.libraries("nnc::compiler")),
            ["compiler/memory/CMakeLists.txt: compiler/memory/ may not link all of "
             "nnc::compiler"])

    def test_sources_in_one_subfolder_are_a_library_of_that(self):
        self.assertEqual(
            self.found(frontends__CMakeLists_DOT_txt=
                       "nnc_add_library(nnc_frontends_tflite tflite/A.cpp tflite/B.cpp)\n"
                       "nnc_add_library(nnc_frontends_onnx onnx/A.cpp)\n"
                       "target_link_libraries(nnc_frontends_onnx\n"
                       "  PRIVATE nnc::frontends_tflite)\n"),
            ["frontends/CMakeLists.txt: frontends/onnx/ may not link nnc::frontends_tflite"])


if __name__ == "__main__":
    unittest.main()
