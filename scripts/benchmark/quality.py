"""What encoder settings cost and give on the bench's workloads, which `--quality` is chosen by: processor time, bytes,
likeness (SSIM) and the share of words that a text recogniser still reads. The same drawn frames are encoded with each
setting, the settings in turns, so that what else the machine does meets all of them. The figures that the present qualities
were chosen by are in results/, taken on two busy processors: their bytes, likeness and words are exact, their times are not.

    scripts/bench quality [--frames N] [--rounds N] [--size WxH] [--workload NAME]... [--output FILE]
"""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

import measures
from bench import BIN, HERE, ROOT, Display

# What a recorder needs of x264 whatever is chosen: each frame out before the next is in (ARCHITECTURE.md, "How a frame
# travels"), no keyframe but those it is told to make.
COMMON = ["-tune", "zerolatency", "-bf", "0", "-g", "300", "-keyint_min", "1"]


def candidate(preset, rate, parameters="", threads=1, pixels="yuv420p"):
    words = ["-c:v", "libx264" if pixels == "yuv420p" else "libx264rgb", "-preset", preset, *COMMON, *rate,
             "-threads", str(threads)]
    return {"preset": preset, "rate": " ".join(rate), "parameters": parameters, "threads": threads, "pixels": pixels,
            "words": words + (["-x264-params", parameters] if parameters else [])}


def crf(value):
    return ["-crf", str(value)]


def qp(value):
    return ["-qp", str(value)]


def candidates(cores):
    """Presets at x264's own rate factor, on one thread and on all; then quantisers, with what costs or saves most."""
    found = [candidate(preset, crf(23), threads=threads)
             for preset in ("ultrafast", "superfast", "veryfast", "faster", "medium")
             for threads in ((1, cores) if cores > 1 and preset in ("ultrafast", "superfast") else (1,))]
    found += [candidate("ultrafast", qp(value)) for value in (19, 21, 23)]
    found += [candidate("ultrafast", qp(value), "scenecut=40") for value in (18, 19, 20, 21, 23)]
    found += [candidate("ultrafast", qp(21), "scenecut=40:" + parameters) for parameters in (
        "cabac=1", "cabac=1:partitions=i4x4", "partitions=p8x8,i8x8,i4x4:8x8dct=1", "subme=1", "ref=2", "weightp=1",
        "me=hex", "aq-mode=1")]
    found += [candidate("ultrafast", qp(21), "ref=2"), candidate("ultrafast", qp(21), "me=hex:merange=24")]
    found += [candidate("superfast", qp(21), parameters) for parameters in ("", "subme=0", "subme=0:no-cabac=1",
                                                                            "scenecut=0", "no-deblock=1", "weightp=0")]
    found += [candidate("superfast", crf(23), "tune=animation"), candidate("superfast", crf(20)), candidate("superfast", crf(26))]
    found += [candidate("veryfast", qp(23)), candidate("veryfast", qp(23), "ref=3"), candidate("faster", qp(23)),
              candidate("medium", qp(23))]
    return found + [candidate(preset, qp(0), parameters, pixels="bgr0") for preset, parameters in (
        ("ultrafast", ""), ("ultrafast", "scenecut=40"), ("superfast", ""), ("veryfast", ""))]


class Frames:
    """The drawn frames of one workload: raw files in both pixel formats, and the words in the last one."""

    def __init__(self, name, size, count, layout, work):
        self.name, self.size, self.count, self.folder = name, size, count, tempfile.mkdtemp(dir=work)
        display = Display(size, self.folder)
        try:
            numbers = [str(number) for number in range(1, count + 1)]
            subprocess.run(["/usr/bin/python3", f"{HERE}/workloads.py", name, "30", json.dumps(layout), self.folder]
                           + numbers, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"DISPLAY": display.name})
        finally:
            display.close()
        with open(f"{self.folder}/bgr0", "wb") as out:
            for number in range(1, count + 1):
                path = f"{self.folder}/{number}.bgrx"
                with open(path, "rb") as drawn:
                    out.write(drawn.read())
                os.remove(path)
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", *self.words("bgr0"), "-pix_fmt", "yuv420p", "-f", "rawvideo",
                        f"{self.folder}/yuv420p"], check=True)
        self.text = self.recognised(["-ss", str((count - 1) / 30), *self.words("bgr0")])

    def words(self, pixels):
        return ["-f", "rawvideo", "-pixel_format", pixels, "-video_size", self.size, "-framerate", "30", "-i",
                f"{self.folder}/{pixels}"]

    def recognised(self, picture):
        return measures.recognised(picture, self.folder)

    def cpu(self, words, out):
        """Processor seconds a frame that ffmpeg takes."""
        process = subprocess.Popen(["ffmpeg", "-nostdin", "-v", "error", "-y", *words, *out])
        seconds, _ = measures.finish(process)
        return seconds / self.count

    def measure(self, one, first):
        """One encoding; likeness and words the first time, since they do not change."""
        path, source = f"{self.folder}/out.mkv", self.words(one["pixels"])
        reading = self.cpu(source, ["-c:v", "copy", "-f", "null", "-"])
        result = {"cpu_ms": max(0, self.cpu(source, [*one["words"], path]) - reading) * 1000}
        if not first:
            return result
        log = subprocess.run(["ffmpeg", "-nostdin", "-i", path, *self.words("yuv420p"), "-lavfi",
                              "[0]format=yuv420p[a];[a][1]ssim", "-f", "null", "-"], stderr=subprocess.PIPE, text=True)
        found = self.recognised(["-ss", str((self.count - 1) / 30), "-i", path])
        return result | {
            "bytes": os.path.getsize(path) / self.count,
            "ssim": float(re.findall(r"All:([0-9.]+)", log.stderr)[-1]) if one["pixels"] == "yuv420p" else 1.0,
            "words": len(self.text & found) / len(self.text) if self.text else None}


def is_best(one, rows, workload):
    """Whether no other setting is at once as fast, as small, as like and as legible, and better in one of them."""
    def merits(row):
        found = row["results"][workload]
        return (-found["cpu_ms"], -found["bytes"], found["ssim"], found["words"] or 0)
    mine = merits(one)
    return not any(merits(row) != mine and all(a >= b for a, b in zip(merits(row), mine)) for row in rows)


def show(rows, workloads):
    print("* where no other is at once as fast, small, like and legible.")
    print(f"{'preset':10}{'rate':9}{'threads':>8} {'parameters':44}" + "".join(
        f"{name + ' ms':>13}{'kB':>8}{'SSIM':>8}{'words':>7}" for name in workloads))
    for one in rows:
        cells = ""
        for name in workloads:
            found = one["results"][name]
            words = "" if found["words"] is None else f"{found['words']:.0%}"
            mark = "*" if is_best(one, rows, name) else " "
            cells += f"{found['cpu_ms']:12.2f}{mark}{found['bytes'] / 1000:8.1f}{found['ssim']:8.4f}{words:>7}"
        print(f"{one['preset']:10}{one['rate']:9}{one['threads']:8} {one['parameters']:44}{cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--workload", choices=["office", "terminal", "motion", "corner"], action="append")
    parser.add_argument("--output", help="where the raw figures go, as JSON")
    options = parser.parse_args()
    layout = json.loads(subprocess.run([f"{BIN}/test-pattern", "layout"], stdout=subprocess.PIPE, check=True).stdout)
    workloads = options.workload or ["office", "terminal", "motion"]
    rows = candidates(os.cpu_count())
    with tempfile.TemporaryDirectory(prefix="recorder-quality-") as work:
        for name in workloads:
            frames = Frames(name, options.size, options.frames, layout, work)
            runs = [[] for _ in rows]
            for number in range(options.rounds):
                for one, results in zip(rows, runs):
                    results.append(frames.measure(one, first=number == 0))
                print(".", end="", file=sys.stderr, flush=True)
            for one, results in zip(rows, runs):
                one.setdefault("results", {})[name] = results[0] | {
                    # What else the machine does only adds.
                    "cpu_ms": min(result["cpu_ms"] for result in results)}
        print(file=sys.stderr)
    show(rows, workloads)
    output = options.output or f"{ROOT}/bench-results/quality-{datetime.datetime.now():%Y%m%dT%H%M%S}.json"
    os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
    with open(output, "w") as file:
        json.dump({"date": datetime.date.today().isoformat(), "size": options.size, "frames": options.frames,
                   "rounds": options.rounds, "candidates": rows}, file, indent=1)
    print(f"\nRaw figures: {output}")


if __name__ == "__main__":
    main()
