# bash completion for recorder; written by "recorder generate completions", change the command table instead.

_recorder_sessions() {
  echo last; recorder list --json --limit 100 2>/dev/null | sed -n 's/.*"id":"\([^"]*\)".*/\1/p'
}

_recorder() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  # bash splits --option=value into three words.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  local path=recorder word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      "recorder record" | "recorder start" | "recorder stop" | "recorder status" | "recorder mark" | "recorder pause" | "recorder resume" | "recorder mute" | "recorder unmute" | "recorder gain" | "recorder split" | "recorder save" | "recorder publish" | "recorder logs" | "recorder list" | "recorder show" | "recorder search" | "recorder replay" | "recorder frame" | "recorder export" | "recorder tag" | "recorder note" | "recorder verify" | "recorder recover" | "recorder protect" | "recorder unprotect" | "recorder redact" | "recorder delete" | "recorder gc" | "recorder index" | "recorder index rebuild" | "recorder sources" | "recorder doctor" | "recorder config" | "recorder config get" | "recorder config set" | "recorder config unset" | "recorder config list" | "recorder config path" | "recorder config check") path="$path $word" ;;
    esac
  done
  COMPREPLY=()
  local words=""
  case "$path $previous" in
    "recorder record --display") :; return ;;
    "recorder record --fps") :; return ;;
    "recorder record --size") :; return ;;
    "recorder record --on-resize") mapfile -t COMPREPLY < <(compgen -W "fit crop segment" -- "$current"); return ;;
    "recorder record --on-close") mapfile -t COMPREPLY < <(compgen -W "end wait" -- "$current"); return ;;
    "recorder record --exclude") :; return ;;
    "recorder record --microphone-channel") :; return ;;
    "recorder record --stems") mapfile -t COMPREPLY < <(compgen -W "none all" -- "$current"); return ;;
    "recorder record --gain") :; return ;;
    "recorder record --audio-codec") mapfile -t COMPREPLY < <(compgen -W "aac opus flac pcm" -- "$current"); return ;;
    "recorder record --hold") :; return ;;
    "recorder record --memory") :; return ;;
    "recorder record --duration") :; return ;;
    "recorder record --until") :; return ;;
    "recorder record --max-size") :; return ;;
    "recorder record --stop-when-idle") :; return ;;
    "recorder record --delay") :; return ;;
    "recorder record --name") :; return ;;
    "recorder record --on") mapfile -t COMPREPLY < <(compgen -W "started stopped saved degraded gap disk" -- "$current"); return ;;
    "recorder record --title") :; return ;;
    "recorder record --tag") :; return ;;
    "recorder record --quality") mapfile -t COMPREPLY < <(compgen -W "fast balanced small lossless" -- "$current"); return ;;
    "recorder record --codec") :; return ;;
    "recorder record --preset") :; return ;;
    "recorder record --crf") :; return ;;
    "recorder record --pixel-format") mapfile -t COMPREPLY < <(compgen -W "yuv420p yuv444p bgr0" -- "$current"); return ;;
    "recorder record --sync") :; return ;;
    "recorder record --warn-free") :; return ;;
    "recorder record --min-free") :; return ;;
    "recorder record --disk-timeout") :; return ;;
    "recorder record --keep") :; return ;;
    "recorder record --timeout") :; return ;;
    "recorder start --display") :; return ;;
    "recorder start --fps") :; return ;;
    "recorder start --size") :; return ;;
    "recorder start --on-resize") mapfile -t COMPREPLY < <(compgen -W "fit crop segment" -- "$current"); return ;;
    "recorder start --on-close") mapfile -t COMPREPLY < <(compgen -W "end wait" -- "$current"); return ;;
    "recorder start --exclude") :; return ;;
    "recorder start --microphone-channel") :; return ;;
    "recorder start --stems") mapfile -t COMPREPLY < <(compgen -W "none all" -- "$current"); return ;;
    "recorder start --gain") :; return ;;
    "recorder start --audio-codec") mapfile -t COMPREPLY < <(compgen -W "aac opus flac pcm" -- "$current"); return ;;
    "recorder start --hold") :; return ;;
    "recorder start --memory") :; return ;;
    "recorder start --duration") :; return ;;
    "recorder start --until") :; return ;;
    "recorder start --max-size") :; return ;;
    "recorder start --stop-when-idle") :; return ;;
    "recorder start --delay") :; return ;;
    "recorder start --name") :; return ;;
    "recorder start --on") mapfile -t COMPREPLY < <(compgen -W "started stopped saved degraded gap disk" -- "$current"); return ;;
    "recorder start --title") :; return ;;
    "recorder start --tag") :; return ;;
    "recorder start --quality") mapfile -t COMPREPLY < <(compgen -W "fast balanced small lossless" -- "$current"); return ;;
    "recorder start --codec") :; return ;;
    "recorder start --preset") :; return ;;
    "recorder start --crf") :; return ;;
    "recorder start --pixel-format") mapfile -t COMPREPLY < <(compgen -W "yuv420p yuv444p bgr0" -- "$current"); return ;;
    "recorder start --sync") :; return ;;
    "recorder start --warn-free") :; return ;;
    "recorder start --min-free") :; return ;;
    "recorder start --disk-timeout") :; return ;;
    "recorder stop --name") :; return ;;
    "recorder status --name") :; return ;;
    "recorder mark --name") :; return ;;
    "recorder pause --name") :; return ;;
    "recorder resume --name") :; return ;;
    "recorder mute --name") :; return ;;
    "recorder unmute --name") :; return ;;
    "recorder gain --name") :; return ;;
    "recorder split --name") :; return ;;
    "recorder save --last") :; return ;;
    "recorder save --title") :; return ;;
    "recorder save --tag") :; return ;;
    "recorder save --name") :; return ;;
    "recorder publish --last") :; return ;;
    "recorder publish --title") :; return ;;
    "recorder publish --tag") :; return ;;
    "recorder publish --name") :; return ;;
    "recorder logs --category") mapfile -t COMPREPLY < <(compgen -W "capture audio encode archive control" -- "$current"); return ;;
    "recorder logs --level") mapfile -t COMPREPLY < <(compgen -W "debug info warning error" -- "$current"); return ;;
    "recorder list --limit") :; return ;;
    "recorder list --tag") :; return ;;
    "recorder search --since") :; return ;;
    "recorder search --until") :; return ;;
    "recorder search --tag") :; return ;;
    "recorder search --window") :; return ;;
    "recorder search --limit") :; return ;;
    "recorder replay --at") :; return ;;
    "recorder replay --speed") :; return ;;
    "recorder replay --volume") :; return ;;
    "recorder replay --track") :; return ;;
    "recorder frame --at") :; return ;;
    "recorder frame -o" | "recorder frame --output") mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2>/dev/null; return ;;
    "recorder export --from") :; return ;;
    "recorder export --to") :; return ;;
    "recorder export -o" | "recorder export --output") mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2>/dev/null; return ;;
    "recorder note --at") :; return ;;
    "recorder verify --head") :; return ;;
    "recorder protect --reason") :; return ;;
    "recorder redact --from") :; return ;;
    "recorder redact --to") :; return ;;
    "recorder redact --reason") :; return ;;
    "recorder delete --reason") :; return ;;
    "recorder gc --budget") :; return ;;
    "recorder gc --keep") :; return ;;
    "recorder sources --display") :; return ;;
    "recorder doctor --display") :; return ;;
  esac
  case "$path" in
    "recorder")
      words="record start stop status mark pause resume mute unmute gain split save publish logs list show search replay frame export tag note verify recover protect unprotect redact delete gc index sources doctor config -h --help --version"
      ;;
    "recorder record")
      words="--display --no-display --fps --size --no-size --upscale --no-upscale --cursor --no-cursor --decorations --no-decorations --popups --no-popups --select --on-resize --on-close --exclude --no-exclude --wait --no-wait --app-audio --no-app-audio --microphone --no-microphone --microphone-channel --no-microphone-channel --stems --gain --no-gain --audio-codec --hold --memory --no-memory --duration --no-duration --until --max-size --no-max-size --stop-when-idle --no-stop-when-idle --delay --name --on --no-on --title --tag --no-tag --quality --codec --preset --no-preset --crf --no-crf --pixel-format --lossless --no-lossless --strict --no-strict --sync --warn-free --min-free --disk-timeout --keep --timeout --log --virtual-display -h --help"
      ;;
    "recorder start")
      words="--display --no-display --fps --size --no-size --upscale --no-upscale --cursor --no-cursor --decorations --no-decorations --popups --no-popups --select --on-resize --on-close --exclude --no-exclude --wait --no-wait --app-audio --no-app-audio --microphone --no-microphone --microphone-channel --no-microphone-channel --stems --gain --no-gain --audio-codec --hold --memory --no-memory --duration --no-duration --until --max-size --no-max-size --stop-when-idle --no-stop-when-idle --delay --name --on --no-on --title --tag --no-tag --quality --codec --preset --no-preset --crf --no-crf --pixel-format --lossless --no-lossless --strict --no-strict --sync --warn-free --min-free --disk-timeout -h --help"
      ;;
    "recorder stop")
      words="--name --save -h --help"
      ;;
    "recorder status")
      words="--name --watch --json -h --help"
      ;;
    "recorder mark")
      words="--name -h --help"
      ;;
    "recorder pause")
      words="--name -h --help"
      ;;
    "recorder resume")
      words="--name -h --help"
      ;;
    "recorder mute")
      words="--name -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "mic app" -- "$current"); return; }
      ;;
    "recorder unmute")
      words="--name -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "mic app" -- "$current"); return; }
      ;;
    "recorder gain")
      words="--name -h --help"
      ;;
    "recorder split")
      words="--name -h --help"
      ;;
    "recorder save")
      words="--last --title --tag --name -h --help"
      ;;
    "recorder publish")
      words="--last --title --tag --name -h --help"
      ;;
    "recorder logs")
      words="--category --level --follow --json -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder list")
      words="--limit --tag --json -h --help"
      ;;
    "recorder show")
      words="--json -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder search")
      words="--since --until --tag --window --limit --json -h --help"
      ;;
    "recorder replay")
      words="--at --speed --volume --track --paused --full-screen -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder frame")
      words="--at -o --output --force -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder export")
      words="--from --to --exact -o --output --force -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder tag")
      words="--remove -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder note")
      words="--at -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder verify")
      words="--all --deep --head --json -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder recover")
      words="--json -h --help"
      ;;
    "recorder protect")
      words="--reason -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder unprotect")
      words="-h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder redact")
      words="--from --to --reason -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder delete")
      words="--reason -h --help"
      [[ $current == -* ]] || { mapfile -t COMPREPLY < <(compgen -W "$(_recorder_sessions)" -- "$current"); return; }
      ;;
    "recorder gc")
      words="--budget --no-budget --keep --no-keep --dry-run --json -h --help"
      ;;
    "recorder index")
      words="rebuild -h --help"
      ;;
    "recorder index rebuild")
      words="-h --help"
      ;;
    "recorder sources")
      words="--display --json -h --help"
      ;;
    "recorder doctor")
      words="--display --json -h --help"
      ;;
    "recorder config")
      words="get set unset list path check -h --help"
      ;;
    "recorder config get")
      words="-h --help"
      ;;
    "recorder config set")
      words="--add -h --help"
      ;;
    "recorder config unset")
      words="-h --help"
      ;;
    "recorder config list")
      words="--json -h --help"
      ;;
    "recorder config path")
      words="-h --help"
      ;;
    "recorder config check")
      words="--json -h --help"
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _recorder recorder
