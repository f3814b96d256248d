"""How long it takes to go to a moment of a busy recording: to the worst one, which is the last before a keyframe, since all from
the keyframe before it on is decoded. It is what `recorder frame` takes for that moment more than for the keyframe itself, which
is the start of the process and the picture's own file."""
import os
import subprocess
import tempfile
import time

# Seconds that must not be exceeded (case E16).
BOUND = 0.3
# Seconds recorded: more than the 250 frames that there are between two keyframes.
LENGTH = 10


def worst(path):
    """The time in seconds of the frame that the most frames must be decoded for."""
    rows = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of",
                           "csv=p=0", path], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    frames = sorted((float(row.split(",")[0]), "K" in row) for row in rows)
    since, found = 0, (0, 0.0)
    for moment, is_keyframe in frames:
        since = 0 if is_keyframe else since + 1
        found = max(found, (since, moment))
    return found[1]


def verdicts(program, make_display, make_workload, work, count, line):
    """Tells by `line` what was measured, the longest of `count`, and whether it holds."""
    for name in ("terminal", "motion"):
        folder = tempfile.mkdtemp(dir=work)
        display = make_display("1920x1080", folder)
        environment = os.environ | {"DISPLAY": display.name, "XDG_RUNTIME_DIR": folder, "RECORDER_ARCHIVE": f"{folder}/archive"}
        environment.pop("WAYLAND_DISPLAY", None)
        workload = make_workload(name, environment, folder)
        try:
            subprocess.run([f"{program}/recorder", "record", "--fps", "30", "--duration", str(LENGTH)], env=environment,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        finally:
            workload.close()
            display.close()
        files = [f"{root}/{file}" for root, _, names in os.walk(folder) for file in names if file.endswith(".mkv")]
        moment, took, whole = worst(files[0]), [], []
        for _ in range(count):
            near, far = (picture(program, at, environment, f"{folder}/f.png") for at in (0, moment))
            took.append(far - near)
            whole.append(far)
        line(f"{name} 1920x1080@30, seek to the farthest frame from a keyframe", f"{max(took) * 1000:.0f} ms, "
             f"{max(whole) * 1000:.0f} ms with the program's start and a PNG", f"at most {BOUND * 1000:.0f} ms",
             max(took) <= BOUND)


def picture(program, moment, environment, path):
    """The seconds that `recorder frame` takes."""
    began = time.monotonic()
    subprocess.run([f"{program}/recorder", "frame", "last", "--at", f"{moment:.3f}", "--force", "-o", path], env=environment,
                   stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - began
