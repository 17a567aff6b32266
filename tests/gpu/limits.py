"""What the device can do at best, measured as `csd bench` measures it."""

from __future__ import annotations

import sys
from pathlib import Path

from csd.bench.limits import COPIED_BYTES, MATRIX_ROWS, measure_copy_rate, measure_flops
from gpu.figures import Figure, Figures
from gpu.table import COPY


def main(device: str, path: Path) -> None:
    figures, dtype = Figures(path), "bfloat16" if device == "cuda" else "float32"
    size, rows = COPIED_BYTES[device], MATRIX_ROWS[device]
    copy_text = f"read and write, {size // 2**20} MiB"
    product = f"matrix product, {rows} rows, {dtype}"
    figures.measure(COPY, lambda: Figure(COPY, measure_copy_rate(device, size) / 1e9, "GB/s", copy_text))
    figures.measure(product, lambda: Figure(product, measure_flops(device, dtype, rows) / 1e12, "TFLOP/s"))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
