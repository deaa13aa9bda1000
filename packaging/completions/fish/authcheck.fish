function __authcheck_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __authcheck_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __authcheck_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __authcheck_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __authcheck_parse_tokens -S
    set -l unparsed_tokens (__authcheck_tokens -pc)
    switch $unparsed_tokens[1]
    case 'authcheck'
        __authcheck_parse_subcommand 2 'config=' 'D=+' 'server=' 'ca=' 'pin=' 'token-file=' 'list' 'code' 'remember' 'password-stdin' 'certificate=' 'service=' 'why-not' 'trace' 'answers=' 'json' 'quiet' 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'help'
            __authcheck_parse_subcommand -r 1 'version'
        end
    end
end

function __authcheck_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __authcheck_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __authcheck_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __authcheck_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__authcheck_tokens -p)
    if test -z "$(__authcheck_tokens -t)"
        set -l index (count (__authcheck_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'authcheck' -f
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" config' -l 'config' -d 'The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.' -rF
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck"' -s 'D' -d 'The value of ${name} in the configuration.' -rfka ''
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" server' -l 'server' -d 'Ask a server with a realm API, instead of the realms of a configuration.' -rfka ''
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" ca' -l 'ca' -d 'The authorities that are trusted to name the server, in PEM.' -rF
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" pin' -l 'pin' -d 'The SHA-256 of the server\'s public key, as sha256//BASE64 or in hexadecimal digits.' -rfka ''
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" token-file' -l 'token-file' -d 'The file with the token of the realm API.' -rF
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" list' -l 'list' -d 'List the realms of the server.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" code' -l 'code' -d 'Ask for a one-time code after the password.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" remember' -l 'remember' -d 'Remember the server, its key or authorities, the user and the token file, but no password.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" password-stdin' -l 'password-stdin' -d 'Read the password from the first line of standard input, and a one-time code from the second line.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" certificate' -l 'certificate' -d 'A client certificate in PEM, and the intermediates after it; no key is needed.' -rF
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" service' -l 'service' -d 'The name of the service, for the modules.' -rfka ''
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" why-not' -l 'why-not' -d 'Print which module has decided a refused login, and which answers would have granted it.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" trace' -l 'trace' -d 'Print every call of a module and its outcome.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" answers' -l 'answers' -d 'Take these answers instead of calling the modules.' -rfka ''
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" json' -l 'json' -d 'Print the result as JSON.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" quiet' -l 'quiet' -d 'Print nothing; the exit status is the result.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" version' -l 'version' -d 'Show the version.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_positional "authcheck" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'authcheck' -n '__authcheck_should_offer_completions_for_flags_or_options "authcheck help" version' -l 'version' -d 'Show the version.'
