# SPDX-License-Identifier: BSD-3-Clause
"""What the macro benchmarks share: machine, processes, traffic, contenders, report."""
