"""Shows the figures of several runs of the bench side by side: each run's median, and how far they lie apart.

    scripts/bench spread FILE FILE...
"""
import json
import sys

from tables import COLUMNS, median


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = []
    for path in sys.argv[1:]:
        with open(path) as file:
            runs.append(json.load(file)["results"])
    for results in zip(*runs):
        first = results[0]
        print(f"\n{first['workload']}, {first['size']} at {first['fps']} fps, table \"{first['table']}\"")
        for peer in first["runs"]:
            for key, title, form in COLUMNS:
                values = [median(result["runs"][peer], key) for result in results]
                if None in values:
                    continue
                shown = [form.format(value / 1000 if key == "bytes" else value) for value in values]
                middle = sorted(values)[len(values) // 2]
                spread = (max(values) - min(values)) / middle if middle else 0
                print(f"{peer:10} {title:10} {'  '.join(shown):40} spread {spread:.0%}")


if __name__ == "__main__":
    main()
