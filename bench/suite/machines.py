"""What the machines of bench/results are called in pages and pictures.

SPDX-License-Identifier: Apache-2.0
"""

NAMES = {"amd-epyc-2-cores": "AMD EPYC (Zen 5)", "amd-epyc-family-25-model-17-2-cores": "AMD EPYC (Zen 4)",
         "amd-epyc-family-25-model-1-2-cores": "AMD EPYC (Zen 3, AVX2)",
         "intel-xeon-2-cores": "Intel Xeon (Cascade Lake, 2.5 GHz)", "intel-xeon-processor-2-cores": "Intel Xeon (Granite Rapids)",
         "intel-xeon-processor-2-80ghz-2-cores": "Intel Xeon (Ice Lake, 2.8 GHz)"}
