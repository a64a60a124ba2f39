"""Checks how machine_code.py compares kernels with its table, without nvcc."""

import unittest

import machine_code

TABLE = {("row_kernels", "softmax", 80): (40, 0, 0, 1024),
         ("row_kernels", "softmax", 90): (40, 0, 0, 1024),
         ("move_kernels", "copy", 80): (20, 0, 0, 0)}


class Compare(unittest.TestCase):
    def problems(self, *new):
        return list(machine_code.compare(TABLE, dict(new), "row_kernels", [80]))

    def test_growth(self):
        key = ("row_kernels", "softmax", 80)
        self.assertEqual(self.problems((key, (42, 0, 0, 1024))), [])
        self.assertEqual(self.problems((key, (43, 0, 4, 1024))),
                         ["softmax on sm_80 has registers 43, in machine_code.csv 40",
                          "softmax on sm_80 has spills 4, in machine_code.csv 0"])

    def test_other_kernels(self):
        self.assertEqual(self.problems((("row_kernels", "layer_norm", 80), (40, 0, 0, 0))),
                         ["layer_norm on sm_80 is not in machine_code.csv; --write adds it",
                          "softmax on sm_80 is in machine_code.csv, but no kernel; "
                          "--write removes it"])

    def test_committed_table(self):
        table = machine_code.read_table()
        self.assertEqual({sm for _, _, sm in table}, set(machine_code.SHARED_BYTES))
        for (source, kernel, sm), (registers, stack, spills, shared) in table.items():
            with self.subTest(source=source, kernel=kernel, sm=sm):
                self.assertTrue((machine_code.HERE / f"{source}.cu").exists())
                self.assertEqual((stack, spills), (0, 0))
                self.assertLessEqual(shared, machine_code.SHARED_BYTES[sm])
                self.assertTrue(0 < registers <= 255)


if __name__ == "__main__":
    unittest.main()
