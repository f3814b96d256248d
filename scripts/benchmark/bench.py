"""Compares recorder with ffmpeg's x11grab and SimpleScreenRecorder on virtual displays: processor time, memory, frames,
times, size and quality. The recorders take turns, so that what else the machine does meets all of them; ratios are what
carries over to another machine.

Table "same" has codec, preset and rate factor the same for all and no sound; "default" each recorder's own default; "sound"
is as "same" with the sound of the desktop.

    scripts/bench [--quick] [--table same|default|sound]... [--workload NAME]... [--seconds N] [--runs N] [--output FILE]
"""
import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

import endings
import measures
import seeks
from peers import PEERS
from tables import show
from verdicts import line, verdicts
from workloads import WORKLOADS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BIN = f"{ROOT}/.build/release"
# Table one of the comparison: the same for all.
SAME = {"preset": "ultrafast", "crf": 23}
DEFAULTS = {"preset": None, "crf": None}
# Seconds from a file's first bytes until what a second costs is measured: starting and ending are told apart, by what they
# cost once.
SETTLING = 1


def wait_for(what, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    sys.exit(f"bench: {what} did not come.")


class Display:
    """An X server of the bench's own."""

    def __init__(self, size, work):
        reading, writing = os.pipe()
        with open(f"{work}/xvfb.log", "ab") as log:
            self.server = subprocess.Popen(
                ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{size}x24", "-noreset", "-nolisten", "tcp"],
                pass_fds=[writing], stdout=log, stderr=log)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.name = f":{pipe.readline().strip()}"
        if self.name == ":":
            sys.exit("bench: the virtual display did not start.")

    def close(self):
        self.server.terminate()
        self.server.wait()


class Sound:
    """A sound server of the bench's own, on whose output a tone plays without end."""

    def __init__(self):
        self.process = subprocess.Popen([f"{HERE}/../rig-sound", "sh", "-c", "echo $PULSE_SERVER; cat"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.server = self.process.stdout.readline().strip()
        if not self.server:
            sys.exit("bench: the sound server did not start.")
        subprocess.run(["pactl", "load-module", "module-sine", "sink=desktop", "frequency=440"], check=True,
                       stdout=subprocess.DEVNULL, env=os.environ | {"PULSE_SERVER": self.server})

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Workload:
    """A running client, and what it says it has drawn."""

    def __init__(self, name, fps, layout, environment, work):
        self.path = f"{work}/drawn"
        with open(self.path, "wb") as out:
            self.process = subprocess.Popen(
                ["/usr/bin/python3", f"{HERE}/workloads.py", name, str(fps), json.dumps(layout)], stdout=out,
                env=environment)
        wait_for(f"the workload {name}", lambda: "ready" in self.text())

    def text(self):
        with open(self.path) as file:
            return file.read()

    def drawn(self):
        lines = [line.split() for line in self.text().splitlines()]
        return {int(line[0]): int(line[1]) for line in lines if len(line) == 2}

    def close(self):
        self.process.terminate()
        self.process.wait()


def run(peer_class, workload_name, settings, layout, seconds, work, judge):
    folder = tempfile.mkdtemp(dir=work)
    display = Display(settings["size"], folder)
    environment = os.environ | {"DISPLAY": display.name}
    environment.pop("WAYLAND_DISPLAY", None)
    if settings["sound"]:
        environment["PULSE_SERVER"] = settings["sound"]
    workload = Workload(workload_name, settings["fps"], layout, environment, folder)
    try:
        peer = peer_class(settings, folder, environment)
        began = time.monotonic_ns()
        peer.start()
        wait_for(f"{peer.name}'s file", lambda: peer.file() and os.path.exists(peer.file()) and os.path.getsize(peer.file()))
        time.sleep(SETTLING)
        before = measures.Reading([peer.process.pid, display.server.pid])
        time.sleep(seconds)
        stopped = time.monotonic_ns()
        cpu, server = measures.Reading([peer.process.pid, display.server.pid]).rates(since=before)
        peer.stop()
        whole, memory = measures.finish(peer.process)
        ended = time.monotonic_ns()
        drawn = workload.drawn()
    finally:
        workload.close()
        display.close()
    recorded = (stopped - began) / 1e9
    file = peer.file()
    if not file or not os.path.exists(file):
        with open(f"{folder}/log") as log:
            sys.exit(f"bench: {peer.name} left no file:\n{log.read()}")
    result = {"cpu": cpu, "once": whole - cpu * recorded, "server": server, "memory_mib": memory,
              "stop_ms": (ended - stopped) / 1e6, "bytes": os.path.getsize(file) / recorded}
    if grabbed := peer.first_grab():
        result["grab_ms"] = (grabbed - began) / 1e6
    if workload_name not in ("static", "pointer"):
        found = measures.frames(file, layout, drawn)
        numbers, first = found.pop("numbers"), found.pop("first")
        result |= found | {"start_ms": (first - began) / 1e6 if first else None}
        if judge and numbers:
            shown = sorted({number for number in numbers if number in drawn})
            wanted = [shown[len(shown) * part // 4] for part in (1, 2, 3)]
            result |= measures.quality(
                file, numbers, wanted,
                lambda target, frames: draw_reference(workload_name, settings, layout, target, frames, folder),
                settings["size"], folder)
    shutil.rmtree(folder)
    return result


def draw_reference(name, settings, layout, folder, numbers, work):
    display = Display(settings["size"], work)
    try:
        subprocess.run(["/usr/bin/python3", f"{HERE}/workloads.py", name, str(settings["fps"]), json.dumps(layout), folder]
                       + [str(number) for number in numbers], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"DISPLAY": display.name})
    finally:
        display.close()


def compare(table, workload, size, fps, seconds, count, layout, work, sound=None):
    settings = (SAME if table != "default" else DEFAULTS) | {"size": size, "fps": fps, "bin": BIN, "sound": sound}
    runs = {peer.name: [] for peer in PEERS}
    for number in range(count):
        for peer in PEERS:
            runs[peer.name].append(run(peer, workload, settings, layout, seconds, work, judge=number == 0))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {"table": table, "workload": workload, "size": size, "fps": fps, "seconds": seconds, "runs": runs}


def processor():
    """The processor's name, as the kernel tells it."""
    with open("/proc/cpuinfo") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short run each at 1080p30: a few minutes")
    parser.add_argument("--table", choices=["same", "default", "sound"], action="append")
    parser.add_argument("--workload", choices=sorted(WORKLOADS), action="append")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--output", help="where the raw figures go, as JSON")
    options = parser.parse_args()
    seconds = options.seconds or (4 if options.quick else 6)
    count = options.runs or (1 if options.quick else 5)
    layout = json.loads(subprocess.run([f"{BIN}/test-pattern", "layout"], stdout=subprocess.PIPE, check=True).stdout)
    names = options.workload or list(WORKLOADS)
    plans = []
    for table in options.table or (["same"] if options.quick else ["same", "default", "sound"]):
        # With sound its own share shows on a still screen and beside pictures; the rest is as without.
        shown = [name for name in names if table != "sound" or name in ("static", "office", "terminal")]
        plans += [(table, name, "1920x1080", 30, count if table != "sound" else min(count, 3)) for name in shown]
        if not options.quick and table == "same":
            for name in ("terminal", "motion"):
                if name in names:
                    plans += [(table, name, "1920x1080", 60, min(count, 3)), (table, name, "3840x2160", 30, min(count, 3))]
    results = []
    sound = Sound() if any(plan[0] == "sound" for plan in plans) else None
    try:
        with tempfile.TemporaryDirectory(prefix="recorder-bench-") as work:
            for table, name, size, fps, runs in plans:
                results.append(compare(table, name, size, fps, seconds, runs, layout, work,
                                       sound.server if table == "sound" else None))
                show(results[-1])
    finally:
        if sound:
            sound.close()
    verdicts(results)
    with tempfile.TemporaryDirectory(prefix="recorder-bench-") as work:
        endings.verdicts(BIN, Display, work, count, line)
        seeks.verdicts(BIN, Display, lambda name, environment, folder: Workload(name, 30, layout, environment, folder), work, count,
                       line)
    output = options.output or f"{ROOT}/bench-results/{datetime.datetime.now():%Y%m%dT%H%M%S}.json"
    os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
    with open(output, "w") as file:
        json.dump({"date": datetime.date.today().isoformat(), "machine": processor(),
                   "cores": os.cpu_count(), "results": results}, file, indent=1)
    print(f"\nRaw figures: {output}")


if __name__ == "__main__":
    main()
