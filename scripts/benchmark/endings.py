"""How long a recording takes to end when its X server is killed, from outside: from the kill to the exit, on a screen that
changes and on a still one. What it has recorded must be finished by then."""
import os
import subprocess
import tempfile
import time

# Seconds from the kill to the exit that must not be exceeded.
BOUND = 2.0


def killed_display(program, make_display, work, busy):
    """The seconds of one recording, its exit code, and whether its file is closed."""
    folder = tempfile.mkdtemp(dir=work)
    display = make_display("1920x1080", folder)
    environment = os.environ | {"DISPLAY": display.name, "XDG_RUNTIME_DIR": folder, "RECORDER_ARCHIVE": f"{folder}/archive"}
    environment.pop("WAYLAND_DISPLAY", None)
    clock = subprocess.Popen([f"{program}/test-pattern", "counter", "--fps", "30" if busy else "0"],
                             stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    recorder = subprocess.Popen([f"{program}/recorder", "record"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                env=environment)
    try:
        session = recorder.stdout.readline().decode().strip()
        time.sleep(2)
        killed = time.monotonic()
        display.server.kill()
        code = recorder.wait(60)
        took = time.monotonic() - killed
    finally:
        recorder.kill()
        recorder.wait()
        clock.kill()
        clock.wait()
        display.close()
    shown = subprocess.run([f"{program}/recorder", "verify", session, "--deep"], env=environment,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return took, code, shown.returncode == 0


def verdicts(program, make_display, work, count, line):
    """Tells by `line` what was measured, the longest of `count`, and whether it holds."""
    for busy in (True, False):
        runs = [killed_display(program, make_display, work, busy) for _ in range(count)]
        took, codes = max(run[0] for run in runs), sorted({run[1] for run in runs})
        whole = all(run[2] for run in runs)
        line(f"X server killed on a {'busy' if busy else 'still'} screen, kill to exit", f"{took * 1000:.0f} ms, exit {codes}, "
             f"{'files whole' if whole else 'A FILE IS NOT WHOLE'}", f"at most {BOUND * 1000:.0f} ms, exit [72]",
             took <= BOUND and codes == [72] and whole)
