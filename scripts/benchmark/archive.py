"""Makes an archive as a year of use leaves it and measures what finds things in it: how many events a second come into the
index, how long `search` and `list` take from process start to the end, and how soon a search ends that is interrupted.

    scripts/bench index [--sessions N] [--events N] [--runs N] [--folder FOLDER] [--output FILE]
"""
import argparse
import datetime
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from bench import BIN, ROOT
from workloads import WORDS

LETTERS = "abcdefghijkmnpqrstuvwxyz"
# What the end of a session's id is made of (schemas/manifest.schema.json).
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
START = datetime.datetime(2026, 1, 1, 8, tzinfo=datetime.timezone.utc)
CLASSES = ["Firefox", "XTerm", "Thunderbird", "Code", "LibreOffice", "Evince"]


def vocabulary(generator, count):
    """Words as languages have them: few that are everywhere, many that are rare (Zipf)."""
    made = {"".join(generator.choice(LETTERS) for _ in range(generator.randint(4, 9))) for _ in range(count)}
    return WORDS + sorted(made)


def sentence(generator, words, weights):
    return " ".join(generator.choices(words, cum_weights=weights, k=generator.randint(2, 6)))


def manifest(name, began, seconds):
    return {
        "format": 1, "id": name, "generator": "recorder bench", "state": "finished",
        "clock": {"monotonic": 0, "utc": began.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "utcOffset": 3600},
        "host": {"name": "host", "display": ":0"}, "end": {"reason": "stopped", "time": seconds * 10**9},
        "options": {"audio": {"bitRate": 160000}, "source": "display", "tags": [], "video": {
            "codec": "libx264", "constantRateFactor": 23, "decorations": False, "framesPerSecond": 30, "lossless": False,
            "pixelFormat": "yuv420p", "preset": "superfast", "showsCursor": True}},
        "segments": [], "source": {"specification": "display", "rect": {"x": 0, "y": 0, "width": 1920, "height": 1080}},
        "statistics": {"bytes": 0, "droppedFrames": 0, "frames": 1}, "tracks": []}


def make(folder, sessions, events, generator):
    """Sessions of an hour each, most of them with windows that come to the front, some with markers and notes."""
    words = vocabulary(generator, 50_000)
    weights, total = [], 0.0
    for rank in range(1, len(words) + 1):
        total += 1 / rank
        weights.append(total)
    os.makedirs(f"{folder}/pending")
    for number in range(sessions):
        began = START + datetime.timedelta(minutes=47 * number)
        name = began.strftime("%Y%m%dT%H%M%SZ-") + "".join(generator.choice(DIGITS) for _ in range(4))
        path = f"{folder}/sessions/{began:%Y/%m/%d}/{name}"
        os.makedirs(f"{path}/media")
        with open(f"{path}/manifest.json", "w") as file:
            json.dump(manifest(name, began, 3600), file)
        count = events // sessions + (number < events % sessions)
        with open(f"{path}/events.ndjson", "w") as file:
            for place in range(count):
                moment = {"time": place * 3600 * 10**9 // count}
                if place % 20 == 19:
                    moment |= {"kind": "marker", "text": sentence(generator, words, weights)}
                else:
                    kind = generator.choice(CLASSES)
                    moment |= {"kind": "title" if place % 3 else "focus", "window": {
                        "id": 100 + CLASSES.index(kind), "title": sentence(generator, words, weights), "class": kind,
                        "instance": kind.lower(), "rect": {"x": 0, "y": 0, "width": 800, "height": 600}}}
                file.write(json.dumps(moment) + "\n")
        if number % 500 == 0:
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return words


def run(arguments, environment):
    """Milliseconds from process start to the end, and what was printed."""
    began = time.monotonic()
    result = subprocess.run([f"{BIN}/recorder", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment, text=True)
    if result.returncode != 0:
        sys.exit(f"bench: recorder {' '.join(arguments)} ended with {result.returncode}: {result.stderr}")
    return (time.monotonic() - began) * 1000, result.stdout


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def interrupted(environment):
    """Milliseconds from INT to the end of a search for the words that are everywhere."""
    process = subprocess.Popen([f"{BIN}/recorder", "search", "--limit", "1000000", "a"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=environment)
    time.sleep(0.05)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.wait()
    return (time.monotonic() - began) * 1000, process.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--folder", help="keeps the archive here, and takes it from here the next time")
    parser.add_argument("--output", help="where the raw figures go, as JSON")
    options = parser.parse_args()
    generator = random.Random(5)
    with tempfile.TemporaryDirectory(prefix="recorder-archive-") as work:
        folder = options.folder or f"{work}/archive"
        environment = os.environ | {"RECORDER_ARCHIVE": folder, "XDG_RUNTIME_DIR": work}
        if os.path.exists(folder):
            words = vocabulary(generator, 50_000)
        else:
            words = make(folder, options.sessions, options.events, generator)
        result = {"date": datetime.date.today().isoformat(), "sessions": options.sessions, "events": options.events}
        milliseconds, _ = run(["index", "rebuild"], environment)
        _, listed = run(["list", "--json", "--limit", str(2 * options.sessions)], environment)
        if len(listed.splitlines()) != options.sessions:
            sys.exit(f"bench: {len(listed.splitlines())} of {options.sessions} sessions are in the index.")
        result["events_a_second"] = options.events / (milliseconds / 1000)
        print(f"index: {result['events_a_second']:.0f} events a second in")
        # What people ask for: words from everywhere in the vocabulary, one or two, whole or by their beginning.
        asked = []
        for number in range(options.runs):
            count = 1 + number % 2
            chosen = [words[min(len(words) - 1, int(10 ** generator.uniform(0, 4.6)))] for _ in range(count)]
            asked.append(chosen if number % 3 else chosen[:-1] + [chosen[-1][:3]])
        searches = [run(["search", *one], environment)[0] for one in asked]
        lists = [run(["list", "--limit", "20"], environment)[0] for _ in range(20)]
        result |= {"search_ms": searches, "list_ms": lists, "interrupt": [interrupted(environment) for _ in range(5)]}
        print(f"search: median {statistics.median(searches):.0f} ms, p95 {percentile(searches, 0.95):.0f} ms, "
              f"most {max(searches):.0f} ms ({' '.join(asked[searches.index(max(searches))])})")
        print(f"list of 20: median {statistics.median(lists):.1f} ms")
        print("INT to end: " + ", ".join(f"{ms:.0f} ms" for ms, _ in result["interrupt"]))
    output = options.output or f"{ROOT}/bench-results/index-{datetime.datetime.now():%Y%m%dT%H%M%S}.json"
    os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
    with open(output, "w") as file:
        json.dump(result, file, indent=1)
    print(f"Raw figures: {output}")


if __name__ == "__main__":
    main()
