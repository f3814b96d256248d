"""The same faults for recorder, ffmpeg's x11grab and SimpleScreenRecorder, in one table: what is lost when they are killed, on
a screen that changes and on a still one, when the disk is full and when the X server ends. What is lost is judged by a clock
that is drawn into the picture, never by what a file says of its length.

    scripts/torture peers [--bin FOLDER] [--quick]
"""
import argparse
import json
import os
import platform
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

import measures
from bench import ROOT, Display, wait_for
from peers import FFmpeg, Recorder, SimpleScreenRecorder

SIZE, FPS = "640x480", 30
# A full disk is one of so many MB.
DISK = 2


class FFmpegMP4(FFmpeg):
    name = "ffmpeg MP4"

    def file(self):
        return f"{self.folder}/ffmpeg.mp4"


class FFmpegMKV(FFmpeg):
    name = "ffmpeg MKV"


class SSR(SimpleScreenRecorder):
    name = "SimpleScreenRecorder MKV"


class Clock:
    """A window that shows a counter: a busy one FPS times a second, a still one once. What it has drawn is known."""

    def __init__(self, program, folder, environment, busy):
        self.path = f"{folder}/drawn"
        with open(self.path, "wb") as out:
            self.process = subprocess.Popen([program, "counter", "--fps", str(FPS if busy else 0)], stdin=subprocess.PIPE,
                                            stdout=out, env=environment)
        wait_for("the clock", lambda: "ready" in self.text())

    def text(self):
        with open(self.path) as file:
            return file.read()

    def draw(self):
        self.process.stdin.write(b"next\n")
        self.process.stdin.flush()

    def drawn(self):
        lines = [line.split() for line in self.text().splitlines() if line.startswith("frame ")]
        return {int(line[1]): int(line[2]) / 1e9 for line in lines if len(line) == 3}

    def close(self):
        self.process.terminate()
        self.process.wait()


class Run:
    """One recorder in one run, until `end` has been done to it."""

    def __init__(self, peer_class, program, layout, work, busy, seconds, end, full=False):
        self.folder = tempfile.mkdtemp(dir=work)
        place = f"{self.folder}/disk"
        os.mkdir(place)
        self.display = Display(SIZE, self.folder)
        environment = os.environ | {"DISPLAY": self.display.name, "XDG_RUNTIME_DIR": self.folder}
        environment.pop("WAYLAND_DISPLAY", None)
        settings = {"size": SIZE, "fps": FPS, "bin": program, "sound": False, "preset": "ultrafast", "crf": 0 if full else 23}
        self.peer = peer_class(settings, place, environment)
        self.clock = Clock(f"{program}/test-pattern", self.folder, environment, busy)
        noise = None
        try:
            if full:
                self.fill(environment)
                noise = subprocess.Popen(
                    ["xterm", "-geometry", "80x20+0+60", "-e", "sh", "-c",
                     "while :; do head -c 1400 /dev/urandom | base64 -w 0; sleep 0.02; done"], env=environment,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.peer.start()
            if not full:
                wait_for(f"{self.peer.name}'s file", lambda: self.peer.file() and os.path.exists(self.peer.file()))
            began = time.monotonic()
            # The recorders that show a picture first are given a second; then the still screen is drawn for the last time.
            time.sleep(1)
            if not busy:
                self.clock.draw()
            time.sleep(max(0, began + seconds - time.monotonic()))
            self.ended = time.monotonic()
            self.code = end(self)
        finally:
            if noise:
                noise.kill()
                noise.wait()
            self.clock.close()
            self.display.close()
        if full and os.path.isdir(f"{self.folder}/kept"):
            shutil.rmtree(place)
            os.rename(f"{self.folder}/kept", place)
        if peer_class is Recorder:
            subprocess.run([f"{program}/recorder", "recover"], env=environment | self.peer.variables(),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.judge(layout)

    def fill(self, environment):
        """Has the recorder's folder be a disk of its own, which goes with it and is copied before."""
        command = self.peer.command()
        if isinstance(self.peer, Recorder):
            command += ["--min-free", "0", "--warn-free", "0"]
        script = f'mount -t tmpfs -o size={DISK}m tmpfs "$0/disk" || exit 99; "$@"; code=$?; cp -a "$0/disk" "$0/kept"; exit $code'
        # SimpleScreenRecorder's settings are written before the disk is there.
        if isinstance(self.peer, SimpleScreenRecorder):
            shutil.move(f"{self.folder}/disk/settings.conf", f"{self.folder}/settings.conf")
            command = [word.replace("/disk/settings.conf", "/settings.conf") for word in command]
        whole = ["unshare", "-rm", "sh", "-c", script, self.folder] + command
        self.peer.command = lambda: whole

    def wait(self, seconds=20):
        """The exit code; nothing when it goes on."""
        try:
            return self.peer.process.wait(seconds)
        except subprocess.TimeoutExpired:
            kill(self)
            return None

    def judge(self, layout):
        """Seconds that are missing before the end by the drawn clock; nothing when no picture can be read."""
        self.lost, self.mode, file = None, None, self.peer.file()
        if not file or not os.path.exists(file):
            return
        self.mode = oct(stat.S_IMODE(os.stat(file).st_mode))[2:]
        drawn, seen, stamps = self.clock.drawn(), measures.counters(file, layout), measures.times(file)
        known = [(number, stamp) for number, stamp in zip(seen, stamps) if number in drawn]
        if not known:
            return
        # When the file's time 0 was, by the first showing of the last number but one, or the only one.
        number = known[-1][0] if len(set(known)) < 2 else known[len(known) // 2][0]
        first = min(stamp for other, stamp in known if other == number)
        # What stands until the end is there, though no frame says so again: the length is where the last picture ends.
        length = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file],
                                stdout=subprocess.PIPE, text=True).stdout.strip()
        end = max(stamps[-1], float(length) if isinstance(self.peer, Recorder) and length not in ("", "N/A") else 0)
        self.lost = max(0, self.ended - (drawn[number] - first + end))


def kill(run):
    os.killpg(run.peer.process.pid, signal.SIGKILL)
    return run.peer.process.wait()


def terminate(run):
    run.peer.process.send_signal(signal.SIGTERM)
    return run.wait()


def lose_display(run):
    run.display.server.kill()
    return run.wait()


def fill_up(run):
    return run.wait(1)


def code(value):
    return "goes on" if value is None else f"exit {value}" if value >= 0 else f"signal {-value}"


def seconds(run):
    return "everything" if run.lost is None else f"{run.lost:.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=f"{ROOT}/.build/debug", help="where the built programs are")
    parser.add_argument("--quick", action="store_true", help="kill after 9 seconds only")
    options = parser.parse_args()
    layout = json.loads(subprocess.run([f"{options.bin}/test-pattern", "layout"], stdout=subprocess.PIPE, check=True).stdout)
    lengths = [9] if options.quick else [9, 40]
    peers = [Recorder, FFmpegMKV, FFmpegMP4, SSR]
    rows = {}

    def note(row, cell):
        rows.setdefault(row, []).append(cell)
        print(f"{row}: {cell}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="recorder-faults-") as work:
        for peer in peers:
            print(f"{peer.name}", file=sys.stderr)

            def run(*arguments, **others):
                return Run(peer, options.bin, layout, work, *arguments, **others)

            for length in lengths:
                for busy in (True, False):
                    one = run(busy, length, kill)
                    note(f"lost by kill -9 after {length} s, {'busy' if busy else 'still'}", seconds(one))
            note("mode of the file", one.mode or "none")
            one = run(True, 5, terminate)
            note("TERM", f"{code(one.code)}, lost {seconds(one)}")
            one = run(True, 5, lose_display)
            note("the X server ends", f"{code(one.code)}, lost {seconds(one)}")
            one = run(True, 20, fill_up, full=True)
            note("the disk is full", f"{code(one.code)}, {'plays' if one.lost is not None else 'nothing plays'}")
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, {platform.system()} {platform.release()}\n")
    print("| | " + " | ".join(peer.name for peer in peers) + " |")
    print("|---" * (len(peers) + 1) + "|")
    for row, cells in rows.items():
        print(f"| {row} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
