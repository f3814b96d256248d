"""The recorders that are measured: how each is started and ended, and where its file is."""
import json
import os
import signal
import subprocess

import measures

# SimpleScreenRecorder's own numbers of x264's presets, in the order of its list.
PRESETS = ["ultrafast", "superfast", "veryfast", "faster", "fast", "medium"]


class Peer:
    """One recorder in one run. `settings`: size, fps, and codec, preset and crf (None: its own defaults), sound."""

    def __init__(self, settings, folder, environment):
        self.settings, self.folder, self.environment = settings, folder, environment

    def start(self):
        with open(f"{self.folder}/log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=log, stderr=log,
                                            env=self.environment | self.variables(), start_new_session=True)
        return self.process

    def variables(self):
        return {}

    def stop(self):
        self.process.send_signal(signal.SIGINT)

    def first_grab(self):
        """When the first frame was grabbed, in ns of CLOCK_MONOTONIC, where the recorder says so."""
        return None


class Recorder(Peer):
    name = "recorder"

    def __init__(self, settings, folder, environment):
        super().__init__(settings, folder, environment)
        self.program = settings["bin"] + "/recorder"

    def command(self):
        settings = self.settings
        command = [self.program, "record", "--fps", str(settings["fps"])]
        if settings["preset"]:
            command += ["--codec", "libx264", "--preset", settings["preset"], "--crf", str(settings["crf"])]
        return command + (["--app-audio"] if settings["sound"] else [])

    def variables(self):
        return {"RECORDER_ARCHIVE": f"{self.folder}/archive", "XDG_RUNTIME_DIR": self.folder,
                "XDG_CONFIG_HOME": f"{self.folder}/config"}

    def first_grab(self):
        with open(self.file().rpartition("/media/")[0] + "/manifest.json") as file:
            epoch = json.load(file)["clock"]["monotonic"]
        return epoch + int(measures.times(self.file())[0] * 1e9)

    def file(self):
        for root, _, files in os.walk(f"{self.folder}/archive"):
            for name in files:
                if name.endswith(".mkv"):
                    return f"{root}/{name}"
        return None


class FFmpeg(Peer):
    name = "ffmpeg"

    def command(self):
        settings = self.settings
        command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "x11grab", "-framerate", str(settings["fps"]),
                   "-video_size", settings["size"], "-i", self.environment["DISPLAY"]]
        if settings["sound"]:
            command += ["-f", "pulse", "-i", "desktop.monitor", "-c:a", "aac"]
        if settings["preset"]:
            command += ["-c:v", "libx264", "-preset", settings["preset"], "-crf", str(settings["crf"]),
                        "-pix_fmt", "yuv420p"]
        return command + [self.file()]

    def file(self):
        return f"{self.folder}/ffmpeg.mkv"


class SimpleScreenRecorder(Peer):
    name = "ssr"

    def command(self):
        settings = self.settings
        width, height = settings["size"].split("x")
        lines = ["[welcome]", "skip_page=true", "[input]", "video_area=screen", "video_area_screen=0", "video_x=0",
                 "video_y=0", f"video_w={width}", f"video_h={height}", f"video_frame_rate={settings['fps']}",
                 "video_scale=false", "video_record_cursor=true",
                 f"audio_enabled={'true' if settings['sound'] else 'false'}", "audio_backend=pulseaudio",
                 "audio_pulseaudio_source=desktop.monitor",
                 "[output]", f"file={self.file()}", "separate_files=false", "add_timestamp=false", "container=mkv",
                 "video_codec=h264", "audio_codec=aac", "video_allow_frame_skipping=true"]
        if settings["preset"]:
            lines += [f"video_h264_crf={settings['crf']}", f"video_h264_preset={PRESETS.index(settings['preset'])}"]
        path = f"{self.folder}/settings.conf"
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        return ["simplescreenrecorder", f"--settingsfile={path}", "--start-recording", "--start-hidden", "--no-systray"]

    def variables(self):
        return {"HOME": self.folder}

    def stop(self):
        self.process.stdin.write(b"record-save\nquit\n")
        self.process.stdin.flush()

    def file(self):
        return f"{self.folder}/ssr.mkv"


PEERS = [Recorder, FFmpeg, SimpleScreenRecorder]
