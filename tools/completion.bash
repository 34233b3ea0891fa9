# SPDX-License-Identifier: MIT
#
# bash completion for pxtrace.  It asks the program: commands from `pxtrace --help`, options from
# `pxtrace COMMAND --help`, and what an option wants from the word behind it there (a|b|c: one of these;
# DIR, FOLDER: a folder; WHEN: auto, always, never; FILE, LOG, OUT, PAGE: a file; anything else is the
# user's own).

# Lines of a help text that describe options, as "-x=WORD" and "--name=WORD", or without =WORD.
_pxtrace_options()
{
	# A command may be two words: export csv.
	"$1" $2 --help 2>/dev/null | while IFS= read -r line; do
		[[ $line =~ ^\ +(-[[:alnum:]],\ )?(--[[:alnum:]]) ]] || continue
		local word letter= name= value=
		# The description begins behind two spaces, or is no word in capitals.
		line=${line#"${line%%[! ]*}"}
		for word in ${line%%  *}; do
			word=${word%[,;]}
			case $word in
			--*) [[ -n $name ]] && printf '%s\n' "$name"; name=$word ;;
			-?) letter=$word ;;
			*) [[ -n $name && -z $value && $word =~ ^([A-Z][A-Z,|]*|[a-z]+([|][a-z0-9-]+)+)$ ]] && value==$word ;;
			esac
		done
		[[ -n $letter ]] && printf '%s\n' "$letter$value"
		[[ -n $name ]] && printf '%s\n' "$name$value"
	done
}

# The words that $1 ... --help lists below the line "commands:" or "formats:".
_pxtrace_commands()
{
	"$@" --help 2>/dev/null | while read -r name rest; do
		[[ $name == commands: || $name == formats: ]] && { seen=1; continue; }
		[[ -n ${seen-} ]] || continue
		[[ -z $name ]] && break
		printf '%s\n' "$name"
	done
}

# Names of the user's streams.
_pxtrace_streams()
{
	local socket
	for socket in ${XDG_RUNTIME_DIR:+"$XDG_RUNTIME_DIR"/pxtrace/*} /dev/shm/pxtrace-"$EUID"/*; do
		[[ -S $socket ]] && printf '%s\n' "${socket##*/}"
	done
}

# What stands behind the option $3 of command $2; fails where it takes nothing.
_pxtrace_value()
{
	local option
	for option in $(_pxtrace_options "$1" "$2"); do
		[[ $option == "$3"=* ]] && { printf '%s\n' "${option#*=}"; return 0; }
	done
	return 1
}

_pxtrace()
{
	local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	local command=${COMP_WORDS[1]-} wanted=
	COMPREPLY=()
	if ((COMP_CWORD == 1)) || { ((COMP_CWORD == 2)) && [[ $command == help ]]; }; then
		local further="help --help --version"
		((COMP_CWORD == 1)) || further=
		mapfile -t COMPREPLY < <(compgen -W "$(_pxtrace_commands "$program") $further" -- "$word")
		return
	fi
	if [[ $command == export ]]; then
		if ((COMP_CWORD == 2)); then
			mapfile -t COMPREPLY < <(compgen -W "$(_pxtrace_commands "$program" export) --help" -- "$word")
			return
		fi
		command="export ${COMP_WORDS[2]}"
	fi
	# bash makes words of their own of = in --color=auto.
	if [[ $word == "=" ]]; then
		word=
	elif [[ $before == "=" ]] && ((COMP_CWORD > 2)); then
		before=${COMP_WORDS[COMP_CWORD-2]}
	fi
	[[ $before == -* ]] && wanted=$(_pxtrace_value "$program" "$command" "$before")
	case $wanted in
	"") ;;
	[a-z]*"|"*) mapfile -t COMPREPLY < <(compgen -W "${wanted//|/ }" -- "$word"); return ;;
	WHEN) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$word"); return ;;
	DIR|FOLDER) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
	FILE|LOG|OUT|PAGE) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
	*) return ;;
	esac
	if [[ $word == -* ]]; then
		local option
		for option in $(_pxtrace_options "$program" "$command"); do
			[[ ${option%%=*} == "$word"* ]] && COMPREPLY+=("${option%%=*}")
		done
		return
	fi
	if [[ $command == filter ]] && ((COMP_CWORD == 3)); then
		mapfile -t COMPREPLY < <(compgen -W "add sub set none list" -- "$word")
		return
	fi
	if [[ $command =~ ^(ps|top|attach|snapshot|start|stop|clear|flush|filter)$ && $word != */* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_pxtrace_streams)" -- "$word")
		return
	fi
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$word")
}

complete -F _pxtrace pxtrace
