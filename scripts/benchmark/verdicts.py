"""What must hold of what was measured, line by line."""
from peers import Recorder
from tables import median

# What must hold in table one at 1080p30: how many times the processor time of ours each peer takes.
BOUNDS = {"ffmpeg": {"static": 20, "office": 4, "terminal": 1.9, "motion": 1.4},
          "ssr": {"static": 20, "office": 2.2, "terminal": 1.25, "motion": 1.0}}
GOALS = {"ffmpeg": {"static": 90, "office": 4.8, "terminal": 2.1, "motion": 1.5},
         "ssr": {"static": 50, "office": 2.6, "terminal": 1.3, "motion": 1.0}}


def line(what, value, bound, holds):
    """Tells one thing that must hold: what was measured, and whether it holds."""
    print(f"{'held  ' if holds else 'NOT   '} {what}: {value} ({bound})")


def verdicts(results):
    """One line for each thing that must hold."""
    print("\nWhat must hold:")
    for result in results:
        runs, size, workload = result["runs"], result["size"], result["workload"]
        ours = runs[Recorder.name]
        name = f"{workload} {size}@{result['fps']}"
        if result["table"] == "same" and size == "1920x1080" and result["fps"] == 30:
            for peer, bounds in BOUNDS.items():
                if workload in bounds:
                    ratio = median(runs[peer], "cpu") / max(median(ours, "cpu"), 0.0005)
                    line(f"{name}, processor time of {peer} to ours", f"{ratio:.2f}x",
                         f"{bounds[workload]}x, goal {GOALS[peer][workload]}x", ratio >= bounds[workload])
            smaller = min(median(runs[peer], "bytes") for peer in BOUNDS)
            share = median(ours, "bytes") / smaller
            line(f"{name}, file to the smaller peer's", f"{share:.2f}x", "at most 1.1x", share <= 1.1)
            line(f"{name}, peak memory", f"{median(ours, 'memory_mib'):.0f} MiB", "at most 100 MiB",
                 median(ours, "memory_mib") <= 100)
            for key, what in (("grab_ms", "first frame after process start"), ("stop_ms", "stop to exit")):
                line(f"{name}, {what}", f"{median(ours, key):.0f} ms", "at most 100 ms", median(ours, key) <= 100)
        if result["table"] == "same" and median(ours, "missing") is not None:
            peers = min(median(runs[peer], "missing") for peer in BOUNDS)
            line(f"{name}, frames missing", f"{median(ours, 'missing'):.0f}", f"a peer has {peers:.0f}",
                 peers > 0 or median(ours, "missing") == 0)
        if result["table"] == "default" and workload in ("terminal", "motion"):
            ratio = median(runs["ssr"], "cpu") / max(median(ours, "cpu"), 0.0005)
            goal = {"terminal": 2.0, "motion": 1.5}[workload]
            line(f"{name}, SimpleScreenRecorder's default to ours", f"{ratio:.2f}x", f"goal {goal}x", ratio >= goal)
            mine, theirs = median(ours, "ssim"), median(runs["ssr"], "ssim")
            line(f"{name}, SSIM", f"{mine:.4f}", f"SimpleScreenRecorder {theirs:.4f}", mine >= theirs)
