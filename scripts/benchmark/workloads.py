"""What is drawn on the screen while the recorders are measured. Each workload is a client of its own process; those that
change carry the frame counter that test-pattern draws (the left top corner), so that lost frames can be counted.

    python3 workloads.py NAME FPS LAYOUT                 LAYOUT: `test-pattern layout`, the counter's place as JSON
    python3 workloads.py NAME FPS LAYOUT FOLDER N...     draws up to each frame N and writes its pixels to FOLDER/N.bgrx

What a frame looks like depends on its number alone, so that the second form gives what the first one drew.
"""
import json
import random
import sys
import time

from Xlib import X, display
from Xlib.protocol import request

# Words for terminal and office: common English, so that a text recogniser reads what a person would.
WORDS = ("account address budget button change client column commit council deliver engine export figure folder "
         "header invoice kernel ledger margin message module number office order packet panel parcel payment planet "
         "process project quarter record report review sample schedule section server session signal source status "
         "storage summary system table target ticket total update value vector version window worker").split()
# A core font of xfonts-base, 10 pixels wide and 20 high.
FONT = "10x20"
ADVANCE, LINE = 10, 20
# Keys a second of somebody who types fast: 120 words of five letters a minute.
STROKES = 10


class Screen:
    """A window over the whole screen, drawn through a pixmap so that every frame appears by one request."""

    def __init__(self, layout):
        self.display = display.Display()
        self.screen = self.display.screen()
        self.width, self.height = self.screen.width_in_pixels, self.screen.height_in_pixels
        self.layout = layout
        root = self.screen.root
        self.window = root.create_window(0, 0, self.width, self.height, 0, self.screen.root_depth,
                                         override_redirect=True, background_pixel=0)
        self.canvas = root.create_pixmap(self.width, self.height, self.screen.root_depth)
        self.gc = self.canvas.create_gc(font=self.display.open_font(FONT), graphics_exposures=False)
        self.dirty = []
        self.fill(0xF4F4F0, 0, 0, self.width, self.height)
        self.window.map()
        self.show()

    def fill(self, colour, x, y, width, height):
        self.gc.change(foreground=colour)
        self.canvas.fill_rectangle(self.gc, x, y, width, height)
        self.dirty.append((x, y, width, height))

    def text(self, x, y, words, colour=0x101010, background=0xF4F4F0):
        self.gc.change(foreground=colour, background=background)
        self.canvas.image_text(self.gc, x, y + LINE - 5, words.encode("latin-1"))
        self.dirty.append((x, y, ADVANCE * len(words), LINE))

    def move(self, source_x, source_y, width, height, x, y):
        self.canvas.copy_area(self.gc, self.canvas, source_x, source_y, width, height, x, y)
        self.dirty.append((x, y, width, height))

    def paste(self, pixmap, source_x, source_y, width, height, x, y):
        self.canvas.copy_area(self.gc, pixmap, source_x, source_y, width, height, x, y)
        self.dirty.append((x, y, width, height))

    def counter(self, number):
        cell, margin, bits = self.layout["cell"], self.layout["margin"], self.layout["bits"]
        self.gc.change(foreground=0)
        self.canvas.fill_rectangle(self.gc, 0, 0, bits * cell + 2 * margin, 2 * cell + 2 * margin)
        self.gc.change(foreground=0xFFFFFF)
        cells = [(margin + bit * cell, margin + row * cell, cell, cell)
                 for row in (0, 1) for bit in range(bits) if ((number >> bit) & 1 == 1) == (row == 0)]
        self.canvas.poly_fill_rectangle(self.gc, cells)
        self.dirty.append((0, 0, bits * cell + 2 * margin, 2 * cell + 2 * margin))

    def show(self):
        for x, y, width, height in self.dirty:
            self.window.copy_area(self.gc, self.canvas, x, y, width, height, x, y)
        self.dirty = []
        # A round trip: what was asked for is drawn.
        self.display.sync()

    def picture(self, width, height):
        """A pixmap like a photograph: soft gradients with grain, the same at every run."""
        pixmap = self.screen.root.create_pixmap(width, height, self.screen.root_depth)
        noise = random.Random(7)
        rows = 16
        for top in range(0, height, rows):
            data = bytearray()
            for y in range(top, min(height, top + rows)):
                for x in range(width):
                    grain = noise.getrandbits(4)
                    data += bytes(((x * 255 // width + grain) & 255, (y * 255 // height + grain) & 255,
                                   ((x + y) // 8 + grain) & 255, 0))
            request.PutImage(display=self.display.display, onerror=None, format=X.ZPixmap, drawable=pixmap.id,
                             gc=self.gc.id, width=width, height=min(rows, height - top), dst_x=0, dst_y=top,
                             left_pad=0, depth=self.screen.root_depth, data=bytes(data))
        self.display.sync()
        return pixmap


def sentence(generator, columns):
    words = ""
    while len(words) < columns:
        words += generator.choice(WORDS) + " "
    return words[:columns]


def static(screen, generator):
    """A full page of text, drawn once."""
    for row in range(3, screen.height // LINE):
        screen.text(20, row * LINE, sentence(generator, screen.width // ADVANCE - 4))
    screen.show()
    return None


def terminal(screen, generator):
    """Output scrolls by a line a frame."""
    columns, top = screen.width // ADVANCE, 4 * LINE

    def draw(number):
        screen.move(0, top + LINE, screen.width, screen.height - top - LINE, 0, top)
        screen.text(0, screen.height - LINE, f"{number:6d} {sentence(generator, columns - 7)}",
                    0xD0D0D0, 0x101418)
        screen.counter(number)

    screen.fill(0x101418, 0, 0, screen.width, screen.height)
    screen.show()
    return draw


def office(screen, generator):
    """A person types into a document, and moves a window for a second out of four. What is not typed or moved is not drawn
    again: the counter comes with what is."""
    static(screen, generator)
    size, fps = (480, 320), screen.layout["fps"]
    under = screen.screen.root.create_pixmap(size[0], size[1], screen.screen.root_depth)
    place = [700, 300]

    def window():
        x, y = place
        under.copy_area(screen.gc, screen.canvas, x, y, size[0], size[1], 0, 0)
        screen.fill(0x3060A0, x, y, size[0], 24)
        screen.fill(0xFFFFFF, x, y + 24, size[0], size[1] - 24)
        screen.text(x + 10, y + 40, "Total of the quarter", background=0xFFFFFF)

    def draw(number):
        second, frame = divmod(number, fps)
        if second % 4 == 3:
            screen.paste(under, 0, 0, size[0], size[1], *place)
            place[0] = 700 + (frame * 300 // fps)
            window()
        elif frame % (fps // STROKES) == 0:
            column = (second * STROKES + frame * STROKES // fps) % (screen.width // ADVANCE // 3)
            screen.text(40 + column * ADVANCE, screen.height - 3 * LINE, generator.choice("etaoinshrdlu"))
        else:
            return
        screen.counter(number)

    window()
    screen.show()
    return draw


def motion(screen, generator):
    """The whole screen shows a picture that pans."""
    picture = screen.picture(screen.width + 256, screen.height)

    def draw(number):
        offset = abs((number * 4) % 512 - 256)
        screen.paste(picture, offset, 0, screen.width, screen.height, 0, 0)
        screen.counter(number)

    return draw


def corner(screen, generator):
    """A film in a corner of a page of text."""
    static(screen, generator)
    width, height = screen.width // 3, screen.height // 3
    picture = screen.picture(width + 256, height)

    def draw(number):
        offset = abs((number * 4) % 512 - 256)
        screen.paste(picture, offset, 0, width, height, screen.width - width - 20, 60)
        screen.counter(number)

    return draw


def pointer(screen, generator):
    """Nothing changes but the pointer's place; the counter is drawn once."""
    static(screen, generator)
    from Xlib.ext import xtest

    def draw(number):
        xtest.fake_input(screen.display, X.MotionNotify, detail=True, x=3 if number // 60 % 2 == 0 else -3, y=1 if number % 2 else -1)

    return draw


WORKLOADS = {work.__name__: work for work in (static, office, terminal, motion, corner, pointer)}


def reference(screen, draw, folder, numbers):
    number = 0
    for wanted in sorted(numbers):
        while number < wanted:
            number += 1
            draw(number)
        screen.show()
        with open(f"{folder}/{wanted}.bgrx", "wb") as file:
            for top in range(0, screen.height, 64):
                rows = min(64, screen.height - top)
                file.write(screen.window.get_image(0, top, screen.width, rows, X.ZPixmap, 0xFFFFFFFF).data)


def main():
    name, fps, layout = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    layout["fps"] = fps
    screen = Screen(layout)
    draw = WORKLOADS[name](screen, random.Random(11))
    screen.counter(0)
    screen.show()
    print("ready", flush=True)
    if len(sys.argv) > 4:
        return reference(screen, draw, sys.argv[4], [int(word) for word in sys.argv[5:]])
    if draw is None:
        while True:
            screen.display.next_event()
    number, due = 0, time.monotonic_ns()
    while True:
        number += 1
        due += 1_000_000_000 // fps
        wait = due - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        else:
            # Frames that could not be drawn in time are left out, not hurried after.
            due = time.monotonic_ns()
        drawn = time.monotonic_ns()
        draw(number)
        is_drawn = bool(screen.dirty)
        screen.show()
        if is_drawn:
            print(number, drawn, flush=True)


if __name__ == "__main__":
    main()
