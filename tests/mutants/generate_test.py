#!/usr/bin/env python3
"""generate_test.py -- what generate.py draws from a few lines, and that it leaves the others alone. SPDX-License-Identifier: Apache-2.0"""
import unittest

import generate

SOURCE = """// a < b in a comment
#define LESS(a, b) ((a) < (b))
static_assert(sizeof(int) == 4, "a < b");
int first(int a, int b) {
  const char *text = "a < b";
  if (a < b && b != 7) return 1;
  call(a, b.c);
  a += 2;
  std::vector<int> v = {3};
  prefetch(a + 1);
  return a - b;
}
"""


class Generate(unittest.TestCase):
    def setUp(self):
        self.found = generate.mutants_of("x.cpp", SOURCE)

    def lines(self, kind):
        """What the mutants of a kind make of their lines."""
        return [mutant.put_in(SOURCE).splitlines()[mutant.line - 1].strip() for mutant in self.found if mutant.kind == kind]

    def test_every_kind(self):
        self.assertEqual(self.lines("relation"), ["if (a <= b && b != 7) return 1;", "if (a < b && b == 7) return 1;"])
        self.assertEqual(self.lines("logic"), ["if (a < b || b != 7) return 1;"])
        self.assertEqual(self.lines("operand dropped"), ["if (a < b) return 1;"])
        self.assertEqual(self.lines("arguments swapped"), ["call(b.c, a);"])
        self.assertEqual(self.lines("sign"), ["return a + b;"])
        self.assertEqual(self.lines("check left out"), [";"])
        self.assertEqual(self.lines("statement left out"), [";", ";"])
        self.assertEqual(self.lines("constant"), ["if (a < b && b != 8) return 1;", "if (a < b && b != 7) return 2;", "a += 3;",
                                                  "std::vector<int> v = {4};"])

    def test_what_is_left_alone(self):
        self.assertTrue({1, 2, 3, 5, 10}.isdisjoint({mutant.line for mutant in self.found}))

    def test_a_seed_decides(self):
        places = ["src/format"]
        self.assertGreater(len(generate.draw(places, 1)), 500)
        self.assertEqual(generate.draw(places, 1), generate.draw(places, 1))
        self.assertNotEqual(generate.draw(places, 1), generate.draw(places, 2))

    def test_every_file_of_the_library_has_tests(self):
        for file in generate.sources(["src", "platform"]):
            self.assertEqual(len(generate.covering(file)), 2, file)


if __name__ == "__main__":
    unittest.main()
