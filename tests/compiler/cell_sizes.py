"""How wide the cells of modern_cells.py are: small, as tests want them. Who wants others puts a module of this name before it.

SPDX-License-Identifier: Apache-2.0
"""
ROWS, FEATURES, UNITS, SMALL, HEADS = 2, 6, 8, 4, 2
