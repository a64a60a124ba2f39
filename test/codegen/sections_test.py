"""Tests weights in a section that the user names: they reach the program, or linking fails.

Each form of the weights is built for each machine that has a compiler. Linker scripts place the
section, discard it or do not load it. Then the program runs.
"""

import re
import shutil
import sys
import unittest

import modules

SECTION = "-DNNC_WEIGHTS_SECTION=.flash_weights"
ASSEMBLERS = ["gcc", "clang-19", "aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc",
              "arm-none-eabi-gcc", "clang-19 --target=arm-none-eabi",
              "clang-19 --target=riscv32-unknown-elf"]
# As linker scripts beside the linker's own.
PLACED = "SECTIONS { .flash : { *(.flash_weights) } } INSERT AFTER .rodata;"
DISCARDED = "SECTIONS { /DISCARD/ : { *(.flash_weights) } } INSERT BEFORE .rodata;"
NOT_LOADED = "SECTIONS { .flash (NOLOAD) : { *(.flash_weights) } } INSERT AFTER .bss;"


class Sections(modules.TestCase):
    def link(self, text):
        script = self.folder / "more.ld"
        script.write_text(text)
        return [f"-Wl,-T,{script}"]

    def test_flags(self):
        """The section is a part of the program: allocated, read-only, not empty, aligned."""
        embed, array = self.compile("embed"), self.compile("array", "--weights=array")
        for name in ASSEMBLERS:
            compiler = name.split()
            if not shutil.which(compiler[0]):
                print(f"{name} is missing")
                continue
            for source in embed / "network_weights.S", array / "network_weights.c":
                for section, flag in (".flash_weights", [SECTION]), (".rodata", []):
                    with self.subTest(compiler=name, source=source.name, section=section):
                        self.call(*compiler, "-c", f"-I{source.parent}", *flag, source, "-o", "w.o")
                        listed = self.check_section(section)
                        # A bare machine knows no such note: its linker does not want one.
                        is_linux = "linux" in name or name in ("gcc", "clang-19")
                        if source.suffix == ".S":
                            self.assertEqual("GNU-stack" in listed, is_linux)

    def check_section(self, section):
        listed = self.call("llvm-readelf-19", "--sections", "--wide", "w.o")
        (row,) = re.findall(rf" {section} +(\w+) +\w+ \w+ (\w+) \w+ +(\w*) +\d+ +\d+ +(\d+)$",
                            listed, re.MULTILINE)
        self.assertEqual((row[0], row[2], row[3]), ("PROGBITS", "A", "64"))
        size = (self.folder / "embed" / "network_weights.bin").stat().st_size
        self.assertEqual(int(row[1], 16), size)
        return listed

    def test_placed(self):
        """By the linker itself, and by a script: the weights are there."""
        for form in "embed", "array":
            folder = self.compile(form, f"--weights={form}")
            for script in None, PLACED:
                with self.subTest(form=form, script=script):
                    link = self.link(script) if script else []
                    self.check(self.build(folder, weights=[SECTION], link=link))

    def test_discarded(self):
        """A section that the script throws away is an error, not zeros."""
        for form in "embed", "array":
            folder = self.compile(form, f"--weights={form}")
            self.build(folder, weights=[SECTION], link=self.link(DISCARDED),
                       fails="network_weights.*discarded section")

    def test_not_loaded(self):
        """Memory that nobody fills is no weights: the module says so."""
        program = self.build(self.compile(), weights=[SECTION], link=self.link(NOT_LOADED))
        said = self.call(program).splitlines()
        wrong = modules.STATUS.index("WRONG_WEIGHTS")
        self.assertEqual(said[0], f"status {wrong}, weights {wrong}")
        self.assertEqual(set(said[1:]), {"0"}, "nothing was written")

    def test_emulated(self):
        """On another machine, where the weights lie at an address of their own."""
        for prefix, emulator in (("aarch64-linux-gnu", "qemu-aarch64"),
                                 ("arm-linux-gnueabihf", "qemu-arm")):
            with self.subTest(prefix):
                self.needs(f"{prefix}-g++", emulator)
                program = self.build(
                    self.compile(), (f"{prefix}-gcc", f"{prefix}-g++"), weights=[SECTION],
                    link=["-static", "-Wl,--section-start=.flash_weights=0x8000000"])
                self.check(emulator, program)
                self.assertRegex(self.call("llvm-readelf-19", "--symbols", program),
                                 r"\b0*8000000 .* network_weights\n")

    def test_microcontroller(self):
        """On a Cortex-M7 without a system: from flash, with picolibc."""
        self.needs("arm-none-eabi-g++", "qemu-system-arm",
                   "/usr/lib/picolibc/arm-none-eabi/picolibc.specs")
        memory = {"flash": 0, "flash_size": 0x400000, "ram": 0x20000000, "ram_size": 0x400000,
                  "stack_size": 0x4000}
        link = ["-Wl,--fatal-warnings", "--crt0=semihost", "--oslib=semihost",
                *(f"-Wl,--defsym=__{name}={value:#x}" for name, value in memory.items())]
        flags = ["--specs=picolibc.specs", "-mcpu=cortex-m7", "-mfpu=fpv5-d16",
                 "-mfloat-abi=hard"]
        for form in "embed", "array":
            for weights in [], [SECTION]:
                with self.subTest(form=form, weights=weights):
                    program = self.build(self.compile(form, f"--weights={form}"),
                                         ("arm-none-eabi-gcc", "arm-none-eabi-gcc"), flags,
                                         link, weights)
                    self.check("qemu-system-arm", "-M", "mps2-an500", "-nographic",
                               "-semihosting-config", "enable=on,target=native", "-kernel",
                               program)


if __name__ == "__main__":
    sys.exit(unittest.main())
