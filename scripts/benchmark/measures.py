"""What is read from a run: processor time from the kernel, and frames, times and quality from the file."""
import os
import re
import statistics
import subprocess
import tempfile
import time


class Reading:
    """What running processes have used until now: user and system time of each, by the kernel's clock of a process."""

    def __init__(self, pids):
        # The clock's number as the kernel makes it of a process (linux/posix-timers.h): all its threads, in ns.
        self.used = [time.clock_gettime_ns((~pid << 3) | 2) for pid in pids]
        self.time = time.monotonic_ns()

    def rates(self, since):
        """Seconds of processor time that each took in a second since then."""
        return [(now - then) / (self.time - since.time) for now, then in zip(self.used, since.used)]


def finish(process, timeout=60):
    """Waits for the end. Returns user and system seconds and the peak of resident memory in MiB."""
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def counters(path, layout):
    """The drawn counter of every picture in `path`; None where it cannot be read."""
    cell, margin, bits = layout["cell"], layout["margin"], layout["bits"]
    width, height = bits * cell + 2 * margin, 2 * cell + 2 * margin
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "quiet", "-i", path, "-vf", f"crop={width}:{height}:0:0,format=gray",
                          "-fps_mode", "passthrough", "-f", "rawvideo", "-"], stdout=subprocess.PIPE).stdout
    found = []
    for start in range(0, len(raw) - width * height + 1, width * height):
        rows = [0, 0]
        for row in (0, 1):
            line = start + (margin + row * cell + cell // 2) * width + margin + cell // 2
            for bit in range(bits):
                if raw[line + bit * cell] > 127:
                    rows[row] |= 1 << bit
        # The second row is the first one's complement: a torn or blurred counter is none.
        found.append(rows[0] if rows[0] ^ rows[1] == (1 << bits) - 1 else None)
    return found


def times(path):
    """Every picture's time in seconds."""
    text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of",
                           "csv=p=0", path], stdout=subprocess.PIPE, text=True).stdout
    return sorted(float(word) for word in re.findall(r"[0-9.]+", text))


def frames(path, layout, drawn):
    """Frames missing and repeated, the spread of the time stamps around the times of drawing, and the first frame's
    time of drawing. `drawn`: counter → ns of CLOCK_MONOTONIC."""
    seen = counters(path, layout)
    stamps = times(path)
    known = [number for number in seen if number in drawn]
    if len(known) < 2:
        return {"missing": None, "repeated": None, "stamp_error_ms": None, "first": None, "numbers": []}
    missing = sum(known[0] <= number <= known[-1] for number in drawn) - len(set(known))
    first_shown = {}
    for number, stamp in zip(seen, stamps):
        if number in drawn:
            first_shown.setdefault(number, stamp)
    late = sorted(stamp * 1000 - drawn[number] / 1e6 for number, stamp in first_shown.items())
    # The file's time 0 is each recorder's own affair: what counts is how much the lateness varies (90 % of the frames).
    spread = late[int(len(late) * 0.95)] - late[int(len(late) * 0.05)]
    return {"missing": missing, "repeated": len(known) - len(set(known)), "stamp_error_ms": spread,
            "first": drawn[known[0]], "numbers": seen}


def quality(path, numbers, wanted, reference, size, work):
    """Mean SSIM (ffmpeg's, of the RGB planes) against the drawn pictures, and the share of words that a text recogniser
    reads of those it reads in the drawn one. `reference`: writes the drawn pictures of frame numbers to a folder."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        reference(folder, wanted)
        similar = []
        for number in wanted:
            shown = f"{folder}/{number}.png"
            subprocess.run(["ffmpeg", "-nostdin", "-v", "quiet", "-i", path, "-vf",
                            f"select=eq(n\\,{numbers.index(number)}),format=rgb24", "-frames:v", "1", shown], check=True)
            log = subprocess.run(["ffmpeg", "-nostdin", "-i", shown] + drawn_picture(folder, number, size) +
                                 ["-lavfi", "[0]format=gbrp[a];[1]format=gbrp[b];[a][b]ssim", "-f", "null", "-"],
                                 stderr=subprocess.PIPE, text=True).stderr
            similar += [float(value) for value in re.findall(r"All:([0-9.]+)", log)]
        there = recognised(drawn_picture(folder, wanted[-1], size), folder)
        kept = recognised(["-i", f"{folder}/{wanted[-1]}.png"], folder)
        return {"ssim": statistics.mean(similar) if similar else None,
                "words": len(there & kept) / len(there) if there else None}


def drawn_picture(folder, number, size):
    """ffmpeg's words for a picture that the workload wrote."""
    return ["-f", "rawvideo", "-pixel_format", "bgr0", "-video_size", size, "-i", f"{folder}/{number}.bgrx"]


def recognised(picture, folder):
    """The words that tesseract reads in the middle of a picture: a part, since a page takes it minutes; one thread, since
    its own threads only wait for each other."""
    part = f"{folder}/part.png"
    subprocess.run(["ffmpeg", "-nostdin", "-v", "quiet", "-y"] + picture +
                   ["-vf", "crop=800:240,format=gray", part], check=True)
    text = subprocess.run(["tesseract", part, "-", "--psm", "6"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, env=os.environ | {"OMP_THREAD_LIMIT": "1"}).stdout
    return set(re.findall(r"[a-z]{4,}", text))
