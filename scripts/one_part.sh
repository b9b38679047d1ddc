#!/bin/bash
# one_part.sh NUMBER/COUNT -- of the lines it reads, those of one of COUNT parts.
# SPDX-License-Identifier: Apache-2.0
exec awk -v part="${1%/*}" -v count="${1#*/}" 'NR % count == part % count'
