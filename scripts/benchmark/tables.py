"""How what was measured is shown: medians, one line for each recorder."""
import statistics


def median(runs, key):
    values = [one[key] for one in runs if one.get(key) is not None]
    return statistics.median(values) if values else None


COLUMNS = [("cpu", "CPU s/s", "{:.4f}"), ("once", "once s", "{:.2f}"), ("server", "server", "{:.3f}"), ("memory_mib", "MiB", "{:.0f}"),
           ("missing", "missing", "{:.0f}"), ("repeated", "twice", "{:.0f}"), ("stamp_error_ms", "stamps ms", "{:.1f}"),
           ("start_ms", "start ms", "{:.0f}"), ("grab_ms", "grab ms", "{:.0f}"), ("stop_ms", "stop ms", "{:.0f}"), ("bytes", "kB/s", "{:.1f}"),
           ("ssim", "SSIM", "{:.4f}"), ("words", "words", "{:.0%}")]


def show(result):
    print(f"\n{result['workload']}, {result['size']} at {result['fps']} fps, table \"{result['table']}\"; medians of "
          f"{len(next(iter(result['runs'].values())))} runs of {result['seconds']} s")
    print(f"{'':10}" + "".join(f"{title:>11}" for _, title, _ in COLUMNS) + f"{'CPU ratio':>11}")
    ours = median(result["runs"]["recorder"], "cpu")
    for name, runs in result["runs"].items():
        cells = []
        for key, _, form in COLUMNS:
            value = median(runs, key)
            cells.append("" if value is None else form.format(value / 1000 if key == "bytes" else value))
        cells.append(f"{median(runs, 'cpu') / max(ours, 0.0005):.1f}x")
        print(f"{name:10}" + "".join(f"{cell:>11}" for cell in cells))
